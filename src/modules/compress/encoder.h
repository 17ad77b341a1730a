#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "http/negotiation.h"

namespace roost::modules::compress {

enum class Flush : uint8_t {
  kNone,  // may keep back what it likes
  kSync,  // all that went in can be decoded by who has all that came out
  kEnd,   // the content is complete
};

// Turns one answer's content into its coded form, piece by piece. Used by one thread at a time, which may
// change between calls; destroyed by any. What gzip and zstd work with is kept for the next answer, a few
// contexts per thread.
class Encoder {
 public:
  virtual ~Encoder() = default;
  // Appends to `out` what comes of `piece`. False where the library gave up (out of memory): the answer
  // cannot be completed.
  virtual bool encode(std::string_view piece, Flush flush, std::string& out) = 0;
};

// `level` as the coding counts them (gzip 1 to 9, br 0 to 11, zstd 1 to 19); `size` is how much content there
// will be, -1: unknown. nullptr where memory is out. REQUIRES: coding is not kIdentity.
std::unique_ptr<Encoder> makeEncoder(http::Coding coding, int level, int64_t size);

// Whether 16 KiB take about a millisecond at most: gzip up to 6, br up to 5, zstd up to 6. The highest levels
// take twenty times as long.
bool isCheap(http::Coding coding, int level) noexcept;

}  // namespace roost::modules::compress
