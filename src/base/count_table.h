#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "base/word_sets.h"

namespace roost {

// How many of something each key has at the moment, by a keyed hash, over all threads: connections of an
// address, requests under way. A table of fixed size; any thread; no locks, no allocation.
//
// An entry is one word: 44 bits of the key's hash and its count; a count of 0 frees it. Counts are never
// forgotten, so where a set has no room left (more keys at once than `max_keys`, or bad luck with one in
// thousands close to it) a new key is let in without being counted.
class CountTable {
 public:
  static constexpr uint32_t kMost = (1 << 20) - 1;

  // Errors: no memory.
  static Result<std::unique_ptr<CountTable>> create(uint64_t max_keys);

  enum class Entry : uint8_t { kCounted, kUncounted, kRefused };
  // One more, unless the key has `max` already. What is kCounted must leave() again. REQUIRES: max <= kMost.
  Entry enter(uint64_t key_hash, uint32_t max) noexcept;
  void leave(uint64_t key_hash) noexcept;  // REQUIRES: enter() of this key has said kCounted
  // For tests and explanations: it may have changed already.
  uint32_t count(uint64_t key_hash) const noexcept;

  size_t bytes() const noexcept { return sets_.bytes(); }

 private:
  static constexpr unsigned kCountBits = 20;
  static constexpr uint64_t kCountMask = (uint64_t{1} << kCountBits) - 1;

  explicit CountTable(WordSets sets) noexcept : sets_(std::move(sets)) {}
  static uint64_t tagOf(uint64_t key_hash) noexcept;

  WordSets sets_;
};

}  // namespace roost
