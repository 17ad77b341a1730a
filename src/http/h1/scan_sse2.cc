// The machines that read heads, for x86-64 as every processor of that kind has it.
#if defined(__x86_64__)

#include <emmintrin.h>

#include <cstring>

#include "http/h1/head_scan.h"
#include "http/h1/scan_x86.h"

namespace roost::http::h1 {
namespace {

struct Vector {
  static constexpr size_t kBytes = 16;
  static __m128i load(const char* at) noexcept {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  }
  static __m128i all(char c) noexcept { return _mm_set1_epi8(c); }
  static __m128i equal(__m128i a, __m128i b) noexcept { return _mm_cmpeq_epi8(a, b); }
  static __m128i greater(__m128i a, __m128i b) noexcept { return _mm_cmpgt_epi8(a, b); }
  static __m128i either(__m128i a, __m128i b) noexcept { return _mm_or_si128(a, b); }
  static __m128i butNot(__m128i a, __m128i b) noexcept { return _mm_andnot_si128(b, a); }
  static uint64_t mask(__m128i a) noexcept { return static_cast<uint32_t>(_mm_movemask_epi8(a)); }
};

// Whether a byte lies in [low, low + count), by moving the range to the bottom of the signed bytes.
inline __m128i inRange(__m128i bytes, int low, int count) noexcept {
  const __m128i moved = _mm_add_epi8(bytes, _mm_set1_epi8(static_cast<char>(-128 - low)));
  return _mm_cmplt_epi8(moved, _mm_set1_epi8(static_cast<char>(-128 + count)));
}

// A name ends at all but letters, digits and '-': rarer token characters are left to the machine.
inline uint64_t nameEnds(__m128i bytes) noexcept {
  const __m128i letter = inRange(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 26);
  const __m128i digit = inRange(bytes, '0', 10);
  const __m128i dash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('-'));
  return Vector::mask(_mm_or_si128(_mm_or_si128(letter, digit), dash)) ^ 0xffff;
}

inline uint64_t valueEnds(__m128i bytes) noexcept {
  const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
  return Vector::mask(_mm_or_si128(control, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f))));
}

struct Classifier {
  void classify(const char* block, uint64_t& name, uint64_t& value) const noexcept {
    const __m128i a = Vector::load(block);
    const __m128i b = Vector::load(block + 16);
    const __m128i c = Vector::load(block + 32);
    const __m128i d = Vector::load(block + 48);
    name = nameEnds(a) | nameEnds(b) << 16 | nameEnds(c) << 32 | nameEnds(d) << 48;
    value = valueEnds(a) | valueEnds(b) << 16 | valueEnds(c) << 32 | valueEnds(d) << 48;
  }
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

#define ROOST_REQUEST_SCAN scanRequestSse2
#include "http/h1/request_scan.inc"

#define ROOST_RESPONSE_SCAN scanResponseSse2
#include "http/client/response_scan.inc"

#endif  // __x86_64__
