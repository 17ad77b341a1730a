#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace roost::http {

// A hash table from a text and a number beside it to a number, with the texts in one piece. Filled once, then
// only asked: a look-up allocates nothing and touches one or two cache lines. Nobody from outside can choose
// what is in it, so that its chains are as long as they are. Any thread may ask.
class TextTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // What is there already stays, and is returned.
  uint32_t insert(uint32_t beside, std::string_view text, uint32_t value) {
    if (slots_.size() < 2 * (used_ + 1)) grow();
    const uint32_t hash = hashOf(beside, text);
    Slot& slot = slots_[indexOf(hash, beside, text)];
    if (slot.value != kNone) return slot.value;
    slot = {hash, beside, static_cast<uint32_t>(texts_.size()), static_cast<uint32_t>(text.size()), value};
    texts_ += text;
    ++used_;
    return value;
  }
  bool empty() const noexcept { return used_ == 0; }
  // kNone: not there.
  uint32_t find(uint32_t beside, std::string_view text) const noexcept {
    if (used_ == 0) return kNone;
    return slots_[indexOf(hashOf(beside, text), beside, text)].value;
  }

 private:
  struct Slot {
    uint32_t hash;
    uint32_t beside;
    uint32_t off;
    uint32_t len;
    uint32_t value;
  };

  static uint64_t mix(uint64_t h) noexcept {
    h *= 0x9e3779b97f4a7c15u;
    return h ^ (h >> 32);
  }
  static uint32_t hashOf(uint32_t beside, std::string_view text) noexcept {
    uint64_t hash = mix((uint64_t{beside} << 32) ^ text.size());
    const char* at = text.data();
    size_t left = text.size();
    uint64_t word = 0;
    for (; left >= sizeof word; left -= sizeof word, at += sizeof word) {
      std::memcpy(&word, at, sizeof word);
      hash = mix(hash ^ word);
    }
    word = 0;
    if (left > 0) std::memcpy(&word, at, left);
    return static_cast<uint32_t>(mix(hash ^ word));
  }
  // The slot of it, or the free one where it would be.
  size_t indexOf(uint32_t hash, uint32_t beside, std::string_view text) const noexcept {
    const size_t mask = slots_.size() - 1;
    size_t i = hash & mask;
    for (; slots_[i].value != kNone; i = (i + 1) & mask) {
      const Slot& slot = slots_[i];
      if (slot.hash != hash || slot.beside != beside || slot.len != text.size()) continue;
      if (texts_.compare(slot.off, slot.len, text) == 0) break;
    }
    return i;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 8 : 2 * slots_.size(), Slot{0, 0, 0, 0, kNone});
    old.swap(slots_);
    const size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.value == kNone) continue;
      size_t i = slot.hash & mask;
      while (slots_[i].value != kNone) i = (i + 1) & mask;
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most half of them used
  std::string texts_;
  size_t used_ = 0;
};

}  // namespace roost::http
