#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "push/message.h"

namespace roost::push {

// Messages of one channel that follow each other without a hole, by sequence number. Takes no memory while it
// is empty and gives back what it no longer needs. One thread.
class MessageRing {
 public:
  // An empty ring stands before `next_seq`.
  explicit MessageRing(uint64_t next_seq = 1) noexcept : first_(next_seq) {}

  bool empty() const noexcept { return size_ == 0; }
  uint32_t size() const noexcept { return size_; }
  uint64_t first() const noexcept { return first_; }         // of the oldest; empty: of the next
  uint64_t next() const noexcept { return first_ + size_; }  // of the message that comes next
  // REQUIRES: first() <= seq < next(). Valid until the ring changes.
  const Message::Ref& at(uint64_t seq) const noexcept { return slot(seq).message; }
  // Bytes of the messages in [first(), seq), with first() <= seq <= next().
  uint64_t bytesBefore(uint64_t seq) const noexcept {
    return (seq == next() ? end_bytes_ : slot(seq).bytes_before) - dropped_bytes_;
  }
  uint64_t bytes() const noexcept { return end_bytes_ - dropped_bytes_; }

  // Of what push() does, what may throw bad_alloc.
  void makeRoom() {
    if (size_ == capacity_) resize(capacity_ == 0 ? 2 : capacity_ * 2);
  }
  // REQUIRES: its seq is next().
  void push(const Message::Ref& message) {
    assert(message->id().seq == next());
    makeRoom();
    Slot& added = slots_[(head_ + size_) & (capacity_ - 1)];
    added.message = message;
    added.bytes_before = end_bytes_;
    end_bytes_ += message->bytes();
    ++size_;
  }
  // REQUIRES: !empty().
  void pop() noexcept {
    Slot& oldest = slots_[head_];
    dropped_bytes_ += oldest.message->bytes();
    oldest.message = Message::Ref();
    head_ = (head_ + 1) & (capacity_ - 1);
    ++first_;
    --size_;
    if (size_ == 0 || size_ < capacity_ / 8) resize(size_ == 0 ? 0 : capacity_ / 4);
  }
  // Empties it; it stands before `next_seq` then.
  void reset(uint64_t next_seq) noexcept {
    while (!empty()) pop();
    first_ = next_seq;
  }

 private:
  struct Slot {
    Message::Ref message;
    uint64_t bytes_before = 0;  // of all that were ever pushed before it
  };
  const Slot& slot(uint64_t seq) const noexcept {
    assert(seq >= first_ && seq < next());
    return slots_[(head_ + static_cast<uint32_t>(seq - first_)) & (capacity_ - 1)];
  }
  void resize(uint32_t capacity) {
    std::unique_ptr<Slot[]> slots(capacity == 0 ? nullptr : new Slot[capacity]);
    for (uint32_t i = 0; i < size_; ++i) slots[i] = std::move(slots_[(head_ + i) & (capacity_ - 1)]);
    slots_ = std::move(slots);
    capacity_ = capacity;
    head_ = 0;
  }

  std::unique_ptr<Slot[]> slots_;  // a power of two of them
  uint64_t first_;
  uint64_t end_bytes_ = 0;
  uint64_t dropped_bytes_ = 0;
  uint32_t capacity_ = 0;
  uint32_t head_ = 0;
  uint32_t size_ = 0;
};

}  // namespace roost::push
