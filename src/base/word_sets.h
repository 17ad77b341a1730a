#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace roost {

// The memory of a hash table that all threads share: sets of eight 64-bit words, a cache line each, all zero
// at first. A key belongs to one set. Fixed in size; pages that were never written take no memory. Owned by
// the table that gives the words their meaning.
class WordSets {
 public:
  static constexpr size_t kWays = 8;
  struct alignas(64) Set {
    std::array<std::atomic<uint64_t>, kWays> words;
  };

  // Two keys per set when it is full: then only one key in some 8,000 finds its set taken by eight others.
  // Errors: no memory.
  static Result<WordSets> create(uint64_t max_keys);
  WordSets(WordSets&& other) noexcept;
  WordSets& operator=(WordSets&&) = delete;
  ~WordSets();

  // By the upper half of a hash; the lower half is for telling keys of a set apart.
  Set& setOf(uint64_t hash) const noexcept { return sets_[((hash >> 32) * count_) >> 32]; }
  size_t bytes() const noexcept { return count_ * sizeof(Set); }

 private:
  WordSets(Set* sets, uint64_t count) noexcept : sets_(sets), count_(count) {}
  Set* sets_;
  uint64_t count_;
};

}  // namespace roost
