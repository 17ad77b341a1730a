// The request machine for processors with AVX2 and BMI (the build compiles this file alone for them).
#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>

#include "http/field_table.h"
#include "http/h1/request_scan.h"

namespace roost::http::h1 {
namespace {

inline __m256i load(const char* at) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}
inline uint64_t maskOf(__m256i bytes) noexcept {
  return static_cast<uint32_t>(_mm256_movemask_epi8(bytes));
}

// A byte is a token character if the row of its high half and the column of its low half have a bit in
// common: bit r of a column says that the character in row r + 2 is one. A byte from 0x80 on gets an empty
// column.
inline uint64_t nameEnds(__m256i bytes) noexcept {
  const __m128i row_bits = _mm_setr_epi8(0, 0, 1, 2, 4, 8, 16, 32, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m128i column_bits =
      _mm_setr_epi8(0b111010, 0b111111, 0b111110, 0b111111, 0b111111, 0b111111, 0b111111, 0b111111, 0b111110,
                    0b111110, 0b111101, 0b010101, 0b110100, 0b010101, 0b111101, 0b011100);
  const __m256i rows =
      _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(row_bits),
                          _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15)));
  const __m256i columns = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(column_bits), bytes);
  return maskOf(_mm256_cmpeq_epi8(_mm256_and_si256(rows, columns), _mm256_setzero_si256()));
}

inline uint64_t valueEnds(__m256i bytes) noexcept {
  const __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(0x1f)), bytes);
  return maskOf(_mm256_or_si256(control, _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(0x7f))));
}

inline void classify(const char* block, uint64_t& name, uint64_t& value) noexcept {
  const __m256i low = load(block);
  const __m256i high = load(block + 32);
  name = nameEnds(low) | nameEnds(high) << 32;
  value = valueEnds(low) | valueEnds(high) << 32;
}

inline const char* targetStop(const char* p, const char* end) noexcept {
  for (; p < end; p += 32) {
    const __m256i bytes = load(p);
    const __m256i visible = _mm256_cmpgt_epi8(bytes, _mm256_set1_epi8(0x20));  // signed: nothing from 0x80 on
    const __m256i special =
        _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('?')),
                        _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('#')),
                                        _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(0x7f))));
    const uint64_t stops = maskOf(_mm256_andnot_si256(special, visible)) ^ 0xffffffffU;
    if (stops != 0) return p + __builtin_ctzll(stops);
  }
  return end;
}

}  // namespace
}  // namespace roost::http::h1

#define ROOST_REQUEST_SCAN scanRequestAvx2
#include "http/h1/request_scan.inc"

#endif  // __x86_64__
