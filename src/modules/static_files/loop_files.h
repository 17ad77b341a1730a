#pragma once

#include <sys/stat.h>

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "http/exchange.h"
#include "http/loop_context.h"
#include "modules/static_files/file_cache.h"
#include "modules/static_files/form_maker.h"
#include "modules/static_files/root_folder.h"
#include "modules/static_files/watcher.h"

namespace roost::modules::static_files {

// What one loop knows of the files it serves: the cache, its watches, the folders' descriptors. Made and used
// on its loop's thread.
class LoopFiles final : private FileCache::Keeper, private WatchListener, private FormUser {
 public:
  // An entry, in the cache or, where it cannot be kept, owned by whoever asked.
  struct Found {
    FileEntry* entry = nullptr;
    std::unique_ptr<FileEntry> owned;
    bool cold = false;  // the file is not in memory: entry has its file_path only; warm it up and ask again
  };

  // Loops that share `maker` make no form twice; nullptr: one of its own.
  LoopFiles(http::LoopContext& context, const CacheOptions& options,
            std::shared_ptr<FormMaker> maker = nullptr);
  ~LoopFiles() { link_->user = nullptr; }

  // Whose head filters an answer that is kept ready goes through.
  struct Asked {
    const http::Route* route = nullptr;  // nullptr: none
    std::string_view path;               // the request's
  };

  static const Asked& noRoute() noexcept {
    static const Asked none;
    return none;
  }

  // What `path` (canonical, below the root) stands for. With `may_block` a cold file is read from disk here.
  // The entry is good until the next call, or the next turn of the loop. REQUIRES: one root and path are
  // always asked for with the same route and path of the request.
  Found find(const RootOptions& root, std::string_view path, bool may_block, const Asked& asked = noRoute()) {
    const int64_t now_ns = loop_.nowNs();
    if (now_ns >= check_roots_at_ns_) checkRoots();
    FileEntry* entry = cache_.find(root.id, path);
    if (entry != nullptr && now_ns < entry->expires_ns) return {entry, nullptr, false};
    if (!root.dot_files && isHidden(path)) return {&hidden_, nullptr, false};
    if (FileEntry* missing = missingAbove(root, path)) return {missing, nullptr, false};
    return look(root, path, may_block, asked, true);
  }

  // The sidecar of a file that find() has just found: with this coding, and not older. No entry where there
  // is none to serve. `original` stays good.
  Found findSidecar(const RootOptions& root, FileEntry& original, http::Coding coding, bool may_block,
                    const Asked& asked = noRoute());

  // What is to be had of a form that the route's Compression makes of a file's bytes.
  enum class Made : uint8_t {
    kHere,     // original.forms[coding]
    kNone,     // it is of no use
    kNotKept,  // the cache does not take it
    kComing,   // `ready` will be run with the exchange, if that is still there, once this is known
    kNobody    // no task thread is free to make it
  };
  // REQUIRES: `original` has just been found, a file that varies; asked.route has a Compression with
  // `coding`.
  Made findMade(const RootOptions& root, FileEntry& original, http::Coding coding, const Asked& asked,
                http::Exchange& exchange, void (*ready)(http::Exchange&));
  // Without making anything.
  bool hasMade(FileEntry& original, http::Coding coding) noexcept;
  // A form in outline: all but its bytes.
  static std::unique_ptr<FileEntry> outlineOf(const FileEntry& original, http::Coding coding,
                                              FileEntry::Origin origin, const http::Compression& policy);

  Sys& sys() noexcept { return loop_.sys(); }
  int64_t nowNs() const noexcept { return loop_.nowNs(); }
  const FileCache& cache() const noexcept { return cache_; }
  const Watcher& watcher() const noexcept { return watcher_; }

 private:
  // One look at the file system.
  struct Look {
    const RootOptions& root;
    RootFolder& folder;
    FileEntry& entry;
    bool may_block;
    const Asked& asked;
    http::Coding coding = http::Coding::kIdentity;
    bool cold = false;
    bool linked = false;  // a link may have been on the way
  };

  // A form that is being made, and who waits for it.
  struct Coming {
    FormKey key;
    uint32_t root_id;
    std::string path;
    std::unique_ptr<FileEntry> form;
    http::ResponseHead head;
    std::string server_header;
    std::vector<http::ExchangeHandle> waiting;
    void (*ready)(http::Exchange&);
  };

  void onForm(const FormKey& key, const FormBytes& bytes) noexcept override;
  bool keepForm(Coming& coming, const FormBytes& bytes);
  Coming beginMaking(const RootOptions& root, const FileEntry& original, http::Coding coding,
                     const Asked& asked);
  void onLeave(FileEntry& entry) noexcept override;
  uint64_t bytesBeside() const noexcept override { return watcher_.bytes(); }
  void onChange(uint32_t root_id, std::string_view folder, std::string_view name) noexcept override;
  void onChangeBelow(uint32_t root_id, std::string_view path) noexcept override;
  void onOverflow() noexcept override;

  void checkRoots();
  RootFolder& folderOf(const RootOptions& root);
  Found look(const RootOptions& root, std::string_view path, bool may_block, const Asked& asked,
             bool may_learn);
  static bool isHidden(std::string_view path) noexcept;
  FileEntry* missingAbove(const RootOptions& root, std::string_view path) noexcept;
  void learnMissing(const RootOptions& root, std::string_view path);
  bool openFirst(Look& look, int& fd);
  int openFile(Look& look, const std::string& path);
  bool isFolder(Look& look);
  bool describe(Look& look, int fd);
  void watchItself(Look& look, const struct stat& info);
  bool readBody(Look& look, int fd);
  bool keeps() const noexcept { return options_.revalidate_ns > 0 && options_.max_bytes > 0; }
  bool keep(Found& found);
  bool isWorthCoding(const Look& look) const;
  void lookAtSidecar(Look& look);
  static std::string_view folderOfPath(std::string_view path) noexcept {
    return path.substr(0, path.rfind('/'));
  }

  http::LoopContext& context_;
  event::Loop& loop_;
  const CacheOptions options_;
  struct HeldFolder {
    RootFolder folder;
    int64_t used_ns = 0;
    HeldFolder(Sys& sys, const std::string& path) : folder(sys, path) {}
  };
  std::unordered_map<uint32_t, HeldFolder> folders_;
  int64_t check_roots_at_ns_ = 0;
  Watcher watcher_;
  FileCache cache_;
  const std::shared_ptr<FormMaker> maker_;
  const std::shared_ptr<FormLink> link_;
  std::vector<Coming> coming_;  // few: each is a task under way
  FileEntry hidden_;            // the answer to names that are not shown: 404
};

// The status that an errno of opening a file below a root means.
int statusOfErrno(int error) noexcept;
// Whether the path is a sidecar's: it ends as one that this root serves.
bool isSidecar(const RootOptions& root, std::string_view path) noexcept;
// The fields that describe the content of an answer with this file, the whole or one part.
void addContentFields(http::ResponseHead& head, const FileEntry& entry);
// The other fields of an answer with this file's content, or of a 304 in its place.
void addFileFields(http::ResponseHead& head, const FileEntry& entry, const RootOptions& root);

}  // namespace roost::modules::static_files
