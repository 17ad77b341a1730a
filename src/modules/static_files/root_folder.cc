#include "modules/static_files/root_folder.h"

#include <fcntl.h>
#include <linux/openat2.h>

#include <cerrno>

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

}  // namespace

RootFolder::~RootFolder() {
  if (fd_ >= 0) sys_.closeFd(fd_);
}

bool RootFolder::refresh(int64_t now_ns, int64_t every_ns) noexcept {
  if (now_ns < refresh_at_ns_) return false;
  const int fd = sys_.openAt(AT_FDCWD, folder_.c_str(), O_PATH | O_DIRECTORY);
  struct stat info {};
  const int error = fd < 0 ? -fd : -sys_.statFd(fd, &info);
  if (error != 0) {
    // Out of descriptors, or gone for a moment: what is open stays in use, what is not is tried again.
    if (fd >= 0) sys_.closeFd(fd);
    error_ = error;
    if (fd_ >= 0) refresh_at_ns_ = now_ns + every_ns;
    return false;
  }
  refresh_at_ns_ = now_ns + every_ns;
  if (fd_ >= 0 && info.st_dev == device_ && info.st_ino == inode_) {
    sys_.closeFd(fd);
    return false;
  }
  if (fd_ >= 0) sys_.closeFd(fd_);
  fd_ = fd;
  device_ = info.st_dev;
  inode_ = info.st_ino;
  return true;
}

// Few paths lead over a link, and only those need a second look at what the link stands for: so links are
// refused at first.
int RootFolder::open(const char* relative, SymlinkPolicy policy, bool& linked) noexcept {
  linked = false;
  if (fd_ < 0) return -error_;
  const char* path = *relative == '\0' ? "." : relative;
  int fd = openOnce(path, resolveFlags(SymlinkPolicy::kNone));
  if (fd == -ELOOP && policy != SymlinkPolicy::kNone && !no_openat2_) {
    linked = true;
    fd = openOnce(path, resolveFlags(policy));
  }
  // A system call filter that does not know openat2 may say EPERM.
  if (fd != -ENOSYS && fd != -EPERM) return fd;
  linked = policy == SymlinkPolicy::kFollow;
  return linked ? sys_.openAt(fd_, path, kReadFlags) : openStepwise(path);
}

int RootFolder::openOnce(const char* path, uint64_t resolve) noexcept {
  if (no_openat2_) return -ENOSYS;
  // EAGAIN: a rename elsewhere left the kernel unsure whether the path stays beneath.
  int fd = -EAGAIN;
  for (int attempt = 0; attempt < 8 && (fd == -EAGAIN || fd == -EINTR); ++attempt) {
    fd = sys_.openAt2(fd_, path, kReadFlags, resolve);
  }
  no_openat2_ = fd == -ENOSYS;
  return fd;
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
