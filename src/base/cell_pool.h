#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace roost {

class CellPool;

// Keeps it reachable, and never frees it. Any thread.
CellPool* keepForEver(CellPool* pool);

// Memory in cells of one size, without anything beside them. Grows by blocks and never gives memory back.
// Owned by one loop and used on its thread only.
class CellPool {
 public:
  // REQUIRES: a multiple of the alignment of what is to lie there, which is at most 16.
  explicit CellPool(size_t cell_bytes) noexcept : cell_bytes_(cell_bytes) {}
  CellPool(const CellPool&) = delete;
  CellPool& operator=(const CellPool&) = delete;

  void* take() {
    if (free_ == nullptr) grow();
    Free* cell = free_;
    free_ = cell->next;
    return cell;
  }
  void give(void* cell) noexcept { free_ = new (cell) Free{free_}; }

 private:
  struct Free {
    Free* next;
  };
  void grow() {
    constexpr size_t kCells = 128;
    blocks_.push_back(std::make_unique<unsigned char[]>(cell_bytes_ * kCells));
    for (size_t i = kCells; i-- > 0;) give(blocks_.back().get() + i * cell_bytes_);
  }

  size_t cell_bytes_;
  std::vector<std::unique_ptr<unsigned char[]>> blocks_;
  Free* free_ = nullptr;
};

// Objects of a class that inherits this come from cells of their thread's: one costs its own size, where
// malloc would add 8 to 16 bytes. The memory lasts as long as the process, so an object may be destroyed on
// another thread than it was made on, which then keeps its cell.
template <class T>
class Pooled {
 public:
  static void* operator new(size_t) { return pool().take(); }
  static void operator delete(void* cell) noexcept { pool().give(cell); }

 protected:
  ~Pooled() = default;

 private:
  static CellPool& pool() {
    thread_local CellPool* const mine = keepForEver(new CellPool((sizeof(T) + 7) / 8 * 8));
    return *mine;
  }
};

}  // namespace roost
