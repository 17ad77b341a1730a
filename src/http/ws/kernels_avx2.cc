// The loops for processors with AVX2 (the build compiles this file alone for them).
#if defined(__x86_64__)

#include <immintrin.h>

#include "http/ws/kernels_x86.h"

namespace roost::http::ws {
namespace {

struct Vector {
  using Type = __m256i;
  static constexpr size_t kBytes = sizeof(Type);
  static Type load(const char* at) noexcept { return _mm256_loadu_si256(reinterpret_cast<const Type*>(at)); }
  static void store(char* at, Type value) noexcept {
    _mm256_storeu_si256(reinterpret_cast<Type*>(at), value);
  }
  static Type all(uint32_t key) noexcept { return _mm256_set1_epi32(static_cast<int>(key)); }
  static Type none() noexcept { return _mm256_setzero_si256(); }
  static Type differ(Type a, Type b) noexcept { return _mm256_xor_si256(a, b); }
  static Type either(Type a, Type b) noexcept { return _mm256_or_si256(a, b); }
  static unsigned highBits(Type a) noexcept { return static_cast<unsigned>(_mm256_movemask_epi8(a)); }
};

}  // namespace

bool maskAvx2(char* to, const char* from, size_t size, uint32_t key) noexcept {
  return maskBy<Vector>(to, from, size, key);
}

size_t asciiAvx2(const char* data, size_t size) noexcept {
  return asciiBy<Vector>(data, size);
}

}  // namespace roost::http::ws

#endif  // __x86_64__
