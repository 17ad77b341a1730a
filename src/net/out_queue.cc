#include "net/out_queue.h"

#include <algorithm>
#include <cassert>

namespace roost::net {

OutPool::~OutPool() {
  while (free_ != nullptr) {
    OutSlice* slice = free_;
    free_ = slice->next;
    delete slice;
  }
}

OutSlice* OutPool::take() noexcept {
  if (free_ == nullptr) return new OutSlice;
  OutSlice* slice = free_;
  free_ = slice->next;
  --free_count_;
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

void OutQueue::append(OutSlice* slice) noexcept {
  if (last_ == nullptr) {
    slice->next = slice;
    slice->queue_bytes = 0;
    slice->queue_untaken = 0;
  } else {
    slice->next = std::exchange(last_->next, slice);
    slice->queue_bytes = last_->queue_bytes;
    slice->queue_untaken = last_->queue_untaken;
  }
  last_ = slice;
}

void OutQueue::pop(OutPool& pool) noexcept {
  OutSlice* slice = last_->next;
  if (slice == last_) {
    last_ = nullptr;
  } else {
    last_->next = slice->next;
  }
  pool.give(slice);
}

void OutQueue::addCopy(OutPool& pool, std::string_view bytes) noexcept {
  if (last_ != nullptr && last_->chunk != nullptr) {
    const size_t fits = std::min(bytes.size(), last_->chunk->room());
    last_->chunk->append(bytes.substr(0, fits));
    last_->queue_bytes += static_cast<uint32_t>(fits);
    bytes.remove_prefix(fits);
  }
  if (bytes.empty()) return;
  OutSlice* slice = pool.take();
  slice->chunk = pool.chunks().take(std::max<size_t>(bytes.size(), ChunkPool::kMedium));
  slice->chunk->append(bytes);
  append(slice);
  slice->queue_bytes += static_cast<uint32_t>(bytes.size());
}

void OutQueue::addShared(OutPool& pool, BufferRef buffer, size_t offset, size_t size) noexcept {
  if (size == 0) return;
  OutSlice* slice = pool.take();
  slice->data = buffer.data() + offset;
  slice->buffer = std::move(buffer);
  slice->size = size;
  append(slice);
  slice->queue_bytes += static_cast<uint32_t>(size);
}

void OutQueue::addFile(OutPool& pool, OpenFile file, uint64_t offset, uint64_t size) noexcept {
  if (size == 0) return;
  OutSlice* slice = pool.take();
  slice->file = std::move(file);
  slice->offset = offset;
  slice->size = size;
  append(slice);
}

void OutQueue::advance(OutPool& pool, size_t bytes) noexcept {
  last_->queue_bytes -= static_cast<uint32_t>(bytes);
  while (bytes > 0) {
    assert(last_ != nullptr && !first().file);
    OutSlice& slice = first();
    const size_t size = slice.chunk != nullptr ? slice.chunk->size() : slice.size;
    if (bytes < size) {
      if (slice.chunk != nullptr) {
        slice.chunk->consume(bytes);
      } else {
        slice.data += bytes;
        slice.size -= bytes;
      }
      return;
    }
    bytes -= size;
    pop(pool);
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
    const bool gathered = slice->chunk != nullptr;
    parts[count].iov_base = const_cast<char*>(gathered ? slice->chunk->data() : slice->data);
    parts[count].iov_len = gathered ? slice->chunk->size() : slice->size;
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
    bytes += slice->chunk != nullptr ? slice->chunk->size() : slice->size;
  }
  return bytes;
}

void OutQueue::clear(OutPool& pool) noexcept {
  while (last_ != nullptr) pop(pool);
}

}  // namespace roost::net
