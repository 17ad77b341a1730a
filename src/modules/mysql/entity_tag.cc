#include "modules/mysql/entity_tag.h"

#include <cstring>

namespace roost::modules::mysql {
namespace {

uint64_t wordAt(const char* at) noexcept {
  uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// The two halves of the product, folded together: every bit of either factor reaches every bit.
uint64_t fold(uint64_t a, uint64_t b) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Odd numbers without a pattern: the digits of pi and e.
constexpr uint64_t kFirst = 0x243f6a8885a308d3;
constexpr uint64_t kSecond = 0x13198a2e03707345;
constexpr uint64_t kThird = 0xb7e151628aed2a6b;

}  // namespace

uint64_t contentHash(std::string_view bytes, uint64_t seed) noexcept {
  const char* at = bytes.data();
  size_t left = bytes.size();
  uint64_t a = seed ^ kFirst;
  uint64_t b = seed ^ kThird;
  for (; left >= 32; left -= 32, at += 32) {  // two chains, which do not wait for each other
    a = fold(wordAt(at) ^ kSecond, wordAt(at + 8) ^ a);
    b = fold(wordAt(at + 16) ^ kFirst, wordAt(at + 24) ^ b);
  }
  char last[32] = {};
  if (left != 0) std::memcpy(last, at, left);
  a = fold(wordAt(last) ^ kSecond, wordAt(last + 8) ^ a);
  b = fold(wordAt(last + 16) ^ kFirst, wordAt(last + 24) ^ b);
  return fold(a ^ kThird, b ^ bytes.size());
}

std::string entityTag(uint64_t hash, bool of_version, std::string_view suffix) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string tag;
  tag.reserve(24);
  tag += '"';
  if (of_version) tag += 'v';
  for (int shift = 60; shift >= 0; shift -= 4) tag += kHex[hash >> shift & 15];
  tag.append(suffix);
  tag += '"';
  return tag;
}

std::string_view tagStem(std::string_view opaque) noexcept {
  return opaque.substr(0, opaque.find('-'));
}

}  // namespace roost::modules::mysql
