#include "log/thread_buffer.h"

#include <algorithm>

#include "log/front.h"
#include "log/futex.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace roost::log::detail {
namespace {

constexpr size_t kMinCapacity = 16 * 1024;
constexpr size_t kMaxCapacity = size_t{1} << 30;
constexpr int kSpins =
    200;  // a few microseconds: what a log thread that is at work needs to give back some room
constexpr int64_t kWaitNs = 100'000'000;

size_t roundUpToPowerOfTwo(size_t n) noexcept {
  n = std::clamp(n, kMinCapacity, kMaxCapacity);
  size_t power = kMinCapacity;
  while (power < n) power *= 2;
  return power;
}

void relax() noexcept {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace

ThreadBuffer::ThreadBuffer(size_t capacity_bytes, uint32_t ring_generation, bool block)
    : data_(new char[roundUpToPowerOfTwo(capacity_bytes)]),  // not cleared: pages appear as they are used
      capacity_(roundUpToPowerOfTwo(capacity_bytes)),
      mask_(capacity_ - 1),
      generation_(ring_generation),
      block_when_full_(block) {}

bool ThreadBuffer::makeRoom(size_t bytes) noexcept {
  return makeRoom(bytes, block_when_full_);
}

bool ThreadBuffer::makeRoom(size_t bytes, bool block) noexcept {
  for (;;) {
    if (tryMakeRoom(bytes)) return true;
    if (!block) {
      dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return false;
    }
    waitForRoom();
  }
}

bool ThreadBuffer::tryMakeRoom(size_t bytes) noexcept {
  const size_t to_end = capacity_ - (position_ & mask_);
  const bool skip = bytes > to_end;
  const uint64_t start = skip ? position_ + to_end : position_;
  const uint64_t released = released_.load(std::memory_order_acquire);
  const uint64_t used = position_ - released;
  if (used >= capacity_ / 2 && released != woken_at_) {
    woken_at_ = released;  // once is enough until the log thread gets on
    wakeLogThread();
  }
  if (start + bytes > released + capacity_) return false;
  if (skip) {
    const RecordHead marker{};  // only its null site is looked at; to_end may be shorter than a head
    std::memcpy(data_.get() + (position_ & mask_), &marker, std::min(to_end, sizeof marker));
    position_ = start;
  }
  const uint64_t contiguous_end = start + capacity_ - (start & mask_);
  const uint64_t half = released + capacity_ / 2;
  const uint64_t known_free = start + bytes <= half ? half : released + capacity_;
  free_until_ = std::min(known_free, contiguous_end);
  return true;
}

void ThreadBuffer::waitForRoom() noexcept {
  const uint64_t seen = released_.load(std::memory_order_relaxed);
  wakeLogThread();
  for (int i = 0; i < kSpins; ++i) {
    if (released_.load(std::memory_order_relaxed) != seen) return;
    relax();
  }
  room_wanted_.store(1, std::memory_order_seq_cst);
  if (released_.load(std::memory_order_seq_cst) != seen) return;
  futexWait(room_wanted_, 1, kWaitNs);
}

const RecordHead* ThreadBuffer::peek(uint64_t limit_position) noexcept {
  if (read_position_ == limit_position) return nullptr;
  const char* at = data_.get() + (read_position_ & mask_);
  const Site* site = nullptr;
  std::memcpy(&site, at, sizeof site);  // NOLINT(bugprone-sizeof-expression): the pointer is what lies there
  if (site == nullptr) {
    // The position behind a marker is published only together with the record that the marker made way for.
    read_position_ += capacity_ - (read_position_ & mask_);
    at = data_.get();
  }
  return reinterpret_cast<const RecordHead*>(at);
}

void ThreadBuffer::release(bool batch_done) noexcept {
  released_so_far_ = read_position_;
  released_.store(read_position_, std::memory_order_seq_cst);
  if (room_wanted_.load(std::memory_order_seq_cst) == 0) return;
  // A writer that waits is let in once it has half of the ring: fewer, longer turns.
  if (!batch_done && limit - read_position_ > capacity_ / 2) return;
  room_wanted_.store(0, std::memory_order_seq_cst);
  futexWakeAll(room_wanted_);
}

}  // namespace roost::log::detail
