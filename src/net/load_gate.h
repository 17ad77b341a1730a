#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/memory.h"

namespace roost::net {

// How far things have gone. What is let in less and less; what has been let in is left alone.
enum class Load : uint8_t {
  kFine,
  kNoConnections,  // new connections wait in the kernel
  kNoRequests      // and new requests are refused
};

// What one loop may still take on: the worse of what is said for the process and for this loop; nothing while
// the reserve of memory is in use. Owned beside its loop; outlives what asks it. One thread sets each half,
// any thread reads.
class LoadGate {
 public:
  // `process` outlives this; nullptr: nothing is said for the process.
  explicit LoadGate(const std::atomic<Load>* process) noexcept : process_(process) {}

  Load load() const noexcept {
    if (memory::reserveInUse()) return Load::kNoRequests;
    const Load own = own_.load(std::memory_order_relaxed);
    return process_ == nullptr ? own : std::max(own, process_->load(std::memory_order_relaxed));
  }
  bool admitsConnections() const noexcept { return load() == Load::kFine; }
  bool admitsRequests() const noexcept { return load() != Load::kNoRequests; }
  void setOwn(Load load) noexcept { own_.store(load, std::memory_order_relaxed); }

 private:
  const std::atomic<Load>* const process_;
  std::atomic<Load> own_{Load::kFine};
};

}  // namespace roost::net
