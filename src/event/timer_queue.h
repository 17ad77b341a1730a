#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roost::event {

// Something to be called at a time. It keeps only its place in the queue, so cancelling is O(log n). Owned by
// its user, who cancels it before it goes. Loop thread only.
class Timer {
 public:
  // The deadline has come; the timer is no longer armed and may be armed again from here.
  virtual void onTimer() noexcept = 0;
  bool armed() const noexcept { return heap_index_ != kIdle; }

 protected:
  Timer() noexcept = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() = default;

 private:
  friend class TimerQueue;
  static constexpr uint32_t kIdle = UINT32_MAX;
  uint32_t heap_index_ = kIdle;
};

// The priority queue of timers: a binary heap of {deadline, timer}, earliest first. Owned by a Loop.
class TimerQueue {
 public:
  static constexpr int64_t kNever = INT64_MAX;

  // Arms or moves a timer; deadlines are nanoseconds of the monotonic clock.
  void arm(Timer& timer, int64_t deadline_ns);
  void cancel(Timer& timer) noexcept;
  // The earliest deadline, kNever where there is none.
  int64_t nextDeadline() const noexcept { return heap_.empty() ? kNever : heap_.front().deadline_ns; }
  // Calls every timer due at `now_ns`; timers armed meanwhile wait for the next call, whatever their
  // deadline.
  void expire(int64_t now_ns) noexcept;
  size_t size() const noexcept { return heap_.size(); }

 private:
  struct Entry {
    int64_t deadline_ns;
    Timer* timer;
  };
  void place(size_t index, Entry entry) noexcept;
  void siftUp(size_t index, Entry entry) noexcept;
  void siftDown(size_t index, Entry entry) noexcept;
  Timer* removeAt(size_t index) noexcept;

  std::vector<Entry> heap_;
  std::vector<Timer*> due_;  // scratch of expire()
};

}  // namespace roost::event
