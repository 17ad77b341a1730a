// The one seam to the operating system. Event, net and file code calls the kernel only through a Sys, so that
// a test can run the whole server on simulated sockets and a simulated clock and make any call fail.
#pragma once

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

namespace roost {

// Every call behaves like the system call of its name and returns its value, or -errno (never -1 with errno),
// so a caller has one value to look at. The object is shared by all threads; the real one keeps no state.
class Sys {
 public:
  // Clocks, nanoseconds. monotonic never runs back; realtime is since 1970.
  virtual int64_t monotonicNs() noexcept = 0;
  virtual int64_t realtimeNs() noexcept = 0;

  // Poller, timers, wake-ups.
  virtual int epollCreate() noexcept = 0;
  virtual int epollCtl(int epoll_fd, int op, int fd, epoll_event* event) noexcept = 0;
  virtual int epollWait(int epoll_fd, epoll_event* events, int capacity, int timeout_ms) noexcept = 0;
  virtual int timerfdCreate() noexcept = 0;                          // CLOCK_MONOTONIC, non-blocking
  virtual int timerfdSet(int fd, int64_t absolute_ns) noexcept = 0;  // 0 disarms
  virtual int eventfdCreate() noexcept = 0;                          // non-blocking
  virtual int eventfdSignal(int fd) noexcept = 0;                    // adds 1

  // Sockets. All made non-blocking and close-on-exec.
  virtual int socketCreate(int family, int type, int protocol) noexcept = 0;
  virtual int bindTo(int fd, const sockaddr* address, socklen_t len) noexcept = 0;
  virtual int listenOn(int fd, int backlog) noexcept = 0;
  virtual int acceptOn(int fd, sockaddr* address, socklen_t* len) noexcept = 0;
  virtual int connectTo(int fd, const sockaddr* address, socklen_t len) noexcept = 0;
  virtual int getSockName(int fd, sockaddr* address, socklen_t* len) noexcept = 0;
  virtual int setSockOpt(int fd, int level, int name, const void* value, socklen_t len) noexcept = 0;
  virtual int socketError(int fd) noexcept = 0;  // SO_ERROR as a positive errno
  virtual int outQueueBytes(
      int fd) noexcept = 0;  // SIOCOUTQ: given to send, not yet acknowledged by the peer
  virtual ssize_t recvFrom(int fd, void* data, size_t len) noexcept = 0;
  virtual ssize_t discardFrom(int fd, size_t len) noexcept = 0;  // as recvFrom, but nobody gets the bytes
  virtual ssize_t sendTo(int fd, const void* data, size_t len, bool more) noexcept = 0;    // MSG_NOSIGNAL
  virtual ssize_t sendVec(int fd, const iovec* parts, int count, bool more) noexcept = 0;  // MSG_NOSIGNAL
  virtual ssize_t sendFile(int out_fd, int in_fd, int64_t offset, size_t len) noexcept = 0;
  virtual int shutdownWrite(int fd) noexcept = 0;
  virtual int closeFd(int fd) noexcept = 0;

  // Files.
  virtual int openAt(int dir_fd, const char* path, int flags) noexcept = 0;
  virtual int openAt2(int dir_fd, const char* path, uint64_t flags, uint64_t resolve) noexcept = 0;
  virtual int statFd(int fd, struct stat* out) noexcept = 0;
  virtual int statAt(int dir_fd, const char* path, struct stat* out, int flags) noexcept = 0;  // fstatat
  virtual ssize_t readLink(const char* path, char* out, size_t len) noexcept = 0;              // no NUL
  virtual ssize_t readFolder(int fd, void* entries, size_t len) noexcept = 0;                  // getdents64
  virtual ssize_t readAt(int fd, void* data, size_t len, int64_t offset) noexcept = 0;
  virtual ssize_t readAtNoWait(int fd, void* data, size_t len, int64_t offset) noexcept = 0;  // RWF_NOWAIT
  virtual int inotifyCreate() noexcept = 0;
  virtual int inotifyAdd(int fd, const char* path, uint32_t mask) noexcept = 0;
  virtual int inotifyRemove(int fd, int watch) noexcept = 0;
  virtual ssize_t inotifyRead(int fd, void* data, size_t len) noexcept = 0;
  virtual ssize_t readLinkAt(int dir_fd, const char* path, char* target, size_t len) noexcept = 0;
  virtual int64_t fileSystemOf(int fd) noexcept = 0;  // f_type of fstatfs

 protected:
  ~Sys() = default;
};

// The kernel itself. Any thread; lives for ever.
Sys& realSys() noexcept;

}  // namespace roost
