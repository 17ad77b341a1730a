// The loops for processors with AVX2 (the build compiles this file alone for them).
#if defined(__x86_64__)

#include <immintrin.h>

#include "http/ws/kernels.h"

namespace roost::http::ws {
namespace {

using Vector = __m256i;
constexpr size_t kBytes = sizeof(Vector);

inline Vector load(const char* at) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const Vector*>(at));
}
inline void store(char* at, Vector value) noexcept {
  _mm256_storeu_si256(reinterpret_cast<Vector*>(at), value);
}
inline Vector either(Vector a, Vector b) noexcept {
  return _mm256_or_si256(a, b);
}
inline unsigned highBits(Vector a) noexcept {
  return static_cast<unsigned>(_mm256_movemask_epi8(a));
}

}  // namespace

bool maskAvx2(char* to, const char* from, size_t size, uint32_t key) noexcept {
  const Vector wide = _mm256_set1_epi32(static_cast<int>(key));
  Vector seen = _mm256_setzero_si256();
  size_t at = 0;
  for (; at + 4 * kBytes <= size; at += 4 * kBytes) {
    const Vector a = _mm256_xor_si256(load(from + at), wide);
    const Vector b = _mm256_xor_si256(load(from + at + kBytes), wide);
    const Vector c = _mm256_xor_si256(load(from + at + 2 * kBytes), wide);
    const Vector d = _mm256_xor_si256(load(from + at + 3 * kBytes), wide);
    store(to + at, a);
    store(to + at + kBytes, b);
    store(to + at + 2 * kBytes, c);
    store(to + at + 3 * kBytes, d);
    seen = either(seen, either(either(a, b), either(c, d)));
  }
  for (; at + kBytes <= size; at += kBytes) {
    const Vector a = _mm256_xor_si256(load(from + at), wide);
    store(to + at, a);
    seen = either(seen, a);
  }
  const bool ascii = maskGeneric(to + at, from + at, size - at, key);
  return highBits(seen) == 0 && ascii;
}

size_t asciiAvx2(const char* data, size_t size) noexcept {
  size_t at = 0;
  for (; at + kBytes <= size; at += kBytes) {
    const unsigned high = highBits(load(data + at));
    if (high != 0) return at + static_cast<size_t>(__builtin_ctz(high));
  }
  return at + asciiGeneric(data + at, size - at);
}

}  // namespace roost::http::ws

#endif  // __x86_64__
