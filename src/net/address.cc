#include "net/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace roost::net {

namespace {

constexpr uint8_t kMappedPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr size_t kUnixPathOffset = offsetof(sockaddr_un, sun_path);

size_t copyText(char (&out)[PeerAddr::kMaxText], std::string_view text) noexcept {
  std::memcpy(out, text.data(), text.size());
  return text.size();
}

// inet_pton wants a terminated string, and longer texts than this are no addresses anyway.
bool toBinary(int family, std::string_view text, void* out) noexcept {
  char buffer[INET6_ADDRSTRLEN];
  if (text.empty() || text.size() >= sizeof buffer || text.find('\0') != std::string_view::npos) return false;
  std::memcpy(buffer, text.data(), text.size());
  buffer[text.size()] = '\0';
  return ::inet_pton(family, buffer, out) == 1;
}

// A number, or the name of an interface of this machine. 0: neither.
uint32_t scopeId(std::string_view scope) noexcept {
  uint32_t id = 0;
  const auto [end, ec] = std::from_chars(scope.data(), scope.data() + scope.size(), id);
  if (ec == std::errc{} && end == scope.data() + scope.size()) return id;
  char name[IF_NAMESIZE];
  if (scope.empty() || scope.size() >= sizeof name) return 0;
  std::memcpy(name, scope.data(), scope.size());
  name[scope.size()] = '\0';
  return ::if_nametoindex(name);
}

}  // namespace

PeerAddr PeerAddr::from(const sockaddr* address, socklen_t len) noexcept {
  PeerAddr peer{};
  if (address == nullptr || len < sizeof(sa_family_t)) return peer;
  if (address->sa_family == AF_INET && len >= sizeof(sockaddr_in)) {
    sockaddr_in v4;
    std::memcpy(&v4, address, sizeof v4);
    return fromBytes(AF_INET, &v4.sin_addr, ntohs(v4.sin_port));
  }
  if (address->sa_family == AF_INET6 && len >= sizeof(sockaddr_in6)) {
    sockaddr_in6 v6;
    std::memcpy(&v6, address, sizeof v6);
    return fromBytes(AF_INET6, &v6.sin6_addr, ntohs(v6.sin6_port));
  }
  if (address->sa_family == AF_UNIX) peer.family = AF_UNIX;
  return peer;
}

PeerAddr PeerAddr::fromBytes(uint8_t family, const void* bytes, uint16_t port) noexcept {
  PeerAddr peer{};
  const auto* ip = static_cast<const uint8_t*>(bytes);
  const bool mapped = family == AF_INET6 && std::memcmp(ip, kMappedPrefix, sizeof kMappedPrefix) == 0;
  peer.family = mapped ? uint8_t{AF_INET} : family;
  peer.port = port;
  std::memcpy(peer.ip, mapped ? ip + sizeof kMappedPrefix : ip, peer.family == AF_INET ? 4 : 16);
  return peer;
}

PeerAddr PeerAddr::parse(std::string_view ip, uint16_t port) noexcept {
  const bool v6 = ip.find(':') != std::string_view::npos;
  uint8_t bytes[16];
  if (!toBinary(v6 ? AF_INET6 : AF_INET, ip, bytes)) return {};
  return fromBytes(v6 ? AF_INET6 : AF_INET, bytes, port);
}

size_t PeerAddr::formatIp(char (&out)[kMaxText]) const noexcept {
  if (family == AF_UNIX) return copyText(out, "unix");
  if (family != AF_INET && family != AF_INET6) return copyText(out, "none");
  ::inet_ntop(family, ip, out, sizeof out);
  return std::strlen(out);
}

size_t PeerAddr::format(char (&out)[kMaxText]) const noexcept {
  size_t len = formatIp(out);
  if (family != AF_INET && family != AF_INET6) return len;
  if (family == AF_INET6) {
    std::memmove(out + 1, out, len);
    out[0] = '[';
    out[len + 1] = ']';
    len += 2;
  }
  out[len++] = ':';
  return static_cast<size_t>(std::to_chars(out + len, out + sizeof out, port).ptr - out);
}

std::string PeerAddr::toString() const {
  char text[kMaxText];
  return std::string(text, format(text));
}

bool operator==(const PeerAddr& a, const PeerAddr& b) noexcept {
  return a.family == b.family && a.port == b.port && std::memcmp(a.ip, b.ip, sizeof a.ip) == 0;
}

SocketAddress::SocketAddress(const sockaddr* address, socklen_t len) noexcept
    : len_(std::min<socklen_t>(len, sizeof storage_)) {
  std::memcpy(&storage_, address, len_);
}

