#pragma once

#include <cstddef>
#include <cstdint>

namespace roost {

// A word from the kernel's generator; waits for its entropy, in the first moments of a machine. Any thread.
uint64_t randomWord() noexcept;

// Fills `size` bytes from it, at most 256.
void randomBytes(void* out, std::size_t size) noexcept;

// A bijection of 64 bits that spreads neighbouring numbers all over (splitmix64's): numbers that count up
// become numbers that look random, and never the same twice.
constexpr uint64_t scrambled(uint64_t word) noexcept {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  return word ^ (word >> 31);
}

}  // namespace roost
