#include "base/sip_hash.h"

#include <cstring>

#include "base/random.h"

namespace roost {
namespace {

constexpr uint64_t rotateLeft(uint64_t word, int bits) noexcept {
  return (word << bits) | (word >> (64 - bits));
}

struct State {
  uint64_t v0, v1, v2, v3;

  void round() noexcept {
    v0 += v1;
    v1 = rotateLeft(v1, 13) ^ v0;
    v0 = rotateLeft(v0, 32);
    v2 += v3;
    v3 = rotateLeft(v3, 16) ^ v2;
    v0 += v3;
    v3 = rotateLeft(v3, 21) ^ v0;
    v2 += v1;
    v1 = rotateLeft(v1, 17) ^ v2;
    v2 = rotateLeft(v2, 32);
  }
  template <int kRounds>
  void take(uint64_t word) noexcept {
    v3 ^= word;
    for (int i = 0; i < kRounds; ++i) round();
    v0 ^= word;
  }
};

// The first `size` bytes (at most eight) as a little-endian number.
uint64_t littleEndian(const char* bytes, size_t size) noexcept {
  uint64_t word = 0;
  for (size_t i = size; i-- > 0;) word = (word << 8) | static_cast<uint8_t>(bytes[i]);
  return word;
}

}  // namespace

SipKey SipKey::random() noexcept {
  return {randomWord(), randomWord()};
}

template <int kRounds, int kFinalRounds>
uint64_t sipHash(const SipKey& key, std::string_view bytes) noexcept {
  State state{key.low ^ 0x736f6d6570736575U, key.high ^ 0x646f72616e646f6dU, key.low ^ 0x6c7967656e657261U,
              key.high ^ 0x7465646279746573U};
  const uint64_t length = uint64_t{bytes.size()} << 56;
  while (bytes.size() >= 8) {
    state.take<kRounds>(littleEndian(bytes.data(), 8));
    bytes.remove_prefix(8);
  }
  state.take<kRounds>(length | littleEndian(bytes.data(), bytes.size()));
  state.v2 ^= 0xff;
  for (int i = 0; i < kFinalRounds; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

template uint64_t sipHash<1, 3>(const SipKey&, std::string_view) noexcept;
template uint64_t sipHash<2, 4>(const SipKey&, std::string_view) noexcept;

}  // namespace roost