SocketAddress::SocketAddress(const PeerAddr& peer) noexcept {
  if (peer.family == AF_INET) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(peer.port);
    std::memcpy(&v4.sin_addr, peer.ip, sizeof v4.sin_addr);
    std::memcpy(&storage_, &v4, sizeof v4);
    len_ = sizeof v4;
  } else if (peer.family == AF_INET6) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(peer.port);
    std::memcpy(&v6.sin6_addr, peer.ip, sizeof v6.sin6_addr);
    std::memcpy(&storage_, &v6, sizeof v6);
    len_ = sizeof v6;
  }
}

Result<SocketAddress> SocketAddress::parseUnix(std::string_view host, std::string_view path) {
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  const bool abstract = !path.empty() && path[0] == '@';
  if (path.size() <= (abstract ? 1u : 0u)) return Status::error(fmt::format("\"{}\": no socket path", host));
  if (path.find('\0') != std::string_view::npos) {
    return Status::error(fmt::format("\"{}\": a NUL in the socket path", host.substr(0, host.find('\0'))));
  }
  if (path.size() >= sizeof un.sun_path) {
    return Status::error(fmt::format("\"{}\": the socket path has {} bytes, the system allows {}", host,
                                     path.size(), sizeof un.sun_path - 1));
  }
  std::memcpy(un.sun_path, path.data(), path.size());
  // An abstract name is exactly its bytes; a path is told to the kernel with its terminating NUL.
  if (abstract) un.sun_path[0] = '\0';
  const size_t len = kUnixPathOffset + path.size() + (abstract ? 0 : 1);
  return SocketAddress(reinterpret_cast<const sockaddr*>(&un), static_cast<socklen_t>(len));
}

Result<SocketAddress> SocketAddress::parseV6(std::string_view host, std::string_view ip, uint16_t port) {
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  const size_t percent = ip.find('%');
  if (!toBinary(AF_INET6, ip.substr(0, percent), &v6.sin6_addr)) {
    return Status::error(fmt::format("\"{}\" is not an IPv6 address", host));
  }
  if (percent != std::string_view::npos) {
    v6.sin6_scope_id = scopeId(ip.substr(percent + 1));
    if (v6.sin6_scope_id == 0) {
      return Status::error(fmt::format("\"{}\": no such network interface", host));
    }
  }
  return SocketAddress(reinterpret_cast<const sockaddr*>(&v6), sizeof v6);
}

Result<SocketAddress> SocketAddress::parse(std::string_view host, uint32_t port) {
  constexpr std::string_view kUnixPrefix = "unix:";
  if (host.empty()) return Status::error("the address is empty");
  if (host.substr(0, kUnixPrefix.size()) == kUnixPrefix) {
    return parseUnix(host, host.substr(kUnixPrefix.size()));
  }
  if (host[0] == '@' || host.find('/') != std::string_view::npos) return parseUnix(host, host);
  if (port > UINT16_MAX) return Status::error(fmt::format("port {} is above 65535", port));
  const uint16_t port16 = static_cast<uint16_t>(port);

  if (host.front() == '[') {
    if (host.back() != ']') return Status::error(fmt::format("\"{}\": no closing bracket", host));
    return parseV6(host, host.substr(1, host.size() - 2), port16);
  }
  if (host.find(':') != std::string_view::npos) return parseV6(host, host, port16);

  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port16);
  if (!toBinary(AF_INET, host, &v4.sin_addr)) {
    return Status::error(
        fmt::format("\"{}\" is not an IP address nor the path of a Unix socket (names are not resolved; "
                    "this machine is 127.0.0.1 or ::1)",
                    host));
  }
  return SocketAddress(reinterpret_cast<const sockaddr*>(&v4), sizeof v4);
}

uint16_t SocketAddress::port() const noexcept {
  if (family() == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(&storage_)->sin_port);
  if (family() == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_port);
  return 0;
}

bool SocketAddress::isAbstract() const noexcept {
  return family() == AF_UNIX && len_ > kUnixPathOffset &&
         reinterpret_cast<const sockaddr_un*>(&storage_)->sun_path[0] == '\0';
}

std::string_view SocketAddress::unixPath() const noexcept {
  if (family() != AF_UNIX || len_ <= kUnixPathOffset) return {};
  const char* path = reinterpret_cast<const sockaddr_un*>(&storage_)->sun_path;
  const size_t room = len_ - kUnixPathOffset;
  if (isAbstract()) return {path + 1, room - 1};
  return {path, ::strnlen(path, room)};
}

std::string SocketAddress::toString() const {
  if (family() == AF_UNIX) {
    return fmt::format("unix:{}{}", isAbstract() ? "@" : "", unixPath());
  }
  if (family() == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage_);
    char ip[INET6_ADDRSTRLEN];
    ::inet_ntop(AF_INET6, &v6->sin6_addr, ip, sizeof ip);
    if (v6->sin6_scope_id == 0) return fmt::format("[{}]:{}", ip, port());
    return fmt::format("[{}%{}]:{}", ip, v6->sin6_scope_id, port());
  }
  return PeerAddr::from(get(), len_).toString();
}

}  // namespace roost::net
