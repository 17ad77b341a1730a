#include "tools/swarm/head_reader.h"

namespace roost::swarm {
namespace {

// How a response is framed depends on these two only (RFC 9112 section 6.3).
http::Method methodOf(std::string_view name) noexcept {
  return name == "HEAD"      ? http::Method::kHead
         : name == "CONNECT" ? http::Method::kConnect
                             : http::Method::kGet;
}

}  // namespace

HeadReader::HeadReader(std::string_view method) noexcept : method_(methodOf(method)) {}

http::h1::ParseState HeadReader::read(net::Chunk& in) noexcept {
  for (;;) {
    if (in.empty()) return http::h1::ParseState::kNeedMore;
    parser_.reset();
    const http::h1::ParseState state = parser_.parse(in.data(), in.size(), kLimits, head_);
    if (state == http::h1::ParseState::kError) error_ = parser_.errorReason();
    if (state != http::h1::ParseState::kDone) return state;
    framing_ = http::h1::responseFraming(head_, head_.status, method_);
    if (framing_.error_reason != nullptr) {
      error_ = framing_.error_reason;
      return http::h1::ParseState::kError;
    }
    in.consume(head_.size);
    if (!head_.isInterim()) return state;
  }
}

}  // namespace roost::swarm
