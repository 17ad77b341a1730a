#include "modules/static_files/root_folder.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>

#include <array>
#include <cerrno>
#include <climits>

#include "log/log.h"

namespace roost::modules::static_files {
namespace {

constexpr int kReadFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY;

uint64_t resolveFlags(SymlinkPolicy policy) noexcept {
  switch (policy) {
    case SymlinkPolicy::kNone:
      return RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    case SymlinkPolicy::kWithin:
      return RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    case SymlinkPolicy::kFollow:
      return RESOLVE_NO_MAGICLINKS;
  }
  return RESOLVE_BENEATH;
}

// File systems whose open() asks another machine or process.
bool isNetwork(int64_t type) noexcept {
  switch (static_cast<uint32_t>(type)) {
    case NFS_SUPER_MAGIC:
    case SMB_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
    case AFS_SUPER_MAGIC:
    case CODA_SUPER_MAGIC:
    case V9FS_MAGIC:
    case CIFS_SUPER_MAGIC:
    case FUSE_SUPER_MAGIC:
    case CEPH_SUPER_MAGIC:
      return true;
    default:
      return false;
  }
}

}  // namespace

RootFolder::~RootFolder() {
  if (fd_ >= 0) sys_.closeFd(fd_);
}

// An fd or -errno of what the name leads to.
int RootFolder::openName(bool may_block) noexcept {
  constexpr int kFlags = O_PATH | O_DIRECTORY;
  if (!may_block && !no_cached_ && !no_openat2_) {
    const int fd = sys_.openAt2(AT_FDCWD, folder_.c_str(), kFlags, RESOLVE_CACHED);
    if (fd != -EINVAL && fd != -ENOSYS && fd != -EPERM) return fd;
  }
  return sys_.openAt(AT_FDCWD, folder_.c_str(), kFlags);
}

bool RootFolder::isCold() noexcept {
  const int fd = openName(false);
  if (fd >= 0) sys_.closeFd(fd);
  return fd == -EAGAIN;
}

RootFolder::Look RootFolder::refresh(int64_t now_ns, int64_t every_ns, bool may_block) noexcept {
  if (!isDue(now_ns)) return Look::kSame;
  const int fd = openName(may_block);
  if (fd == -EAGAIN && !may_block) return Look::kCold;
  struct stat info {};
  const int error = fd < 0 ? -fd : -sys_.statFd(fd, &info);
  if (error != 0) {
    // Out of descriptors, or gone for a moment: what is open stays in use, what is not is tried again.
    if (fd >= 0) sys_.closeFd(fd);
    error_ = error;
    if (fd_ >= 0) refresh_at_ns_ = now_ns + every_ns;
    return Look::kSame;
  }
  refresh_at_ns_ = now_ns + every_ns;
  if (fd_ >= 0 && info.st_dev == device_ && info.st_ino == inode_) {
    sys_.closeFd(fd);
    return Look::kSame;
  }
  const Look look = fd_ >= 0 ? Look::kMoved : Look::kFirst;
  if (fd_ >= 0) sys_.closeFd(fd_);
  fd_ = fd;
  device_ = info.st_dev;
  inode_ = info.st_ino;
  is_network_ = isNetwork(sys_.fileSystemOf(fd_));
  return look;
}

// Few paths lead over a link, and only those need a second look at what the link stands for: so links are
// refused at first.
int RootFolder::open(const char* relative, SymlinkPolicy policy, bool may_block, bool& linked) noexcept {
  linked = false;
  if (fd_ < 0) return -error_;
  if (is_network_ && !may_block) return -EAGAIN;
  const char* path = *relative == '\0' ? "." : relative;
  int fd = openOnce(path, kReadFlags, resolveFlags(SymlinkPolicy::kNone), may_block);
  if (fd == -ELOOP && policy != SymlinkPolicy::kNone && !no_openat2_) {
    linked = true;
    fd = openOnce(path, kReadFlags, resolveFlags(policy), may_block);
    if (fd == -EXDEV) fd = openInside(path, may_block);
  }
  // A system call filter that does not know openat2 may say EPERM.
  if (fd != -ENOSYS && fd != -EPERM) return fd;
  linked = policy == SymlinkPolicy::kFollow;
  return linked ? sys_.openAt(fd_, path, kReadFlags) : openStepwise(path);
}

int RootFolder::openOnce(const char* path, uint64_t flags, uint64_t resolve, bool may_block) noexcept {
  if (no_openat2_) return -ENOSYS;
  if (!may_block && !no_cached_) {
    const int fd = sys_.openAt2(fd_, path, flags, resolve | RESOLVE_CACHED);
    if (fd != -EINVAL) {
      no_openat2_ = fd == -ENOSYS;
      return fd;
    }
    no_cached_ = true;
  }
  // EAGAIN: a rename elsewhere left the kernel unsure whether the path stays beneath.
  int fd = -EAGAIN;
  for (int attempt = 0; attempt < 8 && (fd == -EAGAIN || fd == -EINTR); ++attempt) {
    fd = sys_.openAt2(fd_, path, flags, resolve);
  }
  no_openat2_ = fd == -ENOSYS;
  return fd;
}

// The name that the kernel knows an open file by, without any link in it. "": it does not tell.
std::string RootFolder::nameOf(int fd) const {
  std::array<char, PATH_MAX> name;
  const std::string link = "/proc/thread-self/fd/" + std::to_string(fd);
  const ssize_t size = sys_.readLinkAt(AT_FDCWD, link.c_str(), name.data(), name.size());
  return size < 0 ? std::string() : std::string(name.data(), static_cast<size_t>(size));
}

// A link with an absolute target, or one that leaves the root on its way, may lead to a place inside it all
// the same. Where it leads is only a hint: what is opened then is beneath the root by a path without links.
int RootFolder::openInside(const char* path, bool may_block) noexcept {
  const int followed = openOnce(path, O_PATH, RESOLVE_NO_MAGICLINKS, may_block);
  if (followed < 0) return followed;
  const std::string target = nameOf(followed);
  sys_.closeFd(followed);
  std::string root = nameOf(fd_);
  if (root == "/") root.clear();
  const bool inside =
      target.size() > root.size() && target.compare(0, root.size(), root) == 0 && target[root.size()] == '/';
  if (inside || (!target.empty() && target == root)) {
    const std::string rest = inside ? target.substr(root.size() + 1) : std::string();
    return openOnce(rest.empty() ? "." : rest.c_str(), kReadFlags, resolveFlags(SymlinkPolicy::kNone),
                    may_block);
  }
  LOG_EVERY_SECOND(WARN,
                   "symbolic link leaves the root path={}/{} target={} root={}; answered 404, unless "
                   "\"symlinks\" is \"follow\"",
                   folder_, path, target, root);
  return -EXDEV;
}

// Without openat2: one step at a time, following no link at all, which is stricter than kWithin asks but
// safe.
int RootFolder::openStepwise(const char* relative) const noexcept {
  std::string rest(relative);
  int folder = fd_;
  for (;;) {
    const size_t slash = rest.find('/');
    const std::string step = rest.substr(0, slash);
    const bool last = slash == std::string::npos;
    const int flags = last ? kReadFlags | O_NOFOLLOW : O_PATH | O_DIRECTORY | O_NOFOLLOW;
    const int fd = sys_.openAt(folder, step.c_str(), flags);
    if (folder != fd_) sys_.closeFd(folder);
    if (fd < 0 || last) return fd;
    folder = fd;
    rest.erase(0, slash + 1);
  }
}

bool RootFolder::isSymlink(const char* relative) const noexcept {
  const int fd = sys_.openAt(fd_, relative, O_PATH | O_NOFOLLOW);
  if (fd < 0) return false;
  struct stat info {};
  const bool link = sys_.statFd(fd, &info) >= 0 && S_ISLNK(info.st_mode);
  sys_.closeFd(fd);
  return link;
}

}  // namespace roost::modules::static_files
