#pragma once

#include <cstdint>
#include <string_view>

namespace roost {

// A secret that makes hashes unpredictable to whoever chooses what is hashed.
struct SipKey {
  uint64_t low = 0;
  uint64_t high = 0;

  // From the kernel's generator.
  static SipKey random() noexcept;
};

// SipHash (Aumasson and Bernstein, 2012) of `bytes`: with a secret key nobody outside can find inputs that
// collide. The template's numbers are rounds per word and at the end. Any thread.
template <int kRounds, int kFinalRounds>
uint64_t sipHash(const SipKey& key, std::string_view bytes) noexcept;

// The variant that hash tables use.
inline uint64_t sipHash13(const SipKey& key, std::string_view bytes) noexcept {
  return sipHash<1, 3>(key, bytes);
}

}  // namespace roost
