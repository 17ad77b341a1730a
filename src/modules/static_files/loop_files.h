#pragma once

#include <sys/stat.h>

#include <memory>
#include <string_view>
#include <unordered_map>

#include "http/loop_context.h"
#include "modules/static_files/file_cache.h"
#include "modules/static_files/root_folder.h"
#include "modules/static_files/watcher.h"

namespace roost::modules::static_files {

// What one loop knows of the files it serves: the cache, its watches, the folders' descriptors. Made and used
// on its loop's thread.
class LoopFiles final : private FileCache::Keeper, private WatchListener {
 public:
  // An entry, in the cache or, where it cannot be kept, owned by whoever asked.
  struct Found {
    FileEntry* entry = nullptr;
    std::unique_ptr<FileEntry> owned;
    bool cold = false;  // the file is not in memory: entry has its file_path only; warm it up and ask again
  };

  LoopFiles(http::LoopContext& context, const CacheOptions& options);

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
    bool cold = false;
    bool linked = false;  // a link may have been on the way
  };

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
  FileEntry hidden_;  // the answer to names that are not shown: 404
};

// The fields of an answer with this file's content, or of a 304 in its place.
void addFileFields(http::ResponseHead& head, const FileEntry& entry, const RootOptions& root);

}  // namespace roost::modules::static_files
