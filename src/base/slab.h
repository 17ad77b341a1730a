#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "base/lowest_set.h"

namespace roost {

// Objects of one type at stable addresses, named by {slot, generation}: a name outlives its object safely,
// because no two objects of a slab have the same generation until 2^31 more have been made. Owned by one loop
// and used on its thread only.
//
// An object costs its own size and 8 bytes. They lie in blocks of two pages. A block that holds no object
// is freed, but for one that is kept so that a slab at the edge of a block does not allocate and free in
// turn. A new object goes to the lowest block that has room, so that the blocks above it become empty.
//
// T, of at least 4 bytes, is built in place by emplace(slot, args...) and learns its slot that way.
template <class T, size_t kCellsWanted = 0>
class Slab {
 public:
  Slab() = default;
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;
  ~Slab() {
    forEach([](T& object) { object.~T(); });
    for (Block& block : blocks_) std::free(block.cells);
  }

  // A new object, T(slot, args...). Throws std::bad_alloc.
  template <class... Args>
  T& emplace(Args&&... args) {
    T* object = tryEmplace(std::forward<Args>(args)...);
    if (object == nullptr) throw std::bad_alloc();
    return *object;
  }
  // The same; nullptr when memory is out.
  template <class... Args>
  T* tryEmplace(Args&&... args) {
    const uint32_t index = blockWithRoom();
    if (index == LowestSet::kNone) return nullptr;
    Block& block = blocks_[index];
    if (index == spare_) spare_ = LowestSet::kNone;
    Cell& home = block.cells[block.free];
    block.free = home.nextFree();
    if (++block.used == kCells) roomy_.erase(index);
    home.generation = ++last_generation_ & kGenerationMask;
    home.live = 1;
    ++size_;
    return new (home.storage) T(home.slot, std::forward<Args>(args)...);
  }
  // REQUIRES: the slot holds an object.
  void erase(uint32_t slot) noexcept {
    Cell& home = cell(slot);
    home.object().~T();
    home.live = 0;
    const uint32_t index = slot / kCells;
    Block& block = blocks_[index];
    home.setNextFree(block.free);
    block.free = static_cast<uint16_t>(slot % kCells);
    --size_;
    if (block.used-- == kCells) roomy_.insert(index);
    if (block.used == 0) emptied(index);
  }
  // The object of this name, nullptr when it is gone.
  T* find(uint32_t slot, uint32_t generation) noexcept {
    const size_t index = slot / kCells;
    if (index >= blocks_.size() || blocks_[index].cells == nullptr) return nullptr;
    Cell& home = cell(slot);
    return home.live && home.generation == (generation & kGenerationMask) ? &home.object() : nullptr;
  }
  // REQUIRES: the object lies in a slab of this type.
  static uint32_t slotOf(const T& object) noexcept {
    return std::launder(reinterpret_cast<const Cell*>(&object))->slot;
  }
  // REQUIRES: the slot holds an object.
  uint32_t generation(uint32_t slot) const noexcept { return cell(slot).generation; }
  size_t size() const noexcept { return size_; }
  // Every object's slot is below this.
  uint32_t slotLimit() const noexcept { return static_cast<uint32_t>(blocks_.size() * kCells); }
  // Bytes of its blocks, and those of them that the next objects will take.
  size_t heldBytes() const noexcept { return held_ * kBlockBytes; }
  size_t reusableBytes() const noexcept { return heldBytes() - size_ * sizeof(Cell); }
  // Calls fn(T&) for every object; fn may erase the one it was given.
  template <class Fn>
  void forEach(Fn&& fn) {
    for (uint32_t first = 0; first < slotLimit(); first += kCells) forEachFrom(first, kCells, fn);
  }
  // The same for those in `most` slots from `first` on. Returns where to go on, 0 after the last.
  template <class Fn>
  uint32_t forEachFrom(uint32_t first, uint32_t most, Fn&& fn) {
    const uint32_t limit = slotLimit();
    const uint32_t end = limit - std::min(first, limit) > most ? first + most : limit;
    // Asked anew each time: with its last object the block may go, and those behind it.
    for (uint32_t slot = first; slot < end && slot < slotLimit(); ++slot) {
      if (blocks_[slot / kCells].cells != nullptr && cell(slot).live) fn(cell(slot).object());
    }
    return end < slotLimit() ? end : 0;
  }

