#include "http/h1/request_parser.h"

namespace roost::http::h1 {
namespace {

struct ErrorText {
  int status;
  const char* reason;
};

ErrorText textOf(HeadError error) noexcept {
  switch (error) {
    case HeadError::kNone:
      break;
    case HeadError::kControl:
      return {400, "control character in the head"};
    case HeadError::kBareLf:
      return {400, "line feed without carriage return"};
    case HeadError::kBareCr:
      return {400, "carriage return without line feed"};
    case HeadError::kMethod:
      return {400, "malformed method"};
    case HeadError::kTarget:
      return {400, "malformed request target"};
    case HeadError::kTargetByte:
      return {400, "character not allowed in a request target"};
    case HeadError::kFragment:
      return {400, "fragment in the request target"};
    case HeadError::kAuthority:
      return {400, "malformed authority in the request target"};
    case HeadError::kAsteriskForm:
      return {400, "target * is for OPTIONS only"};
    case HeadError::kConnectForm:
      return {400, "CONNECT needs host:port as its target"};
    case HeadError::kHttp09:
      return {400, "request line without HTTP version"};
    case HeadError::kVersionSyntax:
      return {400, "malformed HTTP version"};
    case HeadError::kVersion:
      return {505, "HTTP version not supported"};
    case HeadError::kFolding:
      return {400, "line begins with whitespace"};
    case HeadError::kSpaceBeforeColon:
      return {400, "whitespace in or after a field name"};
    case HeadError::kEmptyName:
      return {400, "field without a name"};
    case HeadError::kName:
      return {400, "malformed field name"};
    case HeadError::kValue:
      return {400, "control character in a field value"};
    case HeadError::kTargetLong:
      return {414, "request target too long"};
    case HeadError::kHeadLong:
      return {431, "request head too large"};
    case HeadError::kFieldCount:
      return {431, "too many field lines"};
    case HeadError::kFieldLong:
      return {431, "field name too long"};
  }
  return {400, "malformed request"};
}

HeadError explainRequestLine(HeadSection section, const RequestHead& head, char c) noexcept {
  if (section == HeadSection::kVersion) return HeadError::kVersionSyntax;
  if (section == HeadSection::kMethod) return HeadError::kMethod;
  if (c == '\r') return HeadError::kHttp09;
  if (c == '#') return HeadError::kFragment;
  if (head.method == Method::kConnect) return HeadError::kConnectForm;
  if (static_cast<unsigned char>(c) >= 0x80) return HeadError::kTargetByte;
  return head.authority.off != 0 && head.authority.len == 0 ? HeadError::kAuthority : HeadError::kTarget;
}

// What is wrong with the byte at progress.pos, which the grammar has no place for.
HeadError explain(const ScanProgress& progress, const char* data, const RequestHead& head) noexcept {
  const char c = data[progress.pos];
  const char before = progress.pos == 0 ? '\n' : data[progress.pos - 1];
  if (before == '\r') return HeadError::kBareCr;
  if (c == '\n') return HeadError::kBareLf;
  const auto byte = static_cast<unsigned char>(c);
  if ((byte < 0x20 && c != '\t' && c != '\r') || byte == 0x7f) return HeadError::kControl;
  if (progress.section != HeadSection::kFields) return explainRequestLine(progress.section, head, c);
  if (before == '\n') {
    if (c == ' ' || c == '\t') return HeadError::kFolding;
    return c == ':' ? HeadError::kEmptyName : HeadError::kName;
  }
  if (progress.colon > progress.mark) return HeadError::kValue;
  return c == ' ' || c == '\t' ? HeadError::kSpaceBeforeColon : HeadError::kName;
}

}  // namespace

size_t requestMachines(RequestMachine (&machines)[kMaxRequestMachines]) noexcept {
  size_t count = 0;
  machines[count++] = {"generic", scanRequestGeneric};
#if defined(__x86_64__)
  machines[count++] = {"sse2", scanRequestSse2};
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")) {
    machines[count++] = {"avx2", scanRequestAvx2};
  }
#endif
  return count;
}

ScanFn bestRequestScan() noexcept {
  static const ScanFn best = [] {
    RequestMachine machines[kMaxRequestMachines];
    return machines[requestMachines(machines) - 1].scan;
  }();
  return best;
}

ParseState finishRequestScan(ScanProgress& progress, const char* data, size_t size, const HeadLimits& limits,
                             const RequestHead& head, bool failed) {
  if (progress.error != HeadError::kNone) return ParseState::kError;
  // Whether a target is too long is settled before what else is wrong with it, however it was split.
  const bool in_target = progress.section == HeadSection::kTarget;
  if (in_target && progress.pos - head.target.off > limits.max_target_bytes) {
    progress.error = HeadError::kTargetLong;
  } else if (failed) {
    progress.error = explain(progress, data, head);
  } else if (size >= limits.max_head_bytes) {
    progress.error = HeadError::kHeadLong;
  }
  return progress.error == HeadError::kNone ? ParseState::kNeedMore : ParseState::kError;
}

int RequestParser::errorStatus() const noexcept {
  return textOf(progress_.error).status;
}

const char* RequestParser::errorReason() const noexcept {
  return textOf(progress_.error).reason;
}

}  // namespace roost::http::h1
