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
#include "modules/static_files/lookups.h"
#include "modules/static_files/root_folder.h"
#include "modules/static_files/root_news.h"
#include "modules/static_files/root_trail.h"
#include "modules/static_files/watcher.h"

namespace roost::modules::static_files {

// What the loops' files share. Any thread.
struct SharedFiles {
  std::shared_ptr<FormMaker> maker = std::make_shared<FormMaker>();
  std::shared_ptr<Lookups> lookups = std::make_shared<Lookups>();
  std::shared_ptr<RootNews> news = std::make_shared<RootNews>();
};

// What one loop knows of the files it serves: the cache, its watches, the folders' descriptors. Made and used
// on its loop's thread.
class LoopFiles final : private FileCache::Keeper, private WatchListener, private FormUser {
 public:
  // An entry, in the cache or, where it cannot be kept, owned by whoever asked.
  struct Found {
    FileEntry* entry = nullptr;
    std::unique_ptr<FileEntry> owned;
    bool cold = false;  // the file, or a name on the way to it, is not in memory: lookUp() and ask again
  };

  // Loops that share `shared` make no form twice and switch to another release together.
  LoopFiles(http::LoopContext& context, const CacheOptions& options, SharedFiles shared = {});
  ~LoopFiles();

  // Whose head filters an answer that is kept ready goes through.
  struct Asked {
    const http::Route* route = nullptr;  // nullptr: none
    std::string_view path;               // the request's
  };

  static const Asked& noRoute() noexcept {
    static const Asked none;
    return none;
  }

  // What `path` (canonical, below the root) stands for. With `may_block` a cold file is looked up and read
  // from disk here; without task threads its name is looked up in any case. The entry is good until the next
  // call, or the next turn of the loop. REQUIRES: one root and path are always asked for with the same route
  // and path of the request.
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

  // Has a task thread look up what find() or findSidecar() called cold, and read it if it is small: the first
  // of `paths` that is a file, or for a folder its index files. Then `next` is run with the exchange, if that
  // is still there. False: no task thread takes it; nothing happens.
  bool lookUp(http::Exchange& exchange, const RootOptions& root, std::vector<std::string> paths,
              void (*next)(http::Exchange&));

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
  void onRootKnown(uint32_t root_id) noexcept override;
  bool keepForm(Coming& coming, const FormBytes& bytes);
  Coming beginMaking(const RootOptions& root, const FileEntry& original, http::Coding coding,
                     const Asked& asked);
  void onLeave(FileEntry& entry) noexcept override;
  uint64_t bytesBeside() const noexcept override { return watcher_.bytes(); }
  void onChange(uint32_t root_id, std::string_view folder, std::string_view name) noexcept override;
  void onChangeBelow(uint32_t root_id, std::string_view path) noexcept override;
  void onRootMoved(uint32_t root_id) noexcept override;
  void onOverflow() noexcept override;

  // A root that is in use.
  struct HeldFolder {
    RootFolder folder;
    int64_t used_ns = 0;
    std::vector<Watch*> trail;  // on the way to it
    bool looking = false;       // a task thread looks where its name leads
    bool moved = false;         // its name may lead elsewhere, and nobody knows yet
    HeldFolder(Sys& sys, const std::string& path) : folder(sys, path) {}
  };
  using HeldFolders = std::unordered_map<uint32_t, HeldFolder>;

  void checkRoots();
  bool settle(uint32_t root_id, HeldFolder& held, bool may_block);
  void lookBehind(uint32_t root_id, HeldFolder& held);
  void watchTrail(uint32_t root_id, HeldFolder& held);
  void releaseTrail(HeldFolder& held) noexcept;
  HeldFolder& heldFolder(const RootOptions& root);
  bool mayWait(bool may_block) const noexcept { return may_block || !context_.tasks().hasThreads(); }
  Found look(const RootOptions& root, std::string_view path, bool may_block, const Asked& asked,
             bool may_learn);
  static bool isHidden(std::string_view path) noexcept;
  FileEntry* missingAbove(const RootOptions& root, std::string_view path) noexcept;
  void learnMissing(const RootOptions& root, std::string_view path, bool may_block);
  bool isFolderCold(Look& look);
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
  HeldFolders folders_;
  int64_t check_roots_at_ns_ = 0;
  Watcher watcher_;
  FileCache cache_;
  const SharedFiles shared_;
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
