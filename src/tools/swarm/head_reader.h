#pragma once

#include <string_view>

#include "http/client/body_reader.h"
#include "http/client/response_parser.h"
#include "net/chunk.h"

namespace roost::swarm {

// Reads the heads of responses for all clients of a thread, one after the other: what a head says need not
// outlive the call that read it, so nobody keeps one. A head that comes in pieces is read from its beginning
// again. Owned by a Worker.
class HeadReader {
 public:
  static constexpr http::h1::HeadLimits kLimits{65536, 8192, 128};

  explicit HeadReader(std::string_view method) noexcept;

  // Reads the final response's head at the beginning of `in` and consumes it, and interim ones before it.
  // kNeedMore leaves an incomplete head in `in`.
  http::h1::ParseState read(net::Chunk& in) noexcept;

  // After kDone, and until the next read or the end of the chunk.
  const http::client::ReceivedHead& head() const noexcept { return head_; }
  const http::h1::ResponseFraming& framing() const noexcept { return framing_; }
  // After kError.
  const char* error() const noexcept { return error_; }

 private:
  http::client::ResponseParser parser_;
  http::client::ReceivedHead head_;
  http::h1::ResponseFraming framing_;
  http::Method method_;
  const char* error_ = "";
};

}  // namespace roost::swarm
