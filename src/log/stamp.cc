#include "log/stamp.h"

#include <fcntl.h>
#include <unistd.h>

#include <ctime>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/unique_fd.h"

namespace roost::log::detail {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr int64_t kRefreshNs = 100'000'000;
constexpr int64_t kFirstBaselineNs = 2'000'000;  // two readings 20 ns off over this are 10 ppm

int64_t clockNs(clockid_t id) noexcept {
  timespec now{};
  ::clock_gettime(id, &now);
  return static_cast<int64_t>(now.tv_sec) * kNsPerSecond + now.tv_nsec;
}

uint64_t ticksNow() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

bool kernelUsesTsc() noexcept {
  const UniqueFd fd(
      ::open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC));
  char name[16];
  const ssize_t n = fd ? ::read(fd.get(), name, sizeof name) : -1;
  return n >= 3 && std::string_view(name, 3) == "tsc";
}

}  // namespace

std::atomic<int64_t (*)()> g_stamp_clock{&systemRealtimeNs};

int64_t systemRealtimeNs() noexcept {
  return clockNs(CLOCK_REALTIME);
}

bool tscIsSteady() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kPowerManagement = 0x80000007, kInvariantTsc = 1U << 8;
  return __get_cpuid(kPowerManagement, &a, &b, &c, &d) != 0 && (d & kInvariantTsc) != 0 && kernelUsesTsc();
#else
  return false;
#endif
}

StampClock::Pair StampClock::takePair() noexcept {
  Pair best;
  uint64_t best_width = UINT64_MAX;
  for (int i = 0; i < 5; ++i) {  // the narrowest of a few: a reading may be interrupted
    Pair pair;
    const uint64_t before = ticksNow();
    pair.realtime_ns = clockNs(CLOCK_REALTIME);
    pair.monotonic_ns = clockNs(CLOCK_MONOTONIC);
    const uint64_t after = ticksNow();
    pair.ticks = before + (after - before) / 2;
    if (after - before < best_width) {
      best_width = after - before;
      best = pair;
    }
  }
  return best;
}

void StampClock::begin() noexcept {
  if (g_stamp_clock.load(std::memory_order_relaxed) != nullptr) return;
  if (ns_per_tick_ != 0) {
    latest_ = takePair();
    return;
  }
  first_ = takePair();
  const timespec baseline{0, kFirstBaselineNs};
  ::nanosleep(&baseline, nullptr);
  renew();
}

void StampClock::refresh() noexcept {
  if (g_stamp_clock.load(std::memory_order_relaxed) != nullptr) return;
  if (clockNs(CLOCK_MONOTONIC) - latest_.monotonic_ns >= kRefreshNs) renew();
}

void StampClock::renew() noexcept {
  latest_ = takePair();
  // The rate is the monotonic clock's: the real time may be set while we run.
  const uint64_t ticks = latest_.ticks - first_.ticks;
  if (ticks != 0)
    ns_per_tick_ =
        static_cast<double>(latest_.monotonic_ns - first_.monotonic_ns) / static_cast<double>(ticks);
}

int64_t StampClock::toRealtimeNs(uint64_t stamp) const noexcept {
  if (g_stamp_clock.load(std::memory_order_relaxed) != nullptr) return static_cast<int64_t>(stamp);
  const auto ticks = static_cast<int64_t>(stamp - latest_.ticks);
  return latest_.realtime_ns + static_cast<int64_t>(static_cast<double>(ticks) * ns_per_tick_);
}

}  // namespace roost::log::detail
