// Which web pages may change something here. Browsers let every page send a POST or open a WebSocket to any
// server, with the user's cookies and password, and say in Origin and Sec-Fetch-Site where the page is from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "http/origins.h"

namespace roost::http {

class Exchange;
struct RequestHead;

// Why a page may not.
enum class OriginFault : uint8_t {
  kNone,         // it may
  kForeign,      // its origin is neither the route's own nor named
  kOpaque,       // its origin is "null": a sandboxed or local document, which anybody can make
  kRepeated,     // more than one Origin field
  kUnnamed,      // Sec-Fetch-Site says that it is another site's, and no Origin field names it
  kCredentials,  // cors has "*", which does not count for what a browser sends with a password or a cookie
};
constexpr size_t kOriginFaults = 6;
// "foreign": the label of the metric; empty for kNone.
std::string_view faultName(OriginFault fault) noexcept;

// Decides by a request's fields, in this order:
//
// 1. Sec-Fetch-Site "none" (the user did it) passes, and "same-origin", whatever Host a proxy has written.
// 2. No Origin passes, unless Sec-Fetch-Site says that it is a page of another origin: programs send neither.
// 3. An origin that is listed passes, or that the route's `cors` names.
// 4. Without Sec-Fetch-Site, an origin passes that is the one which Host names.
//
// Immutable; any thread.
class OriginPolicy {
 public:
  OriginPolicy() noexcept = default;  // "same"
  // Each of `texts` is "same" (the page came from the host and port that the request goes to) or what
  // OriginSet::compile takes. Errors: what no browser would send.
  static Result<OriginPolicy> compile(const std::vector<std::string>& texts);

  // `cors` may be nullptr.
  OriginFault judge(const RequestHead& head, const OriginSet* cors) const noexcept;

 private:
  OriginSet listed_;
  bool same_ = true;
};

// For every handler that changes something, before it does: empty where the request may, or a sentence for
// the body of its 403, which says whose page it was and which key lets it in. Then it is counted and logged.
// Any loop's thread. REQUIRES: the exchange is not parked.
std::string refusedOrigin(const Exchange& exchange);
// The same for a WebSocket, whose route has `origins`.
std::string refusedOrigin(const Exchange& exchange, const OriginPolicy& origins);

}  // namespace roost::http
