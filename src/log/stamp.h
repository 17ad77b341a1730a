// Time stamps that cost a caller a few nanoseconds, and what turns them into time.
#pragma once

#include <atomic>
#include <cstdint>

namespace roost::log::detail {

// Null: stamps are TSC ticks. Otherwise they are nanoseconds since 1970 by this function: CLOCK_REALTIME
// where the machine has no TSC that ticks evenly on all cores, or a test's clock.
extern std::atomic<int64_t (*)()> g_stamp_clock;

inline uint64_t stampNow() noexcept {
  const auto clock = g_stamp_clock.load(std::memory_order_relaxed);
#if defined(__x86_64__)
  if (clock == nullptr)
    return __builtin_ia32_rdtsc();  // its header would be half of what every file includes
#endif
  return static_cast<uint64_t>(clock());
}

int64_t systemRealtimeNs() noexcept;

// True where the TSC ticks evenly in all power states and the kernel itself keeps time by it.
bool tscIsSteady() noexcept;

// Turns stamps into nanoseconds since 1970. Used by the thread that formats, under the log's lock. Takes a
// pair of (ticks, time) every now and then and computes from the latest one; the rate comes from the oldest
// and the latest pair.
class StampClock {
 public:
  // Takes the first pairs, 2 ms apart. Stamps are understood as g_stamp_clock says at each call.
  void begin() noexcept;
  // Takes a new pair when the latest is older than 100 ms. Call before a batch.
  void refresh() noexcept;
  // Nanoseconds since 1970; a stamp may be older or newer than the latest pair.
  int64_t toRealtimeNs(uint64_t stamp) const noexcept;

 private:
  struct Pair {
    uint64_t ticks = 0;
    int64_t monotonic_ns = 0;
    int64_t realtime_ns = 0;
  };
  static Pair takePair() noexcept;
  void renew() noexcept;

  Pair first_, latest_;
  double ns_per_tick_ = 0;
};

}  // namespace roost::log::detail
