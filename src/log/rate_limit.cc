#include "log/rate_limit.h"

#include <ctime>

#include "log/stamp.h"

namespace roost::log::detail {
namespace {
constexpr int64_t kWindowNs = 1'000'000'000;
}  // namespace

std::atomic<RateLimit*> RateLimit::first_{nullptr};

int64_t RateLimit::nowNs() noexcept {
  const auto clock = g_stamp_clock.load(std::memory_order_relaxed);
  if (clock != nullptr && clock != &systemRealtimeNs) return clock();
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

bool RateLimit::admit(uint32_t& held_back) noexcept {
  const int64_t now = nowNs();
  int64_t closed_until = closed_until_ns_.load(std::memory_order_relaxed);
  // A window further away than its own length comes from another clock (a test's): it does not count.
  const bool closed = now < closed_until && closed_until - now <= kWindowNs;
  if (closed ||
      !closed_until_ns_.compare_exchange_strong(closed_until, now + kWindowNs, std::memory_order_relaxed)) {
    held_back_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (!listed_.exchange(true, std::memory_order_relaxed)) {
    next_ = first_.load(std::memory_order_relaxed);
    while (!first_.compare_exchange_weak(next_, this, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
  held_back = held_back_.exchange(0, std::memory_order_relaxed);
  return true;
}

}  // namespace roost::log::detail
