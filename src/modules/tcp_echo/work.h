#pragma once

#include <cstdint>

namespace roost::modules::tcp_echo {

// What a message costs beside its echo: a stand-in for a handler that waits for something, or computes.
struct Work {
  enum class Kind : uint8_t { kNone, kSleep, kCpu };
  // kLoop: the loop's thread does it, and everything else on it waits; kTask: a task thread does; kTimer: a
  // timer of the loop, which only kSleep can be.
  enum class Where : uint8_t { kLoop, kTask, kTimer };

  Kind kind = Kind::kNone;
  Where where = Where::kLoop;
  uint32_t us = 0;
};

// Sleeps, or computes for so much processor time of this thread. Any thread.
void doWork(const Work& work) noexcept;

}  // namespace roost::modules::tcp_echo
