#include "http/h1/request_parser.h"

namespace roost::http::h1 {
namespace {

HeadError explainRequestLine(HeadSection section, const RequestHead& head, char c) noexcept {
  if (section == HeadSection::kVersion) return HeadError::kVersionSyntax;
  if (section == HeadSection::kMethod) return HeadError::kMethod;
  if (c == '\r') return HeadError::kHttp09;
  if (c == '#') return HeadError::kFragment;
  if (head.method == Method::kConnect) return HeadError::kConnectForm;
  if (static_cast<unsigned char>(c) >= 0x80) return HeadError::kTargetByte;
  return head.authority.off != 0 && head.authority.len == 0 ? HeadError::kAuthority : HeadError::kTarget;
}

}  // namespace

ParseState finishRequestScan(ScanProgress& progress, const char* data, size_t size, const HeadLimits& limits,
                             const RequestHead& head, bool failed) {
  if (progress.error != HeadError::kNone) return ParseState::kError;
  // Whether a target is too long is settled before what else is wrong with it, however it was split.
  const bool in_target = progress.section == HeadSection::kTarget;
  if (in_target && progress.pos - head.target.off > limits.max_target_bytes) {
    progress.error = HeadError::kTargetLong;
  } else if (failed) {
    progress.error = explainByte(progress, data);
    if (progress.error == HeadError::kNone) {
      progress.error = explainRequestLine(progress.section, head, data[progress.pos]);
    }
  } else if (size >= limits.max_head_bytes) {
    progress.error = HeadError::kHeadLong;
  }
  return progress.error == HeadError::kNone ? ParseState::kNeedMore : ParseState::kError;
}

int RequestParser::errorStatus() const noexcept {
  return headErrorText(progress_.error).status;
}

const char* RequestParser::errorReason() const noexcept {
  return headErrorText(progress_.error).reason;
}

}  // namespace roost::http::h1
