#pragma once

#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>

#include "net/address.h"
#include "support/sim_sys.h"

namespace roost::test {

// A server by hand on the simulated kernel: what a client's test writes its answers with. Descriptors are the
// kernel's; -1 where nobody has come.
class SimServer {
 public:
  SimServer(SimSys& sys, std::string_view host, uint16_t port) : sys_(sys) {
    const net::SocketAddress address = net::SocketAddress::parse(host, port).value();
    listen_fd_ = sys_.socketCreate(address.family(), SOCK_STREAM, 0);
    sys_.bindTo(listen_fd_, address.get(), address.size());
    sys_.listenOn(listen_fd_, 100);
  }
  ~SimServer() {
    if (listen_fd_ >= 0) sys_.closeFd(listen_fd_);
  }
  SimServer(const SimServer&) = delete;
  SimServer& operator=(const SimServer&) = delete;

  int accept() {
    const int fd = sys_.acceptOn(listen_fd_, nullptr, nullptr);
    return fd < 0 ? -1 : fd;
  }
  void stopListening() {
    sys_.closeFd(listen_fd_);
    listen_fd_ = -1;
  }
  // What has come; "!" behind it where the client has ended its side or is gone.
  std::string read(int fd, size_t most = SIZE_MAX) {
    std::string text;
    std::array<char, 4096> piece{};
    while (text.size() < most) {
      const ssize_t n = sys_.recvFrom(fd, piece.data(), std::min(piece.size(), most - text.size()));
      if (n == -EAGAIN) return text;
      if (n == -EINTR) continue;
      if (n <= 0) return text + "!";
      text.append(piece.data(), static_cast<size_t>(n));
    }
    return text;
  }
  void write(int fd, std::string_view text) { sys_.sendTo(fd, text.data(), text.size(), false); }
  void close(int fd) { sys_.closeFd(fd); }
  void shutdown(int fd) { sys_.shutdownWrite(fd); }
  void reset(int fd) {
    const linger hard{1, 0};
    sys_.setSockOpt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    sys_.closeFd(fd);
  }

 private:
  SimSys& sys_;
  int listen_fd_;
};

}  // namespace roost::test