 private:
  static constexpr size_t kPage = 4096;
  static constexpr uint32_t kGenerationMask = 0x7fffffff;
  struct Cell {
    alignas(T) unsigned char storage[sizeof(T)];  // first, for slotOf(); of the free, the next one's number
    uint32_t slot;
    uint32_t generation : 31;
    uint32_t live : 1;
    explicit Cell(uint32_t number) noexcept : slot(number), generation(0), live(0) {}
    uint16_t nextFree() const noexcept {
      uint16_t next;
      std::memcpy(&next, storage, sizeof next);
      return next;
    }
    void setNextFree(uint16_t next) noexcept { std::memcpy(storage, &next, sizeof next); }
    T& object() noexcept { return *std::launder(reinterpret_cast<T*>(storage)); }
  };
  static_assert(alignof(Cell) <= alignof(std::max_align_t), "malloc aligns a block");
  // Two pages: the allocator's account of a block is 128 bytes. A big T has at least eight cells.
  static constexpr size_t kPages = std::max<size_t>(2, (8 * sizeof(Cell) + kPage - 1) / kPage);
  static constexpr size_t kCells = kCellsWanted != 0 ? kCellsWanted : kPages * kPage / sizeof(Cell);
  static constexpr size_t kBlockBytes = kCells * sizeof(Cell);
  static_assert(kCells < UINT16_MAX);

  struct Block {
    Cell* cells = nullptr;  // nullptr: it has been freed
    uint16_t used = 0;
    uint16_t free = 0;  // the first free cell, while used < kCells
  };

  Cell& cell(uint32_t slot) noexcept { return blocks_[slot / kCells].cells[slot % kCells]; }
  const Cell& cell(uint32_t slot) const noexcept { return blocks_[slot / kCells].cells[slot % kCells]; }

  // kNone: memory is out.
  uint32_t blockWithRoom() noexcept {
    uint32_t index = roomy_.lowest();
    if (index != LowestSet::kNone) return index;
    index = gone_.lowest();
    if (index == LowestSet::kNone) index = static_cast<uint32_t>(blocks_.size());
    return fill(index) ? index : LowestSet::kNone;
  }
  bool fill(uint32_t index) noexcept {
    if (index == blocks_.size() && !append()) return false;
    auto* cells = static_cast<Cell*>(std::malloc(kBlockBytes));
    if (cells == nullptr) {
      gone_.insert(index);
      return false;
    }
    for (size_t i = 0; i < kCells; ++i) {
      Cell* made = new (cells + i) Cell(static_cast<uint32_t>(index * kCells + i));
      made->setNextFree(static_cast<uint16_t>(i + 1));
    }
    gone_.erase(index);
    roomy_.insert(index);
    blocks_[index] = {cells, 0, 0};
    ++held_;
    return true;
  }
  bool append() noexcept {
    try {
      const auto count = static_cast<uint32_t>(blocks_.size() + 1);
      roomy_.reserve(count);
      gone_.reserve(count);
      blocks_.emplace_back();
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }
  // Of two empty blocks the higher one goes.
  void emptied(uint32_t index) noexcept {
    if (spare_ == LowestSet::kNone) {
      spare_ = index;
      return;
    }
    const uint32_t going = index > spare_ ? index : std::exchange(spare_, index);
    std::free(blocks_[going].cells);
    blocks_[going] = {};
    --held_;
    roomy_.erase(going);
    gone_.insert(going);
    while (!blocks_.empty() && blocks_.back().cells == nullptr) {
      gone_.erase(static_cast<uint32_t>(blocks_.size() - 1));
      blocks_.pop_back();
    }
  }

  std::vector<Block> blocks_;
  LowestSet roomy_;                    // blocks with memory and room
  LowestSet gone_;                     // blocks without memory
  uint32_t spare_ = LowestSet::kNone;  // the one block that is kept empty
  uint32_t last_generation_ = 0;
  size_t held_ = 0;  // blocks with memory
  size_t size_ = 0;
};

}  // namespace roost
