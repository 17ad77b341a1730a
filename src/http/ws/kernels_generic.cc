// The loops for any processor, eight bytes at a time, and the choice among all of them.
#include <cstring>

#include "http/ws/mask.h"

namespace roost::http::ws {
namespace {

constexpr uint64_t kHighBits = 0x8080808080808080U;

}  // namespace

bool maskGeneric(char* to, const char* from, size_t size, uint32_t key) noexcept {
  return maskByWords(to, from, size, key);
}

size_t asciiGeneric(const char* data, size_t size) noexcept {
  size_t at = 0;
  for (; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, data + at, sizeof word);
    if ((word & kHighBits) != 0) break;
  }
  while (at < size && static_cast<unsigned char>(data[at]) < 0x80) ++at;
  return at;
}

size_t kernelSets(Kernels (&sets)[kMaxKernels]) noexcept {
  size_t count = 0;
  sets[count++] = {"generic", maskGeneric, asciiGeneric};
#if defined(__x86_64__)
  sets[count++] = {"sse2", maskSse2, asciiSse2};
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) sets[count++] = {"avx2", maskAvx2, asciiAvx2};
#endif
  return count;
}

const Kernels& bestKernels() noexcept {
  static const Kernels best = [] {
    Kernels sets[kMaxKernels];
    const size_t count = kernelSets(sets);
    return sets[count - 1];
  }();
  return best;
}

}  // namespace roost::http::ws
