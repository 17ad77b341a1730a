#include "base/count_table.h"

#include <utility>

namespace roost {

Result<std::unique_ptr<CountTable>> CountTable::create(uint64_t max_keys) {
  auto sets = WordSets::create(max_keys);
  if (!sets.ok()) return sets.status();
  return std::unique_ptr<CountTable>(new CountTable(std::move(sets).value()));
}

uint64_t CountTable::tagOf(uint64_t key_hash) noexcept {
  const uint64_t tag = key_hash << kCountBits;
  return tag != 0 ? tag : uint64_t{1} << kCountBits;
}

// Two threads that see a new key at the same moment may take two places for it. Whoever finds a second one
// right after taking its own gives its own up and starts over; sequentially consistent, so that one of them
// does.
CountTable::Entry CountTable::enter(uint64_t key_hash, uint32_t max) noexcept {
  WordSets::Set& set = sets_.setOf(key_hash);
  const uint64_t tag = tagOf(key_hash);
  for (;;) {
    std::atomic<uint64_t>* own = nullptr;
    std::atomic<uint64_t>* free = nullptr;
    uint64_t word = 0;
    uint64_t total = 0;
    for (std::atomic<uint64_t>& entry : set.words) {
      const uint64_t seen = entry.load();
      if ((seen & ~kCountMask) == tag) {
        total += seen & kCountMask;
        own = &entry;
        word = seen;
      } else if (seen == 0 && free == nullptr) {
        free = &entry;
      }
    }
    if (total >= max) return Entry::kRefused;
    if (own != nullptr) {
      if (own->compare_exchange_strong(word, word + 1)) return Entry::kCounted;
      continue;
    }
    if (free == nullptr) return Entry::kUncounted;
    uint64_t nothing = 0;
    if (!free->compare_exchange_strong(nothing, tag | 1)) continue;
    bool twice = false;
    for (std::atomic<uint64_t>& entry : set.words) {
      twice = twice || (&entry != free && (entry.load() & ~kCountMask) == tag);
    }
    if (!twice) return Entry::kCounted;
    leave(key_hash);
  }
}

// Whichever entry of the key: only the sum counts. While one entry is being given up for another, a look at
// the set may miss both.
void CountTable::leave(uint64_t key_hash) noexcept {
  constexpr int kLooks = 64;
  WordSets::Set& set = sets_.setOf(key_hash);
  const uint64_t tag = tagOf(key_hash);
  for (int look = 0; look < kLooks; ++look) {
    for (std::atomic<uint64_t>& entry : set.words) {
      uint64_t word = entry.load();
      while ((word & ~kCountMask) == tag) {
        if (entry.compare_exchange_weak(word, (word & kCountMask) == 1 ? 0 : word - 1)) return;
      }
    }
  }
}

uint32_t CountTable::count(uint64_t key_hash) const noexcept {
  const uint64_t tag = tagOf(key_hash);
  uint64_t total = 0;
  for (const std::atomic<uint64_t>& entry : sets_.setOf(key_hash).words) {
    const uint64_t word = entry.load();
    if ((word & ~kCountMask) == tag) total += word & kCountMask;
  }
  return static_cast<uint32_t>(total);
}

}  // namespace roost
