#pragma once

#include <cstdint>

#include "event/loop.h"
#include "event/timer_queue.h"
#include "metrics/registry.h"

namespace roost::server {

// The process's resident memory without what is free in it for the next allocations
// (heap::Use::reusable_bytes): what a cap on memory has to judge by, since memory that nobody uses must
// refuse nobody. Below `floor_bytes` the resident memory is returned as it is, since asking the heap takes
// some 100 us. Any thread.
uint64_t memoryInUse(uint64_t floor_bytes);

// HeapWatch publishes once a second what the process holds, how much of it is reusable, and how much it has
// given back. Owned by the Server, main thread.
class HeapWatch final : private event::Timer {
 public:
  HeapWatch(event::Loop& loop, metrics::Registry& metrics);
  ~HeapWatch() { loop_.cancel(*this); }
  void start() noexcept { onTimer(); }

 private:
  void onTimer() noexcept override;

  event::Loop& loop_;
  metrics::Gauge& resident_;
  metrics::Gauge& in_use_;
  metrics::Gauge& held_;
  metrics::Gauge& reusable_;
  metrics::Counter& given_back_;
};

}  // namespace roost::server
