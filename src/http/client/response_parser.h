// Parsing the head of an HTTP/1.x response (RFC 9112 sections 4 and 5), strictly.
#pragma once

#include <cstddef>
#include <cstdint>

#include "http/client/received_head.h"
#include "http/h1/head_scan.h"

namespace roost::http::client {

using h1::HeadLimits;
using h1::ParseState;

// A parser for one head after another on one connection, generated from the same field grammar as
// h1::RequestParser. It copies nothing and allocates nothing. Owned by whoever reads the connection; one
// thread.
//
//   ResponseParser parser;
//   ReceivedHead head;
//   switch (parser.parse(data, size, limits, head)) {
//     case kNeedMore: ...                     // call again with the same bytes and more behind them
//     case kError:    ... parser.errorReason() // close the connection
//     case kDone:     parser.reset();          // head.isInterim(): the next head begins at data + head.size
//   }
//   BodyReader body(head, method, body_limits); // body_reader.h takes it from there
//
// As strict as for requests: line ends are CRLF and nothing else, no folded lines, no whitespace before the
// colon, no control characters; HTTP/1.x and three digits of status (100 to 999). The one thing let through
// is a status line that ends behind the status, without the space that RFC 9112 section 4 has there.
class ResponseParser {
 public:
  // The bytes that must be readable (their value does not matter) behind the data given to parse().
  static constexpr size_t kSlack = 64;

  explicit ResponseParser(h1::ResponseScanFn scan = h1::bestHeadMachine().scan_response) noexcept
      : scan_(scan) {}

  // Ready for the next head.
  void reset() noexcept { progress_ = h1::ScanProgress{}; }

  // `data` is the first byte of the head and `size` counts all bytes received of it so far; both may be
  // larger (what follows the head is not touched) and, after kNeedMore, come again with more bytes and at
  // another address. The result does not depend on how the bytes were split, and a mistake is told as soon as
  // it is there. On kDone head.size is where the body or the next head begins. Limits must be the same in
  // every call for one head, and so must `head`, which is filled on the way. After kError nothing more can be
  // read. REQUIRES: reset() since the last kDone or kError; kSlack readable bytes behind data + size.
  ParseState parse(const char* data, size_t size, const HeadLimits& limits, ReceivedHead& head) noexcept {
    return scan_(progress_, data, size, limits, head);
  }

  // After kError: what was wrong; as a short phrase without bytes of the response in it.
  h1::HeadError error() const noexcept { return progress_.error; }
  const char* errorReason() const noexcept;
  // After kError: it was not malformed but beyond the limits.
  bool isTooLarge() const noexcept {
    return progress_.error == h1::HeadError::kHeadLong || progress_.error == h1::HeadError::kFieldCount ||
           progress_.error == h1::HeadError::kFieldLong;
  }

 private:
  h1::ResponseScanFn scan_;
  h1::ScanProgress progress_;
};

}  // namespace roost::http::client
