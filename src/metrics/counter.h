// Numbers with one writer and any number of readers.
#pragma once

#include <atomic>
#include <cstdint>

namespace roost::metrics {

// Counts up. One thread at a time adds (usually its loop's); any thread reads. Adding is a load and a store,
// without a locked instruction. Lives as long as its Registry.
class Counter {
 public:
  void add(uint64_t n = 1) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

// Goes up and down. Same threads as Counter. What is summed over loops may be negative in one of them: a
// connection that moves is added in one loop and taken off in another.
class Gauge {
 public:
  void set(int64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
  void add(int64_t n = 1) noexcept { set(value() + n); }
  void sub(int64_t n = 1) noexcept { set(value() - n); }
  int64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

}  // namespace roost::metrics
