// Addresses: the 20 bytes a connection keeps of its peer, and the form the kernel wants for bind and connect.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace roost::net {

// The other end of a connection. A plain value, copied freely by any thread. An IPv4 address that came mapped
// into IPv6 (::ffff:a.b.c.d, from a dual-stack listener) is kept as IPv4, so that one rule matches it either
// way. Scope ids are not kept.
struct PeerAddr {
  uint8_t family;  // 0: none, AF_INET, AF_INET6, AF_UNIX
  uint8_t pad;
  uint16_t port;   // host byte order; 0 for AF_UNIX
  uint8_t ip[16];  // network byte order; IPv4 in the first four bytes, the rest 0

  // Anything that is not IPv4, IPv6 or Unix, and anything too short, gives family 0.
  static PeerAddr from(const sockaddr* address, socklen_t len) noexcept;
  // From its bytes in network order, 4 for AF_INET, 16 for AF_INET6; a mapped address gives IPv4.
  static PeerAddr fromBytes(uint8_t family, const void* bytes, uint16_t port) noexcept;
  // "192.0.2.1" or "2001:db8::1", without brackets, port or scope id. Anything else gives family 0.
  static PeerAddr parse(std::string_view ip, uint16_t port = 0) noexcept;

  // Longest text: "[" 39 digits and colons "]:" 5 digits.
  static constexpr size_t kMaxText = 48;
  // Writes "1.2.3.4:80", "[::1]:80", "unix" or "none" without a terminating NUL; returns its length.
  size_t format(char (&out)[kMaxText]) const noexcept;
  // The same without port and brackets, as logs and X-Forwarded-For want it.
  size_t formatIp(char (&out)[kMaxText]) const noexcept;
  std::string toString() const;
};
static_assert(sizeof(PeerAddr) == 20, "part of the connection's budget");

bool operator==(const PeerAddr& a, const PeerAddr& b) noexcept;
inline bool operator!=(const PeerAddr& a, const PeerAddr& b) noexcept {
  return !(a == b);
}

// An address to bind or connect to. A plain value; made when the configuration is read, on the main thread.
class SocketAddress {
 public:
  SocketAddress() noexcept = default;  // family AF_UNSPEC
  SocketAddress(const sockaddr* address, socklen_t len) noexcept;
  // Of an IPv4 or IPv6 address; any other family gives AF_UNSPEC.
  explicit SocketAddress(const PeerAddr& peer) noexcept;

  // `host` is an IPv4 address, an IPv6 address with or without brackets and with or without a scope id
  // ("fe80::1%eth0", "fe80::1%2"), a path of a Unix socket ("/run/x.sock", "./x.sock", "unix:x.sock"), or
  // "@name"
  // ("unix:@name") for an abstract one. Names are not resolved. `port` 0 to 65535; a Unix socket ignores it.
  // Errors say what was wrong with which text.
  static Result<SocketAddress> parse(std::string_view host, uint32_t port);

  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const noexcept { return len_; }
  int family() const noexcept { return storage_.ss_family; }
  uint16_t port() const noexcept;              // 0 where there is none
  bool isAbstract() const noexcept;            // a Unix socket without a file
  std::string_view unixPath() const noexcept;  // without the leading NUL of an abstract name; "" if not Unix

  // "1.2.3.4:80", "[::1]:80", "[fe80::1%2]:80", "unix:/run/x.sock", "unix:@name".
  std::string toString() const;

 private:
  static Result<SocketAddress> parseUnix(std::string_view host, std::string_view path);
  static Result<SocketAddress> parseV6(std::string_view host, std::string_view ip, uint16_t port);

  sockaddr_storage storage_{};
  socklen_t len_ = sizeof(sa_family_t);
};

}  // namespace roost::net
