#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/buffer.h"
#include "base/low_water.h"
#include "net/chunk.h"
#include "net/open_file.h"
#include "net/transport.h"

namespace roost::net {

// How fast a peer takes what it is sent, since some time on.
struct OutPace {
  int64_t since_ns = 0;  // 0: nobody has asked yet
  uint64_t sent = 0;     // to the socket
  int32_t untaken = 0;   // what the socket held then
};

// OutSlice is one stretch of bytes on its way out: copied into a chunk, referenced in shared memory, or a
// range of a file. Slices belong to an OutQueue. The last one of a queue keeps the queue's own figures.
struct OutSlice {
  OutSlice* next = nullptr;  // the last one's: the first
  uint32_t queue_bytes = 0;
  uint32_t queue_held = 0;
  OutSlice* queue_gathers =
      nullptr;  // the slice that owns the chunk to which copies are added; nullptr: none
  int32_t queue_untaken = 0;
  // Owned, and given back with this slice. Its bytes may be those of slices before this one, too: a queue is
  // sent in order, so the last slice that lies in a chunk is the one that ends its use.
  Chunk* chunk = nullptr;
  BufferRef buffer;            // keeps `data` alive where it is shared
  const char* data = nullptr;  // in a chunk or in `buffer`
  OpenFile file;               // or of a file
  uint64_t offset = 0;         // in the file
  uint64_t size = 0;
  OutPace queue_pace;
};

// OutPool lends OutSlices, and the chunks that copies are gathered in, to a loop's connections. Loop thread
// only.
class OutPool {
 public:
  explicit OutPool(ChunkPool& chunks) noexcept : chunks_(chunks) {}
  ~OutPool();
  OutPool(const OutPool&) = delete;
  OutPool& operator=(const OutPool&) = delete;
  OutSlice* take() noexcept;            // nullptr when memory is out
  void give(OutSlice* slice) noexcept;  // lets go of what it holds
  // Frees the slices that nobody has needed since the last call.
  void giveBack() noexcept;
  ChunkPool& chunks() noexcept { return chunks_; }

 private:
  static constexpr size_t kKeep = 1024;
  ChunkPool& chunks_;
  OutSlice* free_ = nullptr;
  size_t free_count_ = 0;
  LowWater low_;
};

// OutQueue is what a connection still has to send, in order. It is part of a Connection. Most of the time it
// is empty and costs a pointer; the pool is passed in, so that a connection need not keep it.
class OutQueue {
 public:
  // What a slice costs beside the bytes it stands for, the allocator's share included.
  static constexpr uint32_t kSliceBytes = sizeof(OutSlice) + 16;

  bool empty() const noexcept { return last_ == nullptr; }
  // Bytes to send that lie in memory; file ranges count nothing.
  uint32_t memoryBytes() const noexcept { return last_ == nullptr ? 0 : last_->queue_bytes; }
  // Memory taken up for this queue: slices, whole chunks, and what is unsent of shared buffers.
  uint32_t heldBytes() const noexcept { return last_ == nullptr ? 0 : last_->queue_held; }
  // The part of it that comes back when this queue is dropped: of a shared buffer its share. Looks at every
  // slice.
  uint64_t reclaimableBytes() const noexcept;
  uint64_t unsentBytes() const noexcept;  // file ranges included

  // False when memory is out: the queue is of no use any more, since a part of the bytes may be in it.
  bool addCopy(OutPool& pool, std::string_view bytes) noexcept;
  // `size` bytes of `buffer` from `offset`.
  bool addShared(OutPool& pool, BufferRef buffer, size_t offset, size_t size) noexcept;
  bool addFile(OutPool& pool, OpenFile file, uint64_t offset, uint64_t size) noexcept;

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
  int32_t untaken() const noexcept { return last_ == nullptr ? 0 : last_->queue_untaken; }
  // Kept as long as well; nullptr: the queue is empty.
  OutPace* pace() noexcept { return last_ == nullptr ? nullptr : &last_->queue_pace; }

 private:
  static constexpr size_t kFileStep = 2u << 20;  // bytes asked of one sendfile call
  static constexpr uint64_t kLargeRange = 64u << 10;
  static uint32_t chunkBytes(const Chunk& chunk) noexcept;
  void append(OutSlice* slice) noexcept;
  size_t addToChunk(OutPool& pool, std::string_view bytes) noexcept;
  void pop(OutPool& pool) noexcept;
  void advance(OutPool& pool, size_t bytes) noexcept;
  IoResult sendMemory(Transport& transport, int fd, size_t& asked) noexcept;

  OutSlice& first() const noexcept { return *last_->next; }
  // Behind `slice`; nullptr: nothing.
  OutSlice* behind(const OutSlice* slice) const noexcept { return slice == last_ ? nullptr : slice->next; }

  OutSlice* last_ = nullptr;  // the slices are a ring
};

}  // namespace roost::net
