#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/buffer.h"
#include "net/chunk.h"
#include "net/open_file.h"
#include "net/transport.h"

namespace roost::net {

// One stretch of bytes on its way out: gathered in a chunk, referenced in shared memory, or a range of a
// file. The last of a queue keeps what there is to know of all of it.
struct OutSlice {
  OutSlice* next = nullptr;  // the last one's: the first
  uint32_t queue_bytes = 0;
  int32_t queue_untaken = 0;
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
// costs a pointer. The pool is passed in, so that it is not stored per connection.
class OutQueue {
 public:
  bool empty() const noexcept { return last_ == nullptr; }
  // Bytes held in memory for this queue; file ranges count nothing.
  uint32_t memoryBytes() const noexcept { return last_ == nullptr ? 0 : last_->queue_bytes; }
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

  // The range that flush() has answered kEof for: the file, where it has ended, and how much is missing.
  struct MissingRange {
    int fd;
    uint64_t offset;
    uint64_t size;
  };
  MissingRange missingRange() const noexcept {
    const OutSlice& slice = first();
    return {slice.file.fd(), slice.offset, slice.size};
  }

  // A number that is kept for as long as the queue is not empty, 0 at first; returns the one before.
  int32_t setUntaken(int32_t bytes) noexcept {
    return last_ == nullptr ? 0 : std::exchange(last_->queue_untaken, bytes);
  }

 private:
  static constexpr size_t kFileStep = 2u << 20;  // bytes asked of one sendfile call
  static constexpr uint64_t kLargeRange = 64u << 10;
  void append(OutSlice* slice) noexcept;
  void pop(OutPool& pool) noexcept;
  void advance(OutPool& pool, size_t bytes) noexcept;
  IoResult sendMemory(Transport& transport, int fd, size_t& asked) noexcept;

  OutSlice& first() const noexcept { return *last_->next; }
  // Behind `slice`; nullptr: nothing.
  OutSlice* behind(const OutSlice* slice) const noexcept { return slice == last_ ? nullptr : slice->next; }

  OutSlice* last_ = nullptr;  // the slices are a ring
};

}  // namespace roost::net
