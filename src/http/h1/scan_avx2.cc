// The machines that read heads, for processors with AVX2 and BMI (the build compiles this file alone for
// them).
#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>

#include "http/h1/head_scan.h"
#include "http/h1/scan_x86.h"

namespace roost::http::h1 {
namespace {

struct Vector {
  static constexpr size_t kBytes = 32;
  static __m256i load(const char* at) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  }
  static __m256i all(char c) noexcept { return _mm256_set1_epi8(c); }
  static __m256i equal(__m256i a, __m256i b) noexcept { return _mm256_cmpeq_epi8(a, b); }
  static __m256i greater(__m256i a, __m256i b) noexcept { return _mm256_cmpgt_epi8(a, b); }
  static __m256i either(__m256i a, __m256i b) noexcept { return _mm256_or_si256(a, b); }
  static __m256i butNot(__m256i a, __m256i b) noexcept { return _mm256_andnot_si256(b, a); }
  static uint64_t mask(__m256i a) noexcept { return static_cast<uint32_t>(_mm256_movemask_epi8(a)); }
};

alignas(32) constexpr uint8_t kRowBits[32] = {0x80, 0x80, 1, 2, 4, 8, 0x10, 0x60, 0, 0, 0, 0, 0, 0, 0, 0,
                                              0x80, 0x80, 1, 2, 4, 8, 0x10, 0x60, 0, 0, 0, 0, 0, 0, 0, 0};
alignas(32) constexpr uint8_t kColumnBits[32] = {
    0xba, 0xbf, 0xbe, 0xbf, 0xbf, 0xbf, 0xbf, 0xbf, 0xbe, 0xbe, 0xbd, 0x95, 0xb4, 0x95, 0xbd, 0xdc,
    0xba, 0xbf, 0xbe, 0xbf, 0xbf, 0xbf, 0xbf, 0xbf, 0xbe, 0xbe, 0xbd, 0x95, 0xb4, 0x95, 0xbd, 0xdc};

// What the row of a byte's high half and the column of its low half have in common, plus 0x40, tells what it
// is. In common are
//   bits 0 to 5  for a token character, one for each row from 0x20 to 0x70,
//   bit 6        for DEL, bit 7 for the rows of control characters,
//   nothing      for other visible characters, and from 0x80 on, where the look-up of the column answers 0.
// So a value ends where the sum is negative, and a name where it is less than 0x41.
class Classifier {
 public:
  Classifier() noexcept
      : rows_(_mm256_load_si256(reinterpret_cast<const __m256i*>(kRowBits))),
        columns_(_mm256_load_si256(reinterpret_cast<const __m256i*>(kColumnBits))),
        half_(_mm256_set1_epi8(15)),
        bias_(_mm256_set1_epi8(0x40)),
        limit_(_mm256_set1_epi8(0x41)) {
    // Hides that they are constants, which the compiler would otherwise make anew for every line.
    asm("" : "+x"(rows_), "+x"(columns_), "+x"(half_), "+x"(bias_), "+x"(limit_));
  }

  void classify(const char* block, uint64_t& name, uint64_t& value) const noexcept {
    const __m256i low = kindOf(Vector::load(block));
    const __m256i high = kindOf(Vector::load(block + 32));
    name = Vector::mask(_mm256_cmpgt_epi8(limit_, low)) | Vector::mask(_mm256_cmpgt_epi8(limit_, high)) << 32;
    value = Vector::mask(low) | Vector::mask(high) << 32;
  }

 private:
  __m256i kindOf(__m256i bytes) const noexcept {
    const __m256i row = _mm256_shuffle_epi8(rows_, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half_));
    const __m256i column = _mm256_shuffle_epi8(columns_, bytes);
    return _mm256_add_epi8(_mm256_and_si256(row, column), bias_);
  }

  __m256i rows_;
  __m256i columns_;
  __m256i half_;
  __m256i bias_;
  __m256i limit_;
};

inline TextMaps textMaps(const char* block, size_t) noexcept {
  return textMapsOf<Vector>(block);
}

inline const char* targetStop(const char* p, const char* end) noexcept {
  return targetStopOf<Vector>(p, end);
}

}  // namespace
}  // namespace roost::http::h1

#include "http/h1/field_scan.h"

#define ROOST_REQUEST_SCAN scanRequestAvx2
#include "http/h1/request_scan.inc"

#define ROOST_RESPONSE_SCAN scanResponseAvx2
#include "http/client/response_scan.inc"

#endif  // __x86_64__
