#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace roost {

// Objects of one type at stable addresses, named by {slot, generation}: a name outlives its object safely,
// because the generation changes when a slot is emptied. Grows by blocks and never gives memory back, so that
// an object costs its own size and nothing else. Owned by one loop and used on its thread only.
//
// T, of at least 4 bytes, is built in place by emplace(slot, args...) and learns its slot that way.
template <class T, size_t kBlock = 128>
class Slab {
 public:
  Slab() = default;
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;
  ~Slab() {
    for (uint32_t slot = 0; slot < slots_; ++slot) {
      if (cell(slot).live) cell(slot).object().~T();
    }
  }

  // A new object, T(slot, args...).
  template <class... Args>
  T& emplace(Args&&... args) {
    if (free_ == kNone) grow();
    const uint32_t slot = free_;
    Cell& home = cell(slot);
    free_ = home.nextFree();
    home.live = 1;
    ++size_;
    return *new (home.storage) T(slot, std::forward<Args>(args)...);
  }
  // REQUIRES: the slot holds an object.
  void erase(uint32_t slot) noexcept {
    Cell& home = cell(slot);
    home.object().~T();
    home.live = 0;
    ++home.generation;
    home.setNextFree(free_);
    free_ = slot;
    --size_;
  }
  // The object of this name, nullptr when it is gone.
  T* find(uint32_t slot, uint32_t generation) noexcept {
    if (slot >= slots_) return nullptr;
    Cell& home = cell(slot);
    return home.live && home.generation == (generation & kGenerationMask) ? &home.object() : nullptr;
  }
  // REQUIRES: the object lies in a slab of this type.
  static uint32_t slotOf(const T& object) noexcept {
    return std::launder(reinterpret_cast<const Cell*>(&object))->slot;
  }
  uint32_t generation(uint32_t slot) const noexcept { return cell(slot).generation; }
  size_t size() const noexcept { return size_; }
  // Calls fn(T&) for every object; fn may erase the one it was given.
  template <class Fn>
  void forEach(Fn&& fn) {
    for (uint32_t slot = 0; slot < slots_; ++slot) {
      if (cell(slot).live) fn(cell(slot).object());
    }
  }
  // The same for those in `most` slots from `first` on. Returns where to go on, 0 after the last.
  template <class Fn>
  uint32_t forEachFrom(uint32_t first, uint32_t most, Fn&& fn) {
    const uint32_t end = slots_ - std::min(first, slots_) > most ? first + most : slots_;
    for (uint32_t slot = first; slot < end; ++slot) {
      if (cell(slot).live) fn(cell(slot).object());
    }
    return end < slots_ ? end : 0;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kGenerationMask = 0x7fffffff;
  struct Cell {
    alignas(T) unsigned char storage[sizeof(T)];  // first, for slotOf(); of the free, the next one's slot
    uint32_t slot = 0;
    uint32_t generation : 31;
    uint32_t live : 1;
    Cell() noexcept : generation(0), live(0) {}
    uint32_t nextFree() const noexcept {
      uint32_t next;
      std::memcpy(&next, storage, sizeof next);
      return next;
    }
    void setNextFree(uint32_t next) noexcept { std::memcpy(storage, &next, sizeof next); }
    T& object() noexcept { return *std::launder(reinterpret_cast<T*>(storage)); }
  };
  Cell& cell(uint32_t slot) noexcept { return blocks_[slot / kBlock][slot % kBlock]; }
  const Cell& cell(uint32_t slot) const noexcept { return blocks_[slot / kBlock][slot % kBlock]; }
  void grow() {
    blocks_.push_back(std::make_unique<Cell[]>(kBlock));
    for (size_t i = kBlock; i-- > 0;) {
      const uint32_t slot = slots_ + static_cast<uint32_t>(i);
      cell(slot).slot = slot;
      cell(slot).setNextFree(free_);
      free_ = slot;
    }
    slots_ += kBlock;
  }

  std::vector<std::unique_ptr<Cell[]>> blocks_;
  uint32_t slots_ = 0;
  uint32_t free_ = kNone;
  size_t size_ = 0;
};

}  // namespace roost
