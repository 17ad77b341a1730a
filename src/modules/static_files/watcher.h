#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/status.h"
#include "event/io_handler.h"
#include "event/loop.h"

namespace roost::modules::static_files {

// A folder, a file that may change under another name than its own, or a step on the way to a root, that the
// kernel tells the changes of. Owned by a Watcher.
class Watch {
 private:
  friend class Watcher;
  enum class Kind : uint8_t { kFolder, kFile, kStep };
  uint32_t root_id = 0;
  std::string path;  // below the root: "" or "/a/b"; of a step: its key
  Kind kind = Kind::kFolder;
  uint32_t name_at = 0;  // of a step: where in `path` its name begins, which is empty for the folder itself
  int descriptor = -1;   // inotify's
  uint32_t uses = 0;
  Watch* parent = nullptr;
};

// What a Watcher tells of.
class WatchListener {
 public:
  // `name` in the folder `folder` ("" or "/a") of a root has changed, come or gone.
  virtual void onChange(uint32_t root_id, std::string_view folder, std::string_view name) noexcept = 0;
  // Everything at and below `path` may have changed.
  virtual void onChangeBelow(uint32_t root_id, std::string_view path) noexcept = 0;
  // The way to a root has changed: its name may lead to another folder.
  virtual void onRootMoved(uint32_t root_id) noexcept = 0;
  // Changes were lost.
  virtual void onOverflow() noexcept = 0;

 protected:
  ~WatchListener() = default;
};

// One loop's inotify instance. The loop reads its notices before the other events of the same batch
// (Loop::setFirst); a change that comes while a batch is being handled is noticed at the loop's next turn.
// Every folder on the way from the root is watched, so that a renamed folder takes what is known of its files
// with it. Loop thread only.
class Watcher final : public event::IoHandler {
 public:
  Watcher(event::Loop& loop, WatchListener& listener) noexcept : loop_(loop), listener_(listener) {}
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Without a successful open() nothing is watched.
  Status open();
  bool working() const noexcept { return fd_ >= 0; }

  // Watches `path` of the root whose folder is `base`, and the folders above it up to the root. The result is
  // held until release(); nullptr where the kernel refuses (no such folder, out of watches): time is then the
  // only guard.
  Watch* watchFolder(uint32_t root_id, const std::string& base, std::string_view path);
  // Watches the file itself that `path` leads to: behind a link, or with further names elsewhere. REQUIRES:
  // it is no folder (one inode has one mask).
  Watch* watchFile(uint32_t root_id, const std::string& base, std::string_view path);
  // Watches a step on the way to a root: `name` in `folder` ("" is "/") comes, goes or is replaced; or, where
  // `name` is empty, the folder itself is moved or removed.
  Watch* watchStep(uint32_t root_id, const std::string& folder, const std::string& name);
  // Whether watchFolder() would ask the kernel nothing, since the folder is being watched.
  bool watches(uint32_t root_id, std::string_view path) const {
    return folders_.count(Key(root_id, std::string(path))) > 0;
  }
  void release(Watch* watch) noexcept;

  // Memory that the watches take, the kernel's not counted.
  uint64_t bytes() const noexcept { return bytes_; }
  // How many folders and files below the roots are watched.
  size_t size() const noexcept { return folders_.size() + files_.size(); }

  void onIo(uint32_t events) noexcept override;

 private:
  static uint64_t chargeOf(const Watch& watch) noexcept;
  using Key = std::pair<uint32_t, std::string>;
  Watch* acquire(uint32_t root_id, const std::string& base, std::string_view path, Watch::Kind kind,
                 Watch* parent);
  std::map<Key, Watch>& tableOf(Watch::Kind kind) noexcept;
  void dispatch(int descriptor, uint32_t mask, std::string_view name) noexcept;

  event::Loop& loop_;
  WatchListener& listener_;
  int fd_ = -1;
  std::map<Key, Watch> folders_;
  std::map<Key, Watch> files_;
  std::map<Key, Watch> steps_;
  std::unordered_multimap<int, Watch*> by_descriptor_;  // one inode may have several names
  uint64_t bytes_ = 0;
};

}  // namespace roost::modules::static_files
