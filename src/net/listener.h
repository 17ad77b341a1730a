#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/status.h"
#include "base/sys.h"
#include "base/unique_fd.h"
#include "net/address.h"

namespace roost::net {

// How one listening socket is to be opened.
struct ListenOptions {
  SocketAddress address;
  int backlog = 4096;       // the kernel caps it at net.core.somaxconn
  bool tcp_nodelay = true;  // accepted sockets inherit it
  int defer_accept_s = 0;   // TCP_DEFER_ACCEPT: accept only once bytes have come; 0 is off
  bool ipv6_only = true;
  bool reuse_port = false;  // several sockets share the port, one per loop
  mode_t unix_mode = 0666;  // of a Unix socket's file
};

// A listening socket; a Unix socket's file goes with it. Made on the main thread before the loops run; the fd
// may be used by the one thread that accepts on it.
class Listener {
 public:
  // The error names the address and says what to do where that is known (port in use, privileged port, no
  // such address). A Unix socket's file that no server answers behind is replaced.
  static Result<Listener> open(Sys& sys, const ListenOptions& options);
  // Whether a server without SO_REUSEPORT could have the port: sockets that share one let a stranger that
  // shares it too join unnoticed. Before the first socket of a group; port 0 is always free.
  static Status probe(Sys& sys, const ListenOptions& options);
  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  int fd() const noexcept { return fd_; }
  // As bound: with the port that the kernel chose where 0 was asked for.
  const SocketAddress& address() const noexcept { return address_; }

 private:
  Listener(Sys& sys, int fd, SocketAddress address) noexcept : sys_(&sys), fd_(fd), address_(address) {}
  Status configure(const ListenOptions& options);
  Status ownFile(mode_t mode);
  void removeFile() noexcept;

  Sys* sys_;
  int fd_;
  SocketAddress address_;
  std::string unlink_path_;
  dev_t file_dev_ = 0;  // of the file that bind made
  ino_t file_ino_ = 0;
};

}  // namespace roost::net
