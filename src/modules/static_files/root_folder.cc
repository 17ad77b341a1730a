#include "modules/static_files/root_folder.h"

#include <fcntl.h>
#include <linux/openat2.h>

#include <atomic>
#include <cerrno>

namespace roost::modules::static_files {
namespace {

constexpr int kReadFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY;

// Set once the kernel has said that it has no openat2 (before Linux 5.6, or a filter).
std::atomic<bool> g_no_openat2{false};

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
  refresh_at_ns_ = now_ns + every_ns;
  const int fd = sys_.openAt(AT_FDCWD, folder_.c_str(), O_PATH | O_DIRECTORY);
  struct stat info {};
  if (fd < 0 || sys_.statFd(fd, &info) < 0) {
    // Out of descriptors, or gone for a moment: what is open stays in use.
    if (fd >= 0) sys_.closeFd(fd);
    return false;
  }
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

int RootFolder::open(const char* relative, SymlinkPolicy policy) const noexcept {
  if (fd_ < 0) return -ENOENT;
  const char* path = *relative == '\0' ? "." : relative;
  if (!g_no_openat2.load(std::memory_order_relaxed)) {
    // A rename elsewhere can make the kernel unsure whether the path stayed beneath; it then asks to try
    // again.
    for (int attempt = 0; attempt < 8; ++attempt) {
      const int fd = sys_.openAt2(fd_, path, kReadFlags, resolveFlags(policy));
      if (fd != -EAGAIN && fd != -ENOSYS) return fd;
      if (fd == -ENOSYS) {
        g_no_openat2.store(true, std::memory_order_relaxed);
        break;
      }
    }
    if (!g_no_openat2.load(std::memory_order_relaxed)) return -EAGAIN;
  }
  if (policy == SymlinkPolicy::kFollow) return sys_.openAt(fd_, path, kReadFlags);
  return openStepwise(path, policy);
}

// Without openat2: one step at a time, following no link at all, which is stricter than kWithin asks but
// safe.
int RootFolder::openStepwise(const char* relative, SymlinkPolicy) const noexcept {
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
