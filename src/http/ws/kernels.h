// The loops over payload bytes, one set for each instruction set. Internal to http/ws: see mask.h and utf8.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace roost::http::ws {

struct Kernels {
  const char* name;
  // to[i] = from[i] ^ byte i % 4 of `key` as it lies in memory; `to` may be `from`. Returns whether all that
  // was written is ASCII.
  bool (*mask)(char* to, const char* from, size_t size, uint32_t key) noexcept;
  // How many bytes of ASCII `data` begins with.
  size_t (*ascii)(const char* data, size_t size) noexcept;
};

bool maskGeneric(char* to, const char* from, size_t size, uint32_t key) noexcept;
size_t asciiGeneric(const char* data, size_t size) noexcept;
#if defined(__x86_64__)
bool maskSse2(char* to, const char* from, size_t size, uint32_t key) noexcept;
size_t asciiSse2(const char* data, size_t size) noexcept;
bool maskAvx2(char* to, const char* from, size_t size, uint32_t key) noexcept;
size_t asciiAvx2(const char* data, size_t size) noexcept;
#endif

// All that this processor can run, the best one last. Returns how many.
constexpr size_t kMaxKernels = 3;
size_t kernelSets(Kernels (&sets)[kMaxKernels]) noexcept;
const Kernels& bestKernels() noexcept;

}  // namespace roost::http::ws
