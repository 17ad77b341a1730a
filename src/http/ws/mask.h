// Masking of payloads (RFC 6455 section 5.3). Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "http/ws/kernels.h"

namespace roost::http::ws {

// The key for what follows the first `bytes` bytes of a payload that is masked with `key`. Keys are four
// bytes as they lie in memory, whatever the processor's order.
inline uint32_t advanceKey(uint32_t key, size_t bytes) noexcept {
  const unsigned bits = static_cast<unsigned>(bytes & 3) * 8;
  if (bits == 0) return key;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  return key >> bits | key << (32 - bits);
#else
  return key << bits | key >> (32 - bits);
#endif
}

// applyMask(), eight bytes at a time: for short payloads, and where there is nothing wider.
inline bool maskByWords(char* to, const char* from, size_t size, uint32_t key) noexcept {
  const uint64_t wide = uint64_t{key} << 32 | key;
  uint64_t seen = 0;
  size_t at = 0;
  for (; at + sizeof wide <= size; at += sizeof wide) {
    uint64_t word;
    std::memcpy(&word, from + at, sizeof word);
    word ^= wide;
    seen |= word;
    std::memcpy(to + at, &word, sizeof word);
  }
  if ((size & 4) != 0) {
    uint32_t word;
    std::memcpy(&word, from + at, sizeof word);
    word ^= key;
    seen |= word;
    std::memcpy(to + at, &word, sizeof word);
    at += 4;
  }
  char bytes[sizeof key];
  std::memcpy(bytes, &key, sizeof key);
  for (size_t i = 0; at < size; ++at, ++i) {
    to[at] = static_cast<char>(from[at] ^ bytes[i]);
    seen |= static_cast<unsigned char>(to[at]);
  }
  return (seen & 0x8080808080808080U) == 0;
}

// Masks or unmasks: to[i] = from[i] ^ byte i % 4 of the key. `to` may be `from`. Returns whether all that was
// written is ASCII, which saves text another look at it.
inline bool applyMask(char* to, const char* from, size_t size, uint32_t key) noexcept {
  return size >= 64 ? bestKernels().mask(to, from, size, key) : maskByWords(to, from, size, key);
}

}  // namespace roost::http::ws
