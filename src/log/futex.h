#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

namespace roost::log::detail {

// Sleeps while word == expected, at most timeout_ns (negative: without limit). May return early.
// Async-signal-safe.
inline void futexWait(std::atomic<uint32_t>& word, uint32_t expected, int64_t timeout_ns) noexcept {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  const timespec timeout{timeout_ns / kNsPerSecond, timeout_ns % kNsPerSecond};
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, timeout_ns < 0 ? nullptr : &timeout, nullptr, 0);
}

inline void futexWakeAll(std::atomic<uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace roost::log::detail
