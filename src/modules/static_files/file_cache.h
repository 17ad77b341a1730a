#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/list.h"
#include "http/etag.h"
#include "http/negotiation.h"
#include "http/prepared_response.h"
#include "modules/static_files/file_version.h"
#include "net/open_file.h"

namespace roost::modules::static_files {

class Watch;

// What a loop knows of one path below a root: a file with its answer or its descriptor, a folder, or that
// there is nothing. Owned by a FileCache, or by whoever is answering with it when it could not be kept.
struct RecentHook : ListHook {};
struct GroupHook : ListHook {};
struct FolderHook : ListHook {};
struct FileEntry : RecentHook, GroupHook, FolderHook {
  enum class Kind : uint8_t {
    kBody,     // small: `whole` is the answer
    kFile,     // large: sent from `file`
    kFolder,   // named without its slash: redirected
    kListing,  // a folder without an index file, whose content may be shown
    kRefused,  // `status`
  };

  Kind kind = Kind::kRefused;
  int status = 404;
  uint32_t root_id = 0;
  std::string path;       // below the root, begins with '/'
  std::string file_path;  // the file's own, where an index file answers for `path`; for warming up
  uint64_t size = 0;
  int64_t last_modified_s = 0;
  FileVersion version;
  http::FileEtag etag;
  std::string content_type;
  http::PreparedResponse whole;
  net::OpenFile file;
  int64_t expires_ns = 0;       // monotonic
  int64_t warm_until_ns = 0;    // kFile: found in memory not long ago
  Watch* watch = nullptr;       // of its folder; held while cached
  Watch* file_watch = nullptr;  // of the file itself, where it can change under another name

  // What is sent depends on Accept-Encoding: there are, or could be, coded forms (RFC 9110 section 8.4.1).
  bool varies = false;
  bool worth_coding = false;  // the route's Compression makes coded forms of it
  // Of a coded form: its coding; whether it lies beside the file or was made of its bytes, kept or on its
  // way.
  http::Coding coding = http::Coding::kIdentity;
  enum class Origin : uint8_t { kFile, kMade, kStreamed };
  Origin origin = Origin::kFile;
  // Bits by coding: looked for and not found, or made and not shorter.
  uint8_t no_sidecar = 0;
  uint8_t no_made = 0;
  // A file's coded forms. They are in the cache without a name of their own and leave with it at the latest.
  std::array<FileEntry*, http::kCodingCount> forms{};
  FileEntry* original = nullptr;  // of a form in the cache
  // The cache's own:
  uint64_t hash = 0;
  FileEntry* next_in_bucket = nullptr;
  size_t charged_bytes = 0;
};

// A bounded table of FileEntries, the least recently used leaving first. One per loop, its thread only.
class FileCache {
 public:
  // Who holds the cache.
  class Keeper {
   public:
    // An entry leaves; it is destroyed after the call.
    virtual void onLeave(FileEntry& entry) noexcept = 0;
    // Memory that the entries take elsewhere: it counts against max_bytes.
    virtual uint64_t bytesBeside() const noexcept = 0;

   protected:
    ~Keeper() = default;
  };

  // Descriptors are scarcer than memory.
  static constexpr size_t kMaxOpenFiles = 512;
  // What there is not gets a part of the entries and bytes only, so that asking for many names that do not
  // exist does not push the files out.
  static constexpr size_t kRefusedShare = 4;

  // What each folder with entries is charged beside its path, where that is long: the node of a map.
  static constexpr size_t kFolderBytes = 128;

  FileCache(uint64_t max_bytes, size_t max_entries, Keeper& keeper);
  ~FileCache();
  FileCache(const FileCache&) = delete;
  FileCache& operator=(const FileCache&) = delete;

