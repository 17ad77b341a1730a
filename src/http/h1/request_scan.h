// The seam between the request parser and its state machine, which is compiled once per instruction set.
#pragma once

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

// `limits.max_fields` is within the table and `size` within max_head_bytes; the arrays are those of `head`,
// handed in as pointers so that code built for one instruction set calls no inline function others might
// share.
struct ScanTarget {
  RequestHead* head;
  Field* fields;
  uint8_t* first;
  uint8_t* last;
  uint32_t max_target_bytes;
  uint32_t max_fields;
};

// Runs the machine over data[progress.pos, size); kError leaves the place in progress.pos.
using ScanFn = ParseState (*)(ScanProgress& progress, const char* data, uint32_t size,
                              const ScanTarget& target);

ParseState scanRequestGeneric(ScanProgress&, const char*, uint32_t, const ScanTarget&);
#if defined(__x86_64__)
ParseState scanRequestSse2(ScanProgress&, const char*, uint32_t, const ScanTarget&);
ParseState scanRequestAvx2(ScanProgress&, const char*, uint32_t, const ScanTarget&);
#endif

// The fastest this processor runs. Chosen at start.
ScanFn bestRequestScan() noexcept;

}  // namespace roost::http::h1
