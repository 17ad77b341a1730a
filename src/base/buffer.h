// Counted, shared bytes: a message or a body that many connections send without copying it.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "base/memory.h"

namespace roost {

// A reference to an immutable block of bytes; the last reference frees it. Copying counts up, moving does
// not. A block may be referenced from several threads; one BufferRef object belongs to one thread at a time.
class BufferRef {
 public:
  BufferRef() noexcept = default;
  BufferRef(const BufferRef& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  BufferRef(BufferRef&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~BufferRef() { release(); }

  // A new block of `size` bytes that its maker may write until it shares it. Aborts when memory is out and
  // the reserve gone: not for sizes that a peer chooses.
  static BufferRef allocate(size_t size) {
    void* const memory = memory::allocate(sizeof(Block) + size);
    if (memory == nullptr) std::abort();
    return BufferRef(memory, size);
  }
  static BufferRef copyOf(std::string_view bytes) { return filled(allocate(bytes.size()), bytes); }
  // The same for sizes that a peer chooses: an empty ref when memory is out.
  static BufferRef allocateForPeer(size_t size) noexcept {
    void* const memory = memory::allocateForPeer(sizeof(Block) + size);
    return memory == nullptr ? BufferRef() : BufferRef(memory, size);
  }
  static BufferRef copyForPeer(std::string_view bytes) noexcept {
    return filled(allocateForPeer(bytes.size()), bytes);
  }

  // Adds the size to `account` until the block is freed, whoever has it by then; once for a block, and
  // nothing for an empty ref. The account outlives the block. REQUIRES: no other thread calls this for it.
  void countIn(std::atomic<int64_t>& account) const noexcept {
    if (block_ == nullptr || block_->account != nullptr) return;
    block_->account = &account;
    account.fetch_add(static_cast<int64_t>(block_->size), std::memory_order_relaxed);
  }

  explicit operator bool() const noexcept { return block_ != nullptr; }
  const char* data() const noexcept {
    return reinterpret_cast<const char*>(block_ + 1);
  }  // REQUIRES: not empty ref
  char* mutableData() noexcept {
    return reinterpret_cast<char*>(block_ + 1);
  }  // REQUIRES: not shared with a thread
  // How many references the block has; others may come and go meanwhile. REQUIRES: not empty ref.
  uint32_t useCount() const noexcept { return block_->refs.load(std::memory_order_relaxed); }
  size_t size() const noexcept { return block_ == nullptr ? 0 : block_->size; }
  std::string_view view() const noexcept {
    return block_ == nullptr ? std::string_view{} : std::string_view{data(), size()};
  }

 private:
  struct Block {
    std::atomic<uint32_t> refs;
    size_t size;
    std::atomic<int64_t>* account;
  };
  BufferRef(void* memory, size_t size) noexcept : block_(new (memory) Block{{1}, size, nullptr}) {}
  static BufferRef filled(BufferRef ref, std::string_view bytes) noexcept {
    if (ref && !bytes.empty()) std::memcpy(ref.mutableData(), bytes.data(), bytes.size());
    return ref;
  }
  void release() noexcept {
    if (block_ == nullptr || block_->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (block_->account != nullptr)
      block_->account->fetch_sub(static_cast<int64_t>(block_->size), std::memory_order_relaxed);
    std::free(block_);
  }
  Block* block_ = nullptr;
};

}  // namespace roost
