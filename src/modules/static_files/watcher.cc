#include "modules/static_files/watcher.h"

#include <sys/epoll.h>
#include <sys/inotify.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <vector>

#include "base/errno_text.h"
#include "log/log.h"

namespace roost::modules::static_files {
namespace {

constexpr uint32_t kFolderMask = IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE |
                                 IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR |
                                 IN_EXCL_UNLINK;
constexpr uint32_t kFileMask = IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF;
// Steps lie in folders that may be busy (/tmp), so they hear of names only, not of what is written. What the
// folder is watched for otherwise stays: one inode has one mask.
constexpr uint32_t kSelfMask = IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_MASK_ADD;
constexpr uint32_t kNameMask = kSelfMask | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
// More than a full queue of the kernel's holds; what comes faster waits for the next round.
constexpr int kMaxReads = 64;
constexpr uint32_t kSelfGone = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED;

}  // namespace

Watcher::~Watcher() {
  if (fd_ < 0) return;
  loop_.setFirst(nullptr);
  loop_.remove(fd_);
  loop_.sys().closeFd(fd_);
}

Status Watcher::open() {
  fd_ = loop_.sys().inotifyCreate();
  if (fd_ < 0) return Status::fromErrno(-fd_, "inotify_init1");
  Status status = loop_.add(fd_, EPOLLIN, *this);
  if (!status.ok()) {
    loop_.sys().closeFd(fd_);
    fd_ = -1;
    return status;
  }
  loop_.setFirst(this);
  return status;
}

// The watch, its node of a map with the key, its place by descriptor.
uint64_t Watcher::chargeOf(const Watch& watch) noexcept {
  constexpr uint64_t kNodes = sizeof(Watch) + sizeof(Key) + 96;
  return kNodes + 2 * (watch.path.size() + 1);
}

std::map<Watcher::Key, Watch>& Watcher::tableOf(Watch::Kind kind) noexcept {
  switch (kind) {
    case Watch::Kind::kFile:
      return files_;
    case Watch::Kind::kStep:
      return steps_;
    case Watch::Kind::kFolder:
      break;
  }
  return folders_;
}

Watch* Watcher::acquire(uint32_t root_id, const std::string& base, std::string_view path, Watch::Kind kind,
                        Watch* parent) {
  auto& table = tableOf(kind);
  const auto [place, fresh] = table.try_emplace(Key(root_id, std::string(path)));
  Watch& watch = place->second;
  if (!fresh) {
    ++watch.uses;
    return &watch;
  }
  std::string full = base;
  uint32_t mask = kind == Watch::Kind::kFile ? kFileMask : kFolderMask;
  if (kind == Watch::Kind::kStep) {
    mask = path.size() > base.size() + 1 ? kNameMask : kSelfMask;
    watch.name_at = static_cast<uint32_t>(base.size() + 1);
    if (full.empty()) full = "/";
  } else {
    full += path;
  }
  const int descriptor = loop_.sys().inotifyAdd(fd_, full.c_str(), mask);
  if (descriptor < 0) {
    if (descriptor == -ENOSPC) {
      LOG_EVERY_SECOND(WARN, "{}: cannot be watched for changes: fs.inotify.max_user_watches is reached",
                       full);
    }
    table.erase(place);
    return nullptr;
  }
  watch.root_id = root_id;
  watch.path = std::string(path);
  watch.kind = kind;
  watch.descriptor = descriptor;
  watch.uses = 1;
  watch.parent = parent;
  if (parent != nullptr) ++parent->uses;
  by_descriptor_.emplace(descriptor, &watch);
  bytes_ += chargeOf(watch);
  return &watch;
}

Watch* Watcher::watchFolder(uint32_t root_id, const std::string& base, std::string_view path) {
  if (fd_ < 0) return nullptr;
  Watch* parent = acquire(root_id, base, "", Watch::Kind::kFolder, nullptr);
  if (parent == nullptr) return nullptr;
  for (size_t slash = path.find('/', 1); !path.empty() && parent != nullptr;) {
    const std::string_view step = path.substr(0, slash);
    Watch* watch = acquire(root_id, base, step, Watch::Kind::kFolder, parent);
    release(parent);
    parent = watch;
    if (slash == std::string_view::npos) break;
    slash = path.find('/', slash + 1);
  }
  return parent;
}

Watch* Watcher::watchFile(uint32_t root_id, const std::string& base, std::string_view path) {
  return fd_ < 0 ? nullptr : acquire(root_id, base, path, Watch::Kind::kFile, nullptr);
}

Watch* Watcher::watchStep(uint32_t root_id, const std::string& folder, const std::string& name) {
  if (fd_ < 0) return nullptr;
  return acquire(root_id, folder, folder + "/" + name, Watch::Kind::kStep, nullptr);
}

void Watcher::release(Watch* watch) noexcept {
  while (watch != nullptr && --watch->uses == 0) {
    Watch* parent = watch->parent;
    const auto [first, last] = by_descriptor_.equal_range(watch->descriptor);
    const bool only = std::next(first) == last;
    for (auto it = first; it != last; ++it) {
      if (it->second != watch) continue;
      by_descriptor_.erase(it);
      break;
    }
    if (only) loop_.sys().inotifyRemove(fd_, watch->descriptor);
    bytes_ -= chargeOf(*watch);
    tableOf(watch->kind).erase(Key(watch->root_id, watch->path));
    watch = parent;
  }
}

void Watcher::onIo(uint32_t) noexcept {
  alignas(inotify_event) char buffer[16384];
  for (int i = 0; i < kMaxReads; ++i) {
    const ssize_t size = loop_.sys().inotifyRead(fd_, buffer, sizeof buffer);
    if (size <= 0) return;
    for (const char* p = buffer; p < buffer + size;) {
      inotify_event event;
      std::memcpy(&event, p, sizeof event);
      const char* name = p + sizeof event;
      dispatch(event.wd, event.mask, {name, event.len > 0 ? ::strnlen(name, event.len) : 0});
      p += sizeof event + event.len;
    }
  }
}

void Watcher::dispatch(int descriptor, uint32_t mask, std::string_view name) noexcept {
  if ((mask & IN_Q_OVERFLOW) != 0) {
    listener_.onOverflow();
    return;
  }
  // What is told may release watches, so the keys are taken down first.
  struct Told {
    uint32_t root_id;
    std::string path;
    Watch::Kind kind;
    uint32_t name_at;
  };
  std::vector<Told> told;
  const auto [first, last] = by_descriptor_.equal_range(descriptor);
  for (auto it = first; it != last; ++it) {
    const Watch& watch = *it->second;
    told.push_back({watch.root_id, watch.path, watch.kind, watch.name_at});
  }
  for (const Told& what : told) {
    if (what.kind == Watch::Kind::kStep) {
      const std::string_view step = std::string_view(what.path).substr(what.name_at);
      const bool moved = name.empty() ? (mask & kSelfGone) != 0 : step == name && (mask & kNameMask) != 0;
      if (moved) listener_.onRootMoved(what.root_id);
      continue;
    }
    if (what.kind == Watch::Kind::kFile) {
      const size_t slash = what.path.rfind('/');
      listener_.onChange(what.root_id, what.path.substr(0, slash), what.path.substr(slash + 1));
      continue;
    }
    if ((mask & kSelfGone) != 0 || name.empty()) {
      listener_.onChangeBelow(what.root_id, what.path);
      continue;
    }
    listener_.onChange(what.root_id, what.path, name);
    const std::string below = what.path + "/" + std::string(name);
    if (watches(what.root_id, below)) listener_.onChangeBelow(what.root_id, below);
  }
}

}  // namespace roost::modules::static_files
