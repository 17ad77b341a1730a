#pragma once

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
class LoopFiles final : private FileCache::Leaving, private WatchListener {
 public:
  // An entry, in the cache or, where it cannot be kept, owned by whoever asked.
  struct Found {
    FileEntry* entry = nullptr;
    std::unique_ptr<FileEntry> owned;
    bool cold = false;  // the file is not in memory: entry has its file_path only; warm it up and ask again
  };

  LoopFiles(http::LoopContext& context, const CacheOptions& options);

  // What `path` (canonical, below the root) stands for. With `may_block` a cold file is read from disk here.
  Found find(const RootOptions& root, std::string_view path, bool may_block);

  Sys& sys() noexcept { return loop_.sys(); }
  int64_t nowNs() const noexcept { return loop_.nowNs(); }

 private:
  void onLeave(FileEntry& entry) noexcept override;
  void onChange(uint32_t root_id, std::string_view folder, std::string_view name) noexcept override;
  void onChangeBelow(uint32_t root_id, std::string_view path) noexcept override;
  void onOverflow() noexcept override;

  RootFolder& folderOf(const RootOptions& root);
  Found look(const RootOptions& root, std::string_view path, bool may_block);
  bool openFirst(const RootOptions& root, RootFolder& folder, FileEntry& entry, int& fd) const;
  bool describe(const RootOptions& root, int fd, FileEntry& entry, bool may_block, bool& cold);
  bool readBody(const RootOptions& root, int fd, FileEntry& entry, bool may_block, bool& cold);
  bool keep(Found& found);

  http::LoopContext& context_;
  event::Loop& loop_;
  const CacheOptions options_;
  std::unordered_map<uint32_t, RootFolder> folders_;
  Watcher watcher_;
  FileCache cache_;
};

// The fields of an answer with this file's content, or of a 304 in its place.
void addFileFields(http::ResponseHead& head, const FileEntry& entry, const RootOptions& root);

}  // namespace roost::modules::static_files
