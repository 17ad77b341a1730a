#include "base/sys.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sockios.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace roost {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

template <class T>
T result(T value) noexcept {
  return value >= 0 ? value : static_cast<T>(-errno);
}

int64_t clockNs(clockid_t id) noexcept {
  timespec now{};
  ::clock_gettime(id, &now);
  return static_cast<int64_t>(now.tv_sec) * kNsPerSecond + now.tv_nsec;
}

int sendFlags(bool more) noexcept {
  return MSG_NOSIGNAL | (more ? MSG_MORE : 0);
}

// The calls of every request go past glibc's wrappers, which are cancellation points: in a program with
// threads each costs two more function calls, and nobody cancels threads here. ThreadSanitizer knows whose a
// descriptor is from those very wrappers.
#ifdef __SANITIZE_THREAD__
constexpr bool kByWrappers = true;
#else
constexpr bool kByWrappers = false;
#endif
template <class... Args>
long direct(long number, Args... args) noexcept {
  return result(::syscall(number, args...));
}

class RealSys final : public Sys {
 public:
  int64_t monotonicNs() noexcept override { return clockNs(CLOCK_MONOTONIC); }
  int64_t realtimeNs() noexcept override { return clockNs(CLOCK_REALTIME); }

  int epollCreate() noexcept override { return result(::epoll_create1(EPOLL_CLOEXEC)); }
  int epollCtl(int epoll_fd, int op, int fd, epoll_event* event) noexcept override {
    return result(::epoll_ctl(epoll_fd, op, fd, event));
  }
  int epollWait(int epoll_fd, epoll_event* events, int capacity, int timeout_ms) noexcept override {
    return static_cast<int>(
        direct(SYS_epoll_pwait, epoll_fd, events, capacity, timeout_ms, nullptr, size_t{8}));
  }
  int timerfdCreate() noexcept override {
    return result(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  }
  int timerfdSet(int fd, int64_t absolute_ns) noexcept override {
    itimerspec spec{};
    spec.it_value.tv_sec = absolute_ns / kNsPerSecond;
    spec.it_value.tv_nsec = absolute_ns % kNsPerSecond;
    return result(::timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, nullptr));
  }
  int eventfdCreate() noexcept override { return result(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)); }
  int eventfdSignal(int fd) noexcept override {
    const uint64_t one = 1;
    return static_cast<int>(result(::write(fd, &one, sizeof one)));
  }

  int socketCreate(int family, int type, int protocol) noexcept override {
    return result(::socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol));
  }
  int bindTo(int fd, const sockaddr* address, socklen_t len) noexcept override {
    return result(::bind(fd, address, len));
  }
  int listenOn(int fd, int backlog) noexcept override { return result(::listen(fd, backlog)); }
  int acceptOn(int fd, sockaddr* address, socklen_t* len) noexcept override {
    constexpr int kFlags = SOCK_NONBLOCK | SOCK_CLOEXEC;
    if constexpr (kByWrappers) return result(::accept4(fd, address, len, kFlags));
    return static_cast<int>(direct(SYS_accept4, fd, address, len, kFlags));
  }
  int connectTo(int fd, const sockaddr* address, socklen_t len) noexcept override {
    return result(::connect(fd, address, len));
  }
  int getSockName(int fd, sockaddr* address, socklen_t* len) noexcept override {
    return result(::getsockname(fd, address, len));
  }
  int setSockOpt(int fd, int level, int name, const void* value, socklen_t len) noexcept override {
    return result(::setsockopt(fd, level, name, value, len));
  }
  int socketError(int fd) noexcept override {
    int error = 0;
    socklen_t len = sizeof error;
    if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0) return errno;
    return error;
  }
  int outQueueBytes(int fd) noexcept override {
    int bytes = 0;
    const int rc = result(::ioctl(fd, SIOCOUTQ, &bytes));
    return rc < 0 ? rc : bytes;
  }
  ssize_t recvFrom(int fd, void* data, size_t len) noexcept override {
    return direct(SYS_recvfrom, fd, data, len, 0, nullptr, nullptr);
  }
  ssize_t discardFrom(int fd, size_t len) noexcept override {
    return direct(SYS_recvfrom, fd, nullptr, len, MSG_TRUNC, nullptr, nullptr);  // of TCP only: see tcp(7)
  }
  ssize_t sendTo(int fd, const void* data, size_t len, bool more) noexcept override {
    return direct(SYS_sendto, fd, data, len, sendFlags(more), nullptr, 0);
  }
  ssize_t sendVec(int fd, const iovec* parts, int count, bool more) noexcept override {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(parts);
    message.msg_iovlen = static_cast<size_t>(count);
    return direct(SYS_sendmsg, fd, &message, sendFlags(more));
  }
  ssize_t sendFile(int out_fd, int in_fd, int64_t offset, size_t len) noexcept override {
    off_t from = offset;  // 64 bits, as the call expects
    return direct(SYS_sendfile, out_fd, in_fd, &from, len);
  }
  int shutdownWrite(int fd) noexcept override { return result(::shutdown(fd, SHUT_WR)); }
  int closeFd(int fd) noexcept override {
    if constexpr (kByWrappers) return result(::close(fd));
    return static_cast<int>(direct(SYS_close, fd));
  }

  int openAt(int dir_fd, const char* path, int flags) noexcept override {
    return result(::openat(dir_fd, path, flags | O_CLOEXEC));
  }
  int openAt2(int dir_fd, const char* path, uint64_t flags, uint64_t resolve) noexcept override {
    open_how how{};
    how.flags = flags | O_CLOEXEC;
    how.resolve = resolve;
    return static_cast<int>(result(::syscall(SYS_openat2, dir_fd, path, &how, sizeof how)));
  }
  int statFd(int fd, struct stat* out) noexcept override { return result(::fstat(fd, out)); }
  ssize_t readLink(const char* path, char* out, size_t len) noexcept override {
    return result(::readlink(path, out, len));
  }
  int statAt(int dir_fd, const char* path, struct stat* out, int flags) noexcept override {
    return result(::fstatat(dir_fd, path, out, flags));
  }
  ssize_t readLinkAt(int dir_fd, const char* path, char* target, size_t len) noexcept override {
    return result(::readlinkat(dir_fd, path, target, len));
  }
  int64_t fileSystemOf(int fd) noexcept override {
    struct statfs info {};
    const int rc = result(::fstatfs(fd, &info));
    return rc < 0 ? rc : static_cast<int64_t>(info.f_type);
  }
  ssize_t readFolder(int fd, void* entries, size_t len) noexcept override {
    return result(::getdents64(fd, entries, len));
  }
  ssize_t readAt(int fd, void* data, size_t len, int64_t offset) noexcept override {
    return result(::pread(fd, data, len, offset));
  }
  ssize_t readAtNoWait(int fd, void* data, size_t len, int64_t offset) noexcept override {
    const iovec part{data, len};
    return result(::preadv2(fd, &part, 1, offset, RWF_NOWAIT));
  }
  int inotifyCreate() noexcept override { return result(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)); }
  int inotifyAdd(int fd, const char* path, uint32_t mask) noexcept override {
    return result(::inotify_add_watch(fd, path, mask));
  }
  int inotifyRemove(int fd, int watch) noexcept override { return result(::inotify_rm_watch(fd, watch)); }
  ssize_t inotifyRead(int fd, void* data, size_t len) noexcept override {
    return result(::read(fd, data, len));
  }
};

}  // namespace

Sys& realSys() noexcept {
  static RealSys instance;
  return instance;
}

}  // namespace roost
