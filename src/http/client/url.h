// The URLs a client is given, and those it is sent to. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace roost::http::client {

// Where connections go. Two requests with equal origins may share one.
struct Origin {
  std::string host;  // lower case; "[::1]" with brackets; empty for a Unix socket
  uint16_t port = 80;
  std::string unix_path;  // as SocketAddress::parse takes it: "/run/x.sock", "@name"

  // "example.org:80", "unix:/run/x.sock".
  std::string key() const;
  // As a Host field has it: without the port that is the scheme's own (RFC 9112 section 3.2).
  std::string hostField() const;
};
bool operator==(const Origin& a, const Origin& b) noexcept;

struct Url {
  bool is_https = false;
  Origin origin;
  std::string target;  // origin-form: path and query; a fragment is dropped
};

// "http://host[:port][/path][?query][#fragment]", or "unix:/run/x.sock[:/path]" as proxies' configurations
// write it. Refuses https, userinfo and anything else that is no such URL, and says why.
Result<Url> parseUrl(std::string_view text);

// What `reference` means on a page at `base` (RFC 3986 section 5.2): a URL, which may be https,
// "//host/path",
// "/path", "path", "?query". A path is kept as it is sent but for its dot segments.
Result<Url> resolveReference(const Url& base, std::string_view reference);

// Whether it may stand in a request line as origin-form or "*": begins with '/', visible ASCII without '#'.
bool isTarget(std::string_view text) noexcept;

}  // namespace roost::http::client
