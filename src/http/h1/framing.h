// Where a message's body ends and whether its connection lives on (RFC 9112 sections 6 and 9.3).
#pragma once

#include <cstdint>
#include <string_view>

#include "http/message.h"

namespace roost::http::h1 {

enum class BodyKind : uint8_t { kNone, kLength, kChunked, kUntilClose };  // the last of responses only

struct FramingResult {
  BodyKind kind = BodyKind::kNone;
  bool keep_alive = true;         // always false beside an error
  bool expects_continue = false;  // and a body is to come
  bool upgrade = false;           // Connection lists "upgrade" (RFC 9110 section 7.8)
  int error_status = 0;           // 0, 400, 417 or 501
  uint64_t content_length = 0;    // of kLength
  const char* error_reason = "";
};

// Reads Host, Content-Length, Transfer-Encoding, Connection and Expect of a parsed head. Whatever two
// recipients could frame differently is refused, beyond what RFC 9112 section 6.3 demands: Content-Length
// beside Transfer-Encoding, Content-Length more than once or as a list even of equal numbers,
// Transfer-Encoding in HTTP/1.0. HTTP/1.1 needs exactly one Host (section 3.2), HTTP/1.0 at most one; its
// value is for parseHost() to judge. Pure; any thread.
FramingResult requestFraming(const RequestHead& head) noexcept;

struct ResponseFraming {
  BodyKind kind = BodyKind::kNone;
  bool keep_alive = true;       // another request may follow; always false beside an error or kUntilClose
  uint16_t keep_alive_s = 0;    // for how many seconds, where the server says so (Keep-Alive: timeout=)
  uint64_t content_length = 0;  // of kLength
  const char* error_reason = nullptr;  // nullptr: none
};

// The same for a response of `status` to `method` (RFC 9112 section 6.3), whose head may be an interim one.
// HEAD, 1xx, 204 and 304 have no body whatever the fields say; a 2xx to CONNECT is a tunnel, and so
// kUntilClose. Refused is what two recipients could frame differently: Content-Length beside
// Transfer-Encoding, differing Content-Lengths (equal ones are one), Transfer-Encoding in HTTP/1.0 or with
// any coding but chunked, once. Pure; any thread.
ResponseFraming responseFraming(const HeadFields& head, int status, Method method) noexcept;

}  // namespace roost::http::h1
