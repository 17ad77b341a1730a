// The ring between one thread and the log thread.
#pragma once

#include <atomic>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "log/record.h"

namespace roost::log::detail {

// A ring of bytes with one writer (its thread) and one reader (the log thread). Made at the thread's first
// line, shared between the thread and the log's list, freed by the log once the thread is gone and the ring
// is empty. Positions only grow; a record never wraps: what is left at the end of the ring is skipped with a
// marker.
//
// The writer touches only its own cache lines per record: it publishes its position there, and looks at the
// reader's only when the space it knows to be free runs out. That knowledge ends first at half of the ring,
// so that the slow path can wake a sleeping log thread in time.
class alignas(64) ThreadBuffer {
 public:
  static constexpr size_t kMaxRecordBytes = 64 * 1024;

  // capacity_bytes is rounded up to a power of two.
  ThreadBuffer(size_t capacity_bytes, uint32_t ring_generation, bool block);
  ThreadBuffer(const ThreadBuffer&) = delete;
  ThreadBuffer& operator=(const ThreadBuffer&) = delete;

  // Writer. Room for `bytes` (a multiple of kRecordAlign, at most maxRecordBytes()), or null: dropped, and
  // counted.
  char* reserve(size_t bytes) noexcept {
    if (position_ + bytes > free_until_) {
      if (!makeRoom(bytes)) return nullptr;
    }
    return room();
  }
  // The same, but `block` says whether it waits where the ring is full.
  char* reserve(size_t bytes, bool block) noexcept {
    if (position_ + bytes > free_until_) {
      if (!makeRoom(bytes, block)) return nullptr;
    }
    return room();
  }
  // Writer. Hands over what was reserved.
  void commit(size_t bytes) noexcept {
    position_ += bytes;
    published_.store(position_, std::memory_order_release);
  }
  size_t maxRecordBytes() const noexcept {
    return capacity_ / 4 < kMaxRecordBytes ? capacity_ / 4 : kMaxRecordBytes;
  }
  size_t capacity() const noexcept { return capacity_; }
  uint32_t generation() const noexcept { return generation_; }
  // Writer, last call: the log may free the ring once it is empty.
  void abandon() noexcept { abandoned_.store(true, std::memory_order_release); }
  // Set by the log thread when it ends: from then on the ring is its thread's alone.
  bool retired() const noexcept { return retired_.load(std::memory_order_acquire); }

  // Reader.
  uint64_t published() const noexcept { return published_.load(std::memory_order_acquire); }
  uint64_t consumed() const noexcept { return read_position_; }
  void retire() noexcept { retired_.store(true, std::memory_order_release); }
  bool abandoned() const noexcept { return abandoned_.load(std::memory_order_acquire); }
  // Reader. The next record before `limit`, or null.
  const RecordHead* peek(uint64_t limit_position) noexcept;
  // Reader. Done with the record that peek() gave; the room is given back now and then, and by release().
  void pop(const RecordHead& record) noexcept {
    read_position_ += record.bytes;
    if (read_position_ - released_so_far_ >= capacity_ / 8) release(false);
  }
  void release(bool batch_done) noexcept;
  // Any thread.
  uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

  // Both sides hold a reference; who lets go last frees the ring.
  friend void intrusive_ptr_add_ref(ThreadBuffer* ring) noexcept {
    ring->references_.fetch_add(1, std::memory_order_relaxed);
  }
  friend void intrusive_ptr_release(ThreadBuffer* ring) noexcept {
    if (ring->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete ring;
  }

  // Reader's notes; the thread's name and id are set before the ring is shared.
  std::string prefix;  // "[name/tid] " or its JSON form
  int64_t tid = 0;
  uint64_t dropped_told = 0;  // of dropped(), what the log has said
  uint64_t limit = 0;         // up to where the current batch reaches
  int64_t last_ns = 0;        // time of the last line: a thread's lines never run backwards

 private:
  // The log thread has read these lines on another core a turn ago: taking them back takes longer than a call
  // should.
  static constexpr size_t kFetchAhead = 512;
  static void fetchForWriting(const char* at) noexcept {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*at));
#else
    __builtin_prefetch(at, 1);
#endif
  }

  char* room() noexcept {
    fetchForWriting(data_.get() + ((position_ + kFetchAhead) & mask_));
    return data_.get() + (position_ & mask_);
  }
  bool makeRoom(size_t bytes) noexcept;
  bool makeRoom(size_t bytes, bool block) noexcept;
  bool tryMakeRoom(size_t bytes) noexcept;
  void waitForRoom() noexcept;

  const std::unique_ptr<char[]> data_;
  const size_t capacity_;
  const size_t mask_;
  const uint32_t generation_;
  const bool block_when_full_;

  alignas(64) uint64_t position_ = 0;  // writer's own
  uint64_t free_until_ = 0;
  uint64_t woken_at_ = UINT64_MAX;  // released_ when the log thread was last woken for being behind
  std::atomic<uint64_t> dropped_{0};
  std::atomic<bool> abandoned_{false};
  std::atomic<uint64_t> published_{0};

  alignas(64) std::atomic<uint64_t> released_{0};  // by the reader, looked at by the writer when out of room
  std::atomic<uint32_t> room_wanted_{0};           // futex: 1 while the writer sleeps for room
  alignas(64) uint64_t read_position_ = 0;         // reader's own
  uint64_t released_so_far_ = 0;
  std::atomic<bool> retired_{false};
  std::atomic<int> references_{0};
};

using RingRef = boost::intrusive_ptr<ThreadBuffer>;

}  // namespace roost::log::detail
