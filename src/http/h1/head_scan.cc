#include "http/h1/head_scan.h"

namespace roost::http::h1 {

size_t headMachines(HeadMachine (&machines)[kMaxHeadMachines]) noexcept {
  size_t count = 0;
  machines[count++] = {"generic", scanRequestGeneric, scanResponseGeneric};
#if defined(__x86_64__)
  machines[count++] = {"sse2", scanRequestSse2, scanResponseSse2};
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")) {
    machines[count++] = {"avx2", scanRequestAvx2, scanResponseAvx2};
  }
#endif
  return count;
}

const HeadMachine& bestHeadMachine() noexcept {
  static const HeadMachine best = [] {
    HeadMachine machines[kMaxHeadMachines];
    return machines[headMachines(machines) - 1];
  }();
  return best;
}

HeadError explainByte(const ScanProgress& progress, const char* data) noexcept {
  const char c = data[progress.pos];
  const char before = progress.pos == 0 ? '\n' : data[progress.pos - 1];
  if (before == '\r') return HeadError::kBareCr;
  if (c == '\n') return HeadError::kBareLf;
  const auto byte = static_cast<unsigned char>(c);
  if ((byte < 0x20 && c != '\t' && c != '\r') || byte == 0x7f) return HeadError::kControl;
  if (progress.section != HeadSection::kFields) return HeadError::kNone;
  if (before == '\n') {
    if (c == ' ' || c == '\t') return HeadError::kFolding;
    return c == ':' ? HeadError::kEmptyName : HeadError::kName;
  }
  if (progress.colon > progress.mark) return HeadError::kValue;
  return c == ' ' || c == '\t' ? HeadError::kSpaceBeforeColon : HeadError::kName;
}

HeadErrorText headErrorText(HeadError error) noexcept {
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
    case HeadError::kStatusLine:
      return {502, "malformed status line"};
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
      return {431, "head too large"};
    case HeadError::kFieldCount:
      return {431, "too many field lines"};
    case HeadError::kFieldLong:
      return {431, "field name too long"};
  }
  return {400, "malformed head"};
}

}  // namespace roost::http::h1
