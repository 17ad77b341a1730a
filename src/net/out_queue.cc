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
  if (head_ == nullptr) {
    head_ = slice;
  } else {
    tail_->next = slice;
  }
  tail_ = slice;
}

void OutQueue::pop(OutPool& pool) noexcept {
  OutSlice* slice = head_;
  head_ = slice->next;
  if (head_ == nullptr) tail_ = nullptr;
  pool.give(slice);
}

void OutQueue::addCopy(OutPool& pool, std::string_view bytes) noexcept {
  memory_bytes_ += static_cast<uint32_t>(bytes.size());
  if (tail_ != nullptr && tail_->chunk != nullptr) {
    const size_t fits = std::min(bytes.size(), tail_->chunk->room());
    tail_->chunk->append(bytes.substr(0, fits));
    bytes.remove_prefix(fits);
  }
  if (bytes.empty()) return;
  OutSlice* slice = pool.take();
  slice->chunk = pool.chunks().take(std::max<size_t>(bytes.size(), ChunkPool::kMedium));
  slice->chunk->append(bytes);
  append(slice);
}

void OutQueue::addShared(OutPool& pool, BufferRef buffer, size_t offset, size_t size) noexcept {
  if (size == 0) return;
  OutSlice* slice = pool.take();
  slice->data = buffer.data() + offset;
  slice->buffer = std::move(buffer);
  slice->size = size;
  memory_bytes_ += static_cast<uint32_t>(size);
  append(slice);
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
  memory_bytes_ -= static_cast<uint32_t>(bytes);
  while (bytes > 0) {
    assert(head_ != nullptr && !head_->file);
    const size_t size = head_->chunk != nullptr ? head_->chunk->size() : head_->size;
    if (bytes < size) {
      if (head_->chunk != nullptr) {
        head_->chunk->consume(bytes);
      } else {
        head_->data += bytes;
        head_->size -= bytes;
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
  OutSlice* slice = head_;
  for (; slice != nullptr && !slice->file && count < kParts; slice = slice->next) {
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
  while (head_ != nullptr) {
    IoResult result{};
    size_t asked = 0;
    if (head_->file) {
      asked = static_cast<size_t>(std::min<uint64_t>(head_->size, kFileStep));
      result = transport.sendFile(fd, head_->file.fd(), head_->offset, asked);
      head_->offset += result.bytes;
      head_->size -= result.bytes;
      if (head_->size == 0) pop(pool);
    } else {
      result = sendMemory(transport, fd, asked);
      advance(pool, result.bytes);
    }
    sent += result.bytes;
    if (result.state != IoState::kDone) return {result.state, result.sys_errno, sent};
    // Less than was asked: the socket is full (or the file ended early, which the next call tells).
    if (result.bytes < asked) return {IoState::kWantWrite, 0, sent};
    // A peer that reads as fast as this may not keep the loop from everybody else.
    if (sent >= most && head_ != nullptr) return {IoState::kWantWrite, 0, sent};
  }
  return {IoState::kDone, 0, sent};
}

uint64_t OutQueue::unsentBytes() const noexcept {
  uint64_t bytes = 0;
  for (const OutSlice* slice = head_; slice != nullptr; slice = slice->next) {
    bytes += slice->chunk != nullptr ? slice->chunk->size() : slice->size;
  }
  return bytes;
}

void OutQueue::clear(OutPool& pool) noexcept {
  while (head_ != nullptr) pop(pool);
  memory_bytes_ = 0;
}

}  // namespace roost::net
