#include "http/client/response_parser.h"

namespace roost::http::client {

const char* ResponseParser::errorReason() const noexcept {
  return h1::headErrorText(progress_.error).reason;
}

}  // namespace roost::http::client

namespace roost::http::h1 {

ParseState finishResponseScan(ScanProgress& progress, const char* data, size_t size, const HeadLimits& limits,
                              bool failed) {
  if (progress.error != HeadError::kNone) return ParseState::kError;
  if (failed) {
    progress.error = explainByte(progress, data);
    if (progress.error == HeadError::kNone) progress.error = HeadError::kStatusLine;
  } else if (size >= limits.max_head_bytes) {
    progress.error = HeadError::kHeadLong;
  }
  return progress.error == HeadError::kNone ? ParseState::kNeedMore : ParseState::kError;
}

}  // namespace roost::http::h1
