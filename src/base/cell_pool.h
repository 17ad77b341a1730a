#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace roost {

// Memory in cells of one size, without anything beside them. Grows by blocks and never gives memory back.
// Owned by one loop and used on its thread only.
class CellPool {
 public:
  // REQUIRES: a multiple of 16.
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

}  // namespace roost
