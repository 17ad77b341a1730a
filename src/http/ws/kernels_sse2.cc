// The loops for processors with SSE2, which is every x86-64.
#if defined(__x86_64__)

#include <emmintrin.h>

#include "http/ws/kernels_x86.h"

namespace roost::http::ws {
namespace {

struct Vector {
  using Type = __m128i;
  static constexpr size_t kBytes = sizeof(Type);
  static Type load(const char* at) noexcept { return _mm_loadu_si128(reinterpret_cast<const Type*>(at)); }
  static void store(char* at, Type value) noexcept { _mm_storeu_si128(reinterpret_cast<Type*>(at), value); }
  static Type all(uint32_t key) noexcept { return _mm_set1_epi32(static_cast<int>(key)); }
  static Type none() noexcept { return _mm_setzero_si128(); }
  static Type differ(Type a, Type b) noexcept { return _mm_xor_si128(a, b); }
  static Type either(Type a, Type b) noexcept { return _mm_or_si128(a, b); }
  static unsigned highBits(Type a) noexcept { return static_cast<unsigned>(_mm_movemask_epi8(a)); }
};

}  // namespace

bool maskSse2(char* to, const char* from, size_t size, uint32_t key) noexcept {
  return maskBy<Vector>(to, from, size, key);
}

size_t asciiSse2(const char* data, size_t size) noexcept {
  return asciiBy<Vector>(data, size);
}

}  // namespace roost::http::ws

#endif  // __x86_64__
