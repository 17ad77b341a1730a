// The seam between the request parser and its state machine, which is compiled once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "http/message.h"

namespace roost::http::h1 {

struct HeadLimits {
  uint32_t max_head_bytes = 32768;  // of the whole head, leading and closing empty lines included
  uint32_t max_target_bytes = 8192;
  uint16_t max_fields = 100;  // field lines; never more than RequestHead::kMaxFields
};

enum class ParseState : uint8_t { kNeedMore, kDone, kError };

// What was being read when the data ended or an error was found.
enum class HeadSection : uint8_t { kMethod, kTarget, kVersion, kFields };

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

// Runs the machine over what `data` and `size` hold beyond progress.pos; RequestParser::parse() says the
// rest.
using ScanFn = ParseState (*)(ScanProgress& progress, const char* data, size_t size, const HeadLimits& limits,
                              RequestHead& head);

// What a machine answers when it is not done: decides between kNeedMore and kError, where `failed` says that
// the grammar has no place for the byte at progress.pos.
ParseState finishRequestScan(ScanProgress& progress, const char* data, size_t size, const HeadLimits& limits,
                             const RequestHead& head, bool failed);

ParseState scanRequestGeneric(ScanProgress&, const char*, size_t, const HeadLimits&, RequestHead&);
#if defined(__x86_64__)
ParseState scanRequestSse2(ScanProgress&, const char*, size_t, const HeadLimits&, RequestHead&);
ParseState scanRequestAvx2(ScanProgress&, const char*, size_t, const HeadLimits&, RequestHead&);
#endif

struct RequestMachine {
  const char* name;
  ScanFn scan;
};

// The machines this processor runs, slowest first; answers their number. For tests and benchmarks.
constexpr size_t kMaxRequestMachines = 3;
size_t requestMachines(RequestMachine (&machines)[kMaxRequestMachines]) noexcept;

// The fastest this processor runs. Chosen at start.
ScanFn bestRequestScan() noexcept;

}  // namespace roost::http::h1
