// The loops for processors with SSE2, which is every x86-64.
#if defined(__x86_64__)

#include <immintrin.h>

#include "http/ws/kernels.h"

namespace roost::http::ws {
namespace {

using Vector = __m128i;
constexpr size_t kBytes = sizeof(Vector);

inline Vector load(const char* at) noexcept {
  return _mm_loadu_si128(reinterpret_cast<const Vector*>(at));
}
inline void store(char* at, Vector value) noexcept {
  _mm_storeu_si128(reinterpret_cast<Vector*>(at), value);
}
inline Vector either(Vector a, Vector b) noexcept {
  return _mm_or_si128(a, b);
}
inline unsigned highBits(Vector a) noexcept {
  return static_cast<unsigned>(_mm_movemask_epi8(a));
}

}  // namespace

bool maskSse2(char* to, const char* from, size_t size, uint32_t key) noexcept {
  const Vector wide = _mm_set1_epi32(static_cast<int>(key));
  Vector seen = _mm_setzero_si128();
  size_t at = 0;
  for (; at + 4 * kBytes <= size; at += 4 * kBytes) {
    const Vector a = _mm_xor_si128(load(from + at), wide);
    const Vector b = _mm_xor_si128(load(from + at + kBytes), wide);
    const Vector c = _mm_xor_si128(load(from + at + 2 * kBytes), wide);
    const Vector d = _mm_xor_si128(load(from + at + 3 * kBytes), wide);
    store(to + at, a);
    store(to + at + kBytes, b);
    store(to + at + 2 * kBytes, c);
    store(to + at + 3 * kBytes, d);
    seen = either(seen, either(either(a, b), either(c, d)));
  }
  for (; at + kBytes <= size; at += kBytes) {
    const Vector a = _mm_xor_si128(load(from + at), wide);
    store(to + at, a);
    seen = either(seen, a);
  }
  const bool ascii = maskGeneric(to + at, from + at, size - at, key);
  return highBits(seen) == 0 && ascii;
}

size_t asciiSse2(const char* data, size_t size) noexcept {
  size_t at = 0;
  for (; at + kBytes <= size; at += kBytes) {
    const unsigned high = highBits(load(data + at));
    if (high != 0) return at + static_cast<size_t>(__builtin_ctz(high));
  }
  return at + asciiGeneric(data + at, size - at);
}

}  // namespace roost::http::ws

#endif  // __x86_64__
