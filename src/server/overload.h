#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "event/loop.h"
#include "event/timer_queue.h"
#include "metrics/counter.h"
#include "net/evictor.h"
#include "net/io_context.h"
#include "net/load_gate.h"
#include "server/system_facts.h"

namespace roost::server {

// The order in which the server sheds load. Where memory runs short:
//   1. the connections that hold most are reset, or idle ones closed where those hold more, and meanwhile new
//      connections are not accepted (they wait in the kernel's queue),
//   2. where that is not enough, new requests are answered 503 with Retry-After and their connections closed.
// Where a loop falls behind nothing is closed: new connections wait, then new requests are refused.

// What the system says of this process's memory.
struct ProcessMemory {
  uint64_t address_space_bytes = 0;
  uint64_t resident_bytes = 0;
  uint64_t data_bytes = 0;  // private and writable, touched or not
};
ProcessMemory readProcessMemory();  // any thread; zeros where the system does not tell

// MemoryWatch watches the process's resident memory. At 90 % of the cap it stops new connections and has the
// loops give memory back, at the cap it stops new requests; each ends 5 % below where it begins. What the
// allocator holds unused is then given back to the system: at once after the loops have freed something, else
// at most once a second.
//
// It looks every kStepMs, every kShortStepMs while memory is short, and whenever a loop has taken
// kGrowthStepBytes.
//
// Owned by the Server, on the main thread; onGrowth() may be called by any. `load` is what the loops read; it
// outlives this. `read` tells how much memory is in use; any thread calls it.
class MemoryWatch final : public net::GrowthListener, private event::Timer {
 public:
  static constexpr int kStepMs = 250;
  static constexpr int kShortStepMs = 25;
  static constexpr size_t kGrowthStepBytes = 2 << 20;  // of one loop
  // The bytes in use; below `floor_bytes` it need not be exact.
  using Read = uint64_t (*)(uint64_t floor_bytes);
  // Has every loop take part in a round.
  using AskLoops = std::function<void(net::MemoryRelief&)>;

  MemoryWatch(event::Loop& loop, std::atomic<net::Load>& load, Read read) noexcept;
  ~MemoryWatch() { loop_.cancel(*this); }
  // Before start(). Without it connections are left alone.
  void setLoops(uint32_t count, AskLoops ask) {
    loop_count_ = count;
    ask_loops_ = std::move(ask);
  }
  void start(uint64_t max_bytes) noexcept;
  void onGrowth() noexcept override;

  static uint64_t residentBytes();  // of this process; 0 where the system does not tell

 private:
  static constexpr int64_t kShortestTrimNs = 1'000'000'000;
  static constexpr int64_t kLongestTrimNs = 32'000'000'000;
  static constexpr int64_t kShortestReliefNs = 100'000'000;  // from one round to the next
  static constexpr int64_t kLongestReliefNs = 1'000'000'000;

  void onTimer() noexcept override { look(); }
  void look() noexcept;
  // Below this nothing is done. Any thread.
  uint64_t floorBytes() const noexcept { return max_bytes_.load(std::memory_order_relaxed) / 100 * 85; }
  net::Load judge(uint64_t bytes, net::Load now) const noexcept;
  uint64_t trim(uint64_t bytes) noexcept;
  void endRound() noexcept;
  void relieve(uint64_t bytes) noexcept;

  event::Loop& loop_;
  std::atomic<uint64_t> max_bytes_{0};
  std::atomic<net::Load>& load_;
  const Read read_;
  net::Load told_ = net::Load::kFine;  // what the log has said last
  int64_t next_trim_ns_ = 0;
  int64_t trim_pause_ns_ = kShortestTrimNs;
  std::atomic<bool> look_posted_{false};

  uint32_t loop_count_ = 0;
  AskLoops ask_loops_;
  net::MemoryRelief relief_;
  bool in_round_ = false;
  int64_t next_relief_ns_ = 0;
  int64_t relief_pause_ns_ = kShortestReliefNs;
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

// 80 % of what this process may use: of the machine's memory, of its control group's limit, and of what
// RLIMIT_AS and RLIMIT_DATA leave. Those two count address space, resident or not: `now`, read when all
// threads run, tells how much of it never becomes resident (stacks, what the allocator reserves). 0 where the
// system does not tell.
uint64_t usualMemoryCap(const SystemFacts& facts, const ProcessMemory& now);

}  // namespace roost::server
