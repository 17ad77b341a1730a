#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "log/level.h"

namespace roost::log::detail {

// Lets one line a second pass. One static object per LOG_EVERY_SECOND place, shared by all threads, never
// destroyed. All that were ever reached stand in one list, so that the log can say how many even when no line
// follows.
class RateLimit {
 public:
  RateLimit(Level level, std::string_view source) noexcept : level_(level), source_(source) {}
  RateLimit(const RateLimit&) = delete;
  RateLimit& operator=(const RateLimit&) = delete;

  // True when the line may go out; held_back is then the number of lines it stands for besides itself.
  bool admit(uint32_t& held_back) noexcept;

  // Calls report(level, source, held_back) for each place that holds something back and whose second is over,
  // or for each that holds something when `all` is set. Returns the time (nowNs) at which to call again, 0
  // for never.
  template <class Report>
  static int64_t collect(bool all, Report&& report);
  static int64_t nowNs() noexcept;

 private:
  static std::atomic<RateLimit*> first_;

  const Level level_;
  const std::string_view source_;
  std::atomic<int64_t> closed_until_ns_{0};
  std::atomic<uint32_t> held_back_{0};
  std::atomic<bool> listed_{false};
  RateLimit* next_ = nullptr;
};

template <class Report>
int64_t RateLimit::collect(bool all, Report&& report) {
  int64_t again_ns = 0;
  const int64_t now = nowNs();
  for (RateLimit* limit = first_.load(std::memory_order_acquire); limit != nullptr; limit = limit->next_) {
    const int64_t closed_until = limit->closed_until_ns_.load(std::memory_order_relaxed);
    if (!all && now < closed_until) {
      if (again_ns == 0 || closed_until < again_ns) again_ns = closed_until;
      continue;
    }
    if (limit->held_back_.load(std::memory_order_relaxed) == 0) continue;
    const uint32_t held_back = limit->held_back_.exchange(0, std::memory_order_relaxed);
    if (held_back != 0) report(limit->level_, limit->source_, held_back);
  }
  return again_ns;
}

}  // namespace roost::log::detail
