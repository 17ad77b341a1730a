#include "net/out_queue.h"

#include <algorithm>
#include <cassert>
#include <new>

namespace roost::net {

OutPool::~OutPool() {
  while (free_ != nullptr) {
    OutSlice* slice = free_;
    free_ = slice->next;
    delete slice;
  }
}

void OutPool::giveBack() noexcept {
  for (size_t unused = low_.look(free_count_, SIZE_MAX); unused > 0; --unused) {
    OutSlice* slice = free_;
    free_ = slice->next;
    --free_count_;
    delete slice;
  }
}

OutSlice* OutPool::take() noexcept {
  if (free_ == nullptr) return new (std::nothrow) OutSlice;
  OutSlice* slice = free_;
  free_ = slice->next;
  --free_count_;
  low_.taken(free_count_);
  slice->next = nullptr;
  return slice;
}

void OutPool::give(OutSlice* slice) noexcept {
  if (slice->chunk != nullptr) {
    chunks_.give(slice->chunk);
    slice->chunk = nullptr;
  }
  slice->buffer = BufferRef();
  slice->file = OpenFile();
  if (free_count_ >= kKeep) {
    delete slice;
    return;
  }
  slice->next = free_;
  free_ = slice;
  ++free_count_;
}

uint32_t OutQueue::chunkBytes(const Chunk& chunk) noexcept {
  return static_cast<uint32_t>(sizeof(Chunk) + chunk.capacity + Chunk::kSlack);
}

void OutQueue::append(OutSlice* slice) noexcept {
  if (last_ == nullptr) {
    slice->next = slice;
    slice->queue_bytes = 0;
    slice->queue_held = 0;
    slice->queue_gathers = nullptr;
    slice->queue_untaken = 0;
    slice->queue_pace = {};
  } else {
    slice->next = std::exchange(last_->next, slice);
    slice->queue_bytes = last_->queue_bytes;
    slice->queue_held = last_->queue_held;
    slice->queue_gathers = last_->queue_gathers;
    slice->queue_untaken = last_->queue_untaken;
    slice->queue_pace = last_->queue_pace;
  }
  slice->queue_held += kSliceBytes;
  last_ = slice;
}

void OutQueue::pop(OutPool& pool) noexcept {
  OutSlice* slice = last_->next;
  if (slice == last_) {
    last_ = nullptr;
  } else {
    last_->next = slice->next;
    last_->queue_held -= kSliceBytes + (slice->chunk == nullptr ? 0 : chunkBytes(*slice->chunk));
    if (last_->queue_gathers == slice) last_->queue_gathers = nullptr;
  }
  pool.give(slice);
}

// Copies into the room that is left in the queue's last chunk, wherever that stands; returns how much. Heads
// of pipelined answers that stand between ranges of files share their chunks this way.
size_t OutQueue::addToChunk(OutPool& pool, std::string_view bytes) noexcept {
  OutSlice* gathers = last_ == nullptr ? nullptr : last_->queue_gathers;
  if (gathers == nullptr) return 0;
  Chunk& chunk = *gathers->chunk;
  const size_t fits = std::min(bytes.size(), chunk.room());
  if (fits == 0) return 0;
  if (gathers != last_) {
    OutSlice* slice = pool.take();
    if (slice == nullptr) return 0;
    slice->data = chunk.space();
    slice->size = 0;
    slice->chunk = std::exchange(gathers->chunk, nullptr);
    append(slice);
    last_->queue_gathers = slice;
  }
  chunk.append(bytes.substr(0, fits));
  last_->size += fits;
  last_->queue_bytes += static_cast<uint32_t>(fits);
  return fits;
}

bool OutQueue::addCopy(OutPool& pool, std::string_view bytes) noexcept {
  bytes.remove_prefix(addToChunk(pool, bytes));
  if (bytes.empty()) return true;
  // Most queues hold one small answer, and those that do so for long are many.
  const uint32_t least = last_ == nullptr ? ChunkPool::kSmall : ChunkPool::kMedium;
  Chunk* chunk = pool.chunks().take(std::max<size_t>(bytes.size(), least));
  if (chunk == nullptr) return false;
  OutSlice* slice = pool.take();
  if (slice == nullptr) {
    pool.chunks().give(chunk);
    return false;
  }
  slice->chunk = chunk;
  slice->data = chunk->space();
  slice->size = bytes.size();
  chunk->append(bytes);
  append(slice);
  slice->queue_gathers = slice;
  slice->queue_bytes += static_cast<uint32_t>(bytes.size());
  slice->queue_held += chunkBytes(*chunk);
  return true;
}

bool OutQueue::addShared(OutPool& pool, BufferRef buffer, size_t offset, size_t size) noexcept {
  if (size == 0) return true;
  OutSlice* slice = pool.take();
  if (slice == nullptr) return false;
  slice->data = buffer.data() + offset;
  slice->buffer = std::move(buffer);
  slice->size = size;
  append(slice);
  slice->queue_bytes += static_cast<uint32_t>(size);
  slice->queue_held += static_cast<uint32_t>(size);
  return true;
}

bool OutQueue::addFile(OutPool& pool, OpenFile file, uint64_t offset, uint64_t size) noexcept {
  if (size == 0) return true;
  OutSlice* slice = pool.take();
  if (slice == nullptr) return false;
  slice->file = std::move(file);
  slice->offset = offset;
  slice->size = size;
  append(slice);
  return true;
}

void OutQueue::advance(OutPool& pool, size_t bytes) noexcept {
  last_->queue_bytes -= static_cast<uint32_t>(bytes);
  while (bytes > 0) {
    assert(last_ != nullptr && !first().file);
    OutSlice& slice = first();
    const size_t gone = static_cast<size_t>(std::min<uint64_t>(bytes, slice.size));
    if (slice.buffer) last_->queue_held -= static_cast<uint32_t>(gone);
    slice.data += gone;
    slice.size -= gone;
    bytes -= gone;
    if (slice.size == 0) pop(pool);
  }
}

// Sends the memory slices at the head of the queue with one call.
IoResult OutQueue::sendMemory(Transport& transport, int fd, size_t& asked) noexcept {
  constexpr int kParts = 64;
  iovec parts[kParts];
  int count = 0;
  asked = 0;
  const OutSlice* slice = &first();
  for (; slice != nullptr && !slice->file && count < kParts; slice = behind(slice)) {
    parts[count].iov_base = const_cast<char*>(slice->data);
    parts[count].iov_len = static_cast<size_t>(slice->size);
    asked += parts[count].iov_len;
    ++count;
  }
  // What follows at once may share the packet, so that a head does not go out alone and its file waits for
  // the peer's delayed acknowledgement. Before a large range that is no gain: it would put every page of the
  // file at an odd place in its packets, which costs both sides more than a packet.
  const bool more = slice != nullptr && !(slice->file && slice->size >= kLargeRange);
  if (count == 1)
    return transport.write(fd, static_cast<const char*>(parts[0].iov_base), parts[0].iov_len, more);
  return transport.writev(fd, parts, count, more);
}

IoResult OutQueue::flush(OutPool& pool, Transport& transport, int fd, size_t most) noexcept {
  size_t sent = 0;
  while (last_ != nullptr) {
    IoResult result{};
    size_t asked = 0;
    if (OutSlice& slice = first(); slice.file) {
      asked = static_cast<size_t>(std::min<uint64_t>(slice.size, kFileStep));
      result = transport.sendFile(fd, slice.file.fd(), slice.offset, asked);
      slice.offset += result.bytes;
      slice.size -= result.bytes;
      if (slice.size == 0) pop(pool);
    } else {
      result = sendMemory(transport, fd, asked);
      advance(pool, result.bytes);
    }
    sent += result.bytes;
    if (result.state != IoState::kDone) return {result.state, result.sys_errno, sent};
    // Less than was asked: the socket is full (or the file ended early, which the next call tells).
    if (result.bytes < asked) return {IoState::kWantWrite, 0, sent};
    // A peer that reads as fast as this may not keep the loop from everybody else.
    if (sent >= most && last_ != nullptr) return {IoState::kWantWrite, 0, sent};
  }
  return {IoState::kDone, 0, sent};
}

uint64_t OutQueue::unsentBytes() const noexcept {
  uint64_t bytes = 0;
  for (const OutSlice* slice = last_ == nullptr ? nullptr : last_->next; slice != nullptr;
       slice = behind(slice)) {
    bytes += slice->size;
  }
  return bytes;
}

uint64_t OutQueue::reclaimableBytes() const noexcept {
  uint64_t bytes = 0;
  for (const OutSlice* slice = last_ == nullptr ? nullptr : last_->next; slice != nullptr;
       slice = behind(slice)) {
    bytes += kSliceBytes;
    if (slice->chunk != nullptr) bytes += chunkBytes(*slice->chunk);
    if (slice->buffer) bytes += slice->buffer.size() / slice->buffer.useCount();
  }
  return bytes;
}

void OutQueue::clear(OutPool& pool) noexcept {
  while (last_ != nullptr) pop(pool);
}

}  // namespace roost::net
