#pragma once

#include <atomic>
#include <cstdint>

#include "event/loop.h"
#include "event/timer_queue.h"
#include "metrics/counter.h"
#include "net/load_gate.h"

namespace roost::server {

// The order in which the server sheds load, the same whether memory runs short or a loop falls behind:
//   1. new connections are not accepted any more (they wait in the kernel's queue),
//   2. new requests are answered 503 with Retry-After and their connections closed;
// answers under way, waiting (parked) exchanges and upgraded connections are never touched.

// Watches the process's resident memory from the main loop. At 90 % of the cap it stops new connections, at
// the cap new requests; each ends 5 % below where it begins. Meanwhile what the allocator holds unused is
// given back to the system, at most once a second. Owned by the Server; main thread. `load` is what the loops
// read; it and `resident_gauge` outlive this.
class MemoryWatch final : private event::Timer {
 public:
  static constexpr int kStepMs = 250;
  using Read = uint64_t (*)();  // bytes

  MemoryWatch(event::Loop& loop, uint64_t max_bytes, std::atomic<net::Load>& load,
              metrics::Gauge* resident_gauge, Read read = &residentBytes) noexcept;
  ~MemoryWatch() { loop_.cancel(*this); }
  void start() noexcept { onTimer(); }

  static uint64_t residentBytes();  // of this process; 0 where the system does not tell

 private:
  static constexpr int64_t kShortestTrimNs = 1'000'000'000;
  static constexpr int64_t kLongestTrimNs = 32'000'000'000;

  void onTimer() noexcept override;
  net::Load judge(uint64_t bytes) const noexcept;
  uint64_t trim(uint64_t bytes) noexcept;

  event::Loop& loop_;
  const uint64_t max_bytes_;
  std::atomic<net::Load>& load_;
  metrics::Gauge* const resident_gauge_;
  const Read read_;
  int64_t next_trim_ns_ = 0;
  int64_t trim_pause_ns_ = kShortestTrimNs;
};

// Watches how late one loop is: a timer that is due every 50 ms tells by how much it was missed, which is how
// long anything that is ready waits for its turn. Of a smoothed value, half the limit stops new connections
// and the limit new requests; each ends at half of where it begins, so that one slow moment sheds nothing and
// shedding does not flutter. Owned beside its loop; loop thread.
class LagWatch final : private event::Timer {
 public:
  static constexpr int kStepMs = 50;

  LagWatch(event::Loop& loop, uint32_t max_lag_ms, net::LoadGate& gate) noexcept
      : loop_(loop), max_ns_(int64_t{max_lag_ms} * 1'000'000), gate_(gate) {}
  ~LagWatch() { loop_.cancel(*this); }
  void start() noexcept;
  int64_t lagNs() const noexcept { return lag_ns_; }

 private:
  void onTimer() noexcept override;
  net::Load judge() const noexcept;

  event::Loop& loop_;
  const int64_t max_ns_;
  net::LoadGate& gate_;
  net::Load load_ = net::Load::kFine;
  int64_t due_ns_ = 0;
  int64_t lag_ns_ = 0;
};

// 80 % of what this process may use: of its cgroup's limit, or of the machine's memory where that is less. 0
// where the system does not tell.
uint64_t usualMemoryCap();

}  // namespace roost::server
