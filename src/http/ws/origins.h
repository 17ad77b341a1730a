#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace roost::http {
struct RequestHead;
}

namespace roost::http::ws {

// From which web pages a WebSocket may be opened (RFC 6455 section 10.2): browsers let every page open one
// anywhere, with the user's cookies, and say in Origin which page it is. Clients that are no browsers send
// none and are let in. Immutable; any thread.
class OriginPolicy {
 public:
  OriginPolicy() noexcept = default;  // "same"
  // Each of `texts` is "same" (the page came from the host and port that the socket goes to), "*" (any page),
  // "null" (pages without an origin) or an origin: "https://example.org". Errors: what no browser would send.
  static Result<OriginPolicy> compile(const std::vector<std::string>& texts);

  bool admits(const RequestHead& head) const noexcept;

 private:
  std::vector<std::string> listed_;
  bool same_ = true;
  bool any_ = false;
};

}  // namespace roost::http::ws
