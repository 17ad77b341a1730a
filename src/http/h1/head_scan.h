// The seam between the parsers of heads and their state machines, which are compiled once per instruction
// set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "http/message.h"

namespace roost::http::client {
struct ReceivedHead;
}

namespace roost::http::h1 {

struct HeadLimits {
  uint32_t max_head_bytes = 32768;  // of the whole head, leading and closing empty lines included
  uint32_t max_target_bytes = 8192;
  uint16_t max_fields = 100;  // field lines; never more than HeadFields::kMaxFields
};

enum class ParseState : uint8_t { kNeedMore, kDone, kError };

// What was being read when the data ended or an error was found.
enum class HeadSection : uint8_t { kMethod, kTarget, kVersion, kStatusLine, kFields };

enum class HeadError : uint8_t {
  kNone,
  kControl,
  kBareLf,
  kBareCr,
  kMethod,
  kTarget,
  kTargetByte,
  kFragment,
  kAuthority,
  kAsteriskForm,
  kConnectForm,
  kHttp09,
  kVersionSyntax,
  kVersion,
  kStatusLine,
  kFolding,
  kSpaceBeforeColon,
  kEmptyName,
  kName,
  kValue,
  kTargetLong,
  kHeadLong,
  kFieldCount,
  kFieldLong,
};

// Where a scan stopped, for the next to go on from. Offsets count from the head's first byte.
struct ScanProgress {
  static constexpr int32_t kFresh = -1;

  int32_t state = kFresh;  // the machine's
  uint32_t pos = 0;        // the next byte to read
  uint32_t mark = 0;       // where the name of the current field line begins
  uint32_t colon = 0;
  uint32_t value_end = 0;
  HeadSection section = HeadSection::kMethod;
  HeadError error = HeadError::kNone;
};

// A head of which no more has come may wait for more unread; see mayWait() in the grammar.
constexpr size_t kWaitingBytes = 64;

// Of up to 64 bytes, the first in the lowest bit: which are CR, which LF, and which are these, other control
// characters (DEL may be left out) or not ASCII.
struct TextMaps {
  uint64_t odd;
  uint64_t cr;
  uint64_t lf;
};

// Runs the machine over what `data` and `size` hold beyond progress.pos; RequestParser::parse() and
// ResponseParser::parse() say the rest.
using ScanFn = ParseState (*)(ScanProgress& progress, const char* data, size_t size, const HeadLimits& limits,
                              RequestHead& head);
using ResponseScanFn = ParseState (*)(ScanProgress& progress, const char* data, size_t size,
                                      const HeadLimits& limits, client::ReceivedHead& head);

// What a machine answers when it is not done: decides between kNeedMore and kError, where `failed` says that
// the grammar has no place for the byte at progress.pos.
ParseState finishRequestScan(ScanProgress& progress, const char* data, size_t size, const HeadLimits& limits,
                             const RequestHead& head, bool failed);
ParseState finishResponseScan(ScanProgress& progress, const char* data, size_t size, const HeadLimits& limits,
                              bool failed);

// What is wrong with the byte at progress.pos, whatever the first line may be; kNone where that must tell.
HeadError explainByte(const ScanProgress& progress, const char* data) noexcept;

// The status a server answers a faulty request with, and a short phrase without bytes of the head in it.
struct HeadErrorText {
  int status;
  const char* reason;
};
HeadErrorText headErrorText(HeadError error) noexcept;

ParseState scanRequestGeneric(ScanProgress&, const char*, size_t, const HeadLimits&, RequestHead&);
ParseState scanResponseGeneric(ScanProgress&, const char*, size_t, const HeadLimits&, client::ReceivedHead&);
#if defined(__x86_64__)
ParseState scanRequestSse2(ScanProgress&, const char*, size_t, const HeadLimits&, RequestHead&);
ParseState scanResponseSse2(ScanProgress&, const char*, size_t, const HeadLimits&, client::ReceivedHead&);
ParseState scanRequestAvx2(ScanProgress&, const char*, size_t, const HeadLimits&, RequestHead&);
ParseState scanResponseAvx2(ScanProgress&, const char*, size_t, const HeadLimits&, client::ReceivedHead&);
#endif

struct HeadMachine {
  const char* name;
  ScanFn scan;
  ResponseScanFn scan_response;
};

// The machines this processor runs, slowest first; answers their number. For tests and benchmarks.
constexpr size_t kMaxHeadMachines = 3;
size_t headMachines(HeadMachine (&machines)[kMaxHeadMachines]) noexcept;

// The fastest this processor runs. Chosen at start.
const HeadMachine& bestHeadMachine() noexcept;

}  // namespace roost::http::h1