  // The entry, now the most recently used; nullptr where there is none.
  FileEntry* find(uint32_t root_id, std::string_view path) noexcept;
  // Takes the entry in, replacing one of the same name; it may push others out but stays itself. REQUIRES: it
  // fits.
  FileEntry& insert(std::unique_ptr<FileEntry> entry);
  bool fits(const FileEntry& entry) const noexcept {
    return chargeOf(entry) <= max_bytes_ && max_entries_ > 0;
  }
  // Takes in a coded form of an entry, in place of one of the same coding; `original` stays too. REQUIRES:
  // fitsBeside; `original` is in the cache.
  FileEntry& insertForm(FileEntry& original, std::unique_ptr<FileEntry> form);
  bool fitsBeside(const FileEntry& original, const FileEntry& form) const noexcept {
    return chargeOf(original) + chargeOf(form) <= max_bytes_ && max_entries_ > 1;
  }
  // Whether the entry has been taken in and not left.
  static bool holds(const FileEntry& entry) noexcept {
    return static_cast<const RecentHook&>(entry).linked();
  }
  // A form has been used.
  void touchForm(FileEntry& form) noexcept { touch(form); }
  // Hands the made forms of `from` on to `to`, which is about to take its place.
  static void moveMadeForms(FileEntry& from, FileEntry& to) noexcept;
  void erase(FileEntry& entry) noexcept;
  void erase(uint32_t root_id, std::string_view path) noexcept;
  // All entries at or below `path` ("/a/b" takes "/a/b", "/a/b/" and "/a/b/c" with it; "" all of the root).
  // Looks at no others.
  void eraseBelow(uint32_t root_id, std::string_view path) noexcept;
  void clear() noexcept;
  // Lets go of every entry that holds a descriptor; false where there is none.
  bool eraseOpenFiles() noexcept;

  size_t size() const noexcept { return size_; }
  uint64_t bytes() const noexcept { return bytes_; }

 private:
  // Which entries lie in a folder of a root: "" or "/a/b". There while it has any.
  using FolderKey = std::pair<uint32_t, std::string>;
  struct Folder {
    ListHook list;
    size_t count = 0;
  };
  using Folders = std::map<FolderKey, Folder>;

  // Entries that have a bound of their own, the most recently used last.
  struct Group {
    ListHook list;
    size_t count = 0;
    uint64_t bytes = 0;
    size_t max_count;
    uint64_t max_bytes;
    Group(size_t most, uint64_t most_bytes) noexcept : max_count(most), max_bytes(most_bytes) {}
  };

  static size_t chargeOf(const FileEntry& entry) noexcept;
  static size_t chargeOf(const FolderKey& key) noexcept;
  static std::string_view folderOf(const FileEntry& entry) noexcept {
    return std::string_view(entry.path).substr(0, entry.path.rfind('/'));
  }
  void addToFolder(FileEntry& entry);
  void removeFromFolder(FileEntry& entry) noexcept;
  void eraseFolder(Folder& folder) noexcept;
  uint64_t hashOf(uint32_t root_id, std::string_view path) const noexcept;
  FileEntry** slotOf(uint64_t hash) noexcept { return &buckets_[hash & (buckets_.size() - 1)]; }
  void grow();
  void takeIn(FileEntry& entry, size_t stay);
  void unlinkName(FileEntry& entry) noexcept;

  const uint64_t max_bytes_;
  const size_t max_entries_;
  const uint64_t seed_;  // so that nobody can choose names that meet in one bucket
  Keeper& keeper_;
  std::vector<FileEntry*> buckets_;
  static FileEntry& recentEntry(ListHook& hook) noexcept {
    return static_cast<FileEntry&>(static_cast<RecentHook&>(hook));
  }
  static FileEntry& groupEntry(ListHook& hook) noexcept {
    return static_cast<FileEntry&>(static_cast<GroupHook&>(hook));
  }
  // nullptr: it is in none. The answer never changes while the entry is in the cache.
  Group* groupOf(const FileEntry& entry) noexcept;
  void touch(FileEntry& entry) noexcept;

  Folders folders_;
  ListHook recent_;  // all entries, the most recently used last
  Group open_;       // those that hold a descriptor
  Group refused_;
  size_t size_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace roost::modules::static_files
