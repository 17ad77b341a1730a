#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace roost {

// A set of small numbers that knows its lowest one: a bit for each number. Not thread-safe.
//
// lowest() looks from where it last found one, so filling up from below costs O(1) for each number.
class LowestSet {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Makes room for the numbers below `count`, so that insert() allocates nothing. May throw std::bad_alloc.
  void reserve(uint32_t count) {
    if (words_.size() * kBits < count) words_.resize((count + kBits - 1) / kBits, 0);
  }
  // REQUIRES: reserve() has made room for it.
  void insert(uint32_t number) noexcept {
    words_[number / kBits] |= uint64_t{1} << (number % kBits);
    first_ = std::min<size_t>(first_, number / kBits);
  }
  void erase(uint32_t number) noexcept { words_[number / kBits] &= ~(uint64_t{1} << (number % kBits)); }
  uint32_t lowest() noexcept {  // kNone: it is empty
    while (first_ < words_.size() && words_[first_] == 0) ++first_;
    if (first_ == words_.size()) return kNone;
    return static_cast<uint32_t>(first_ * kBits) + static_cast<uint32_t>(__builtin_ctzll(words_[first_]));
  }

 private:
  static constexpr uint32_t kBits = 64;
  std::vector<uint64_t> words_;
  size_t first_ = 0;  // no word before it has a bit
};

}  // namespace roost
