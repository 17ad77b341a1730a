// The authority of a request: the Host field or the authority of the target. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace roost::http {

enum class HostKind : uint8_t {
  kInvalid,
  kEmpty,    // a Host field without a value: right where the target has no authority (RFC 9112 section 3.2)
  kRegName,  // "example.org"
  kIpv4,     // "192.0.2.1"
  kIpv6      // "[2001:db8::1]"
};

struct Authority {
  HostKind kind = HostKind::kInvalid;
  bool has_port = false;  // a port with digits; "host:" is a host without one (RFC 3986 section 3.2.3)
  uint16_t port = 0;
  std::string_view host;  // without port and without the dot that may end a name; brackets of IPv6 kept

  bool ok() const noexcept { return kind != HostKind::kInvalid; }
};

// Longest host: a DNS name has at most 253 characters.
constexpr size_t kMaxHostBytes = 255;

// Reads the value of a Host field (RFC 9110 section 7.2: uri-host [":" port], grammar in RFC 3986
// section 3.2). Stricter than that grammar in three places: no comma (the trace of two Host fields merged
// into one), no IPvFuture address and no zone id (nobody serves them), and a port must be at most 65535.
// Userinfo is never allowed. The views point into `value`.
Authority parseHost(std::string_view value) noexcept;

// Reads the authority of an absolute-form or authority-form target (RFC 9112 section 3.2): the same, but
// never empty. CONNECT needs a port as well: see has_port.
Authority parseAuthority(std::string_view text) noexcept;

// Copies the host in lower case; returns its length. REQUIRES: host.size() <= kMaxHostBytes.
size_t lowerHost(std::string_view host, char (&out)[kMaxHostBytes]) noexcept;

}  // namespace roost::http
