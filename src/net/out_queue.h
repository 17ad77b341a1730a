#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "net/chunk.h"
#include "net/open_file.h"
#include "net/transport.h"

namespace roost::net {

// One stretch of bytes on its way out: gathered in a chunk, referenced in shared memory, or a range of a
// file.
struct OutSlice {
  OutSlice* next = nullptr;
  Chunk* chunk = nullptr;  // owned: the stretch is what the chunk holds
  BufferRef buffer;        // or a stretch of shared bytes
  const char* data = nullptr;
  OpenFile file;  // or of a file
  uint64_t offset = 0;
  uint64_t size = 0;  // of buffer or file
};

// OutSlices and the memory they gather in, shared by a loop's connections. Loop thread only.
class OutPool {
 public:
  explicit OutPool(ChunkPool& chunks) noexcept : chunks_(chunks) {}
  ~OutPool();
  OutPool(const OutPool&) = delete;
  OutPool& operator=(const OutPool&) = delete;
  OutSlice* take() noexcept;
  void give(OutSlice* slice) noexcept;  // lets go of what it holds
  ChunkPool& chunks() noexcept { return chunks_; }

 private:
  static constexpr size_t kKeep = 1024;
  ChunkPool& chunks_;
  OutSlice* free_ = nullptr;
  size_t free_count_ = 0;
};

// What a connection still has to send, in order. Part of a Connection. It is empty most of the time and then
// costs two pointers. The pool is passed in, so that it is not stored per connection.
class OutQueue {
 public:
  bool empty() const noexcept { return head_ == nullptr; }
  // Bytes held in memory for this queue; file ranges count nothing.
  uint32_t memoryBytes() const noexcept { return memory_bytes_; }
  uint64_t unsentBytes() const noexcept;  // file ranges included

  void addCopy(OutPool& pool, std::string_view bytes) noexcept;
  // `size` bytes of `buffer` from `offset`.
  void addShared(OutPool& pool, BufferRef buffer, size_t offset, size_t size) noexcept;
  void addFile(OutPool& pool, OpenFile file, uint64_t offset, uint64_t size) noexcept;

  static constexpr size_t kTurnBytes = 2u << 20;  // after which the loop's other connections have their turn

  // Sends until the queue is empty, the transport takes no more, or about `most` bytes have gone. kDone:
  // empty; kWantWrite: wait for writability; kEof: a file ended before its range did. `sent` counts the bytes
  // that went out.
  IoResult flush(OutPool& pool, Transport& transport, int fd, size_t most = kTurnBytes) noexcept;
  void clear(OutPool& pool) noexcept;

 private:
  static constexpr size_t kFileStep = 2u << 20;  // bytes asked of one sendfile call
  static constexpr uint64_t kLargeRange = 64u << 10;
  void append(OutSlice* slice) noexcept;
  void pop(OutPool& pool) noexcept;
  void advance(OutPool& pool, size_t bytes) noexcept;
  IoResult sendMemory(Transport& transport, int fd, size_t& asked) noexcept;

  OutSlice* head_ = nullptr;
  OutSlice* tail_ = nullptr;
  uint32_t memory_bytes_ = 0;
};

}  // namespace roost::net
