// Hexadecimal digits, read and written. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <cstring>

namespace roost {

constexpr char kUpperHexDigits[] = "0123456789ABCDEF";

// 0 to 15; -1 for what is no hexadecimal digit.
constexpr int hexValue(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Writes eight lower-case digits, all at once: a digit at a time took 20 ns of every request that is logged.
inline void putHex8(char* to, uint32_t value) noexcept {
  char digits[8];
  uint64_t v = 0;
  for (int i = 0; i < 4; ++i)
    v |= uint64_t{value >> (24 - 8 * i) & 0xff} << (16 * i);  // a byte in every second
  v = ((v >> 4) | (v << 8)) & 0x0f0f0f0f0f0f0f0f;  // a digit's value in each, the first in the lowest
  const uint64_t letters = ((v + 0x0606060606060606) >> 4) & 0x0101010101010101;
  v += 0x3030303030303030 + letters * ('a' - '0' - 10);
  for (int i = 0; i < 8; ++i) digits[i] = static_cast<char>(v >> (8 * i));
  std::memcpy(to, digits, sizeof digits);
}

// The same for sixteen.
inline void putHex16(char* to, uint64_t value) noexcept {
  putHex8(to, static_cast<uint32_t>(value >> 32));
  putHex8(to + 8, static_cast<uint32_t>(value));
}

}  // namespace roost
