// Parsing the head of an HTTP/1.x request (RFC 9112 sections 2 to 5), strictly.
#pragma once

#include <cstddef>
#include <cstdint>

#include "http/h1/head_scan.h"
#include "http/message.h"

namespace roost::http::h1 {

// A parser for one head after another on one connection. It copies nothing and allocates nothing: the
// RequestHead it fills refers to the caller's buffer by offsets. Owned by the session; loop thread only.
//
// Strict where laxness lets two readers of one request disagree: line ends are CRLF and nothing else, no
// folded lines, no whitespace before the colon, no empty names, no control characters but HTAB in values, one
// space between the parts of the request line. A target is visible ASCII without '#'. Up to four empty lines
// before the request line are skipped (RFC 9112 section 2.2).
class RequestParser {
 public:
  // The bytes that must be readable (their value does not matter) behind the data given to parse().
  static constexpr size_t kSlack = 64;

  explicit RequestParser(ScanFn scan = bestHeadMachine().scan) noexcept : scan_(scan) {}

  // Ready for the next head.
  void reset() noexcept { progress_ = ScanProgress{}; }

  // `data` is the first byte of the head and `size` counts all bytes received of it so far; both may be
  // larger (what follows the head is not touched) and, after kNeedMore, come again with more bytes and at
  // another address. The result does not depend on how the bytes were split. Mistakes are told as soon as
  // they are there, those in the first 64 bytes at the latest with the next byte or the head's end; what is
  // no text or no HTTP/1.1 at all is told at once. On kDone head.size is where the next message or the body
  // begins. Limits must be the same in every call for one head, and so must `head`, which is filled on the
  // way. After kError the connection cannot be used any further: where the next request begins is unknown.
  // REQUIRES: reset() since the last kDone or kError; kSlack readable bytes behind data + size.
  ParseState parse(const char* data, size_t size, const HeadLimits& limits, RequestHead& head) noexcept {
    return scan_(progress_, data, size, limits, head);
  }

  // After kError: 400, 414 (target too long), 431 (too many or too long fields) or 505 (not HTTP/1.x).
  int errorStatus() const noexcept;
  // After kError: what was wrong, a short phrase without bytes of the request in it.
  const char* errorReason() const noexcept;

 private:
  ScanFn scan_;
  ScanProgress progress_;
};

}  // namespace roost::http::h1
