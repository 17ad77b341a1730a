#pragma once

#include <atomic>
#include <cstdint>

namespace roost::metrics {

// A number that only grows. One thread writes it, any thread reads it; there is no lock and no locked instruction.
class Counter {
 public:
  void add(uint64_t amount = 1) noexcept {  // the writer's thread
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

}  // namespace roost::metrics
