#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/sys.h"
#include "push/hub.h"

namespace roost::event {
class Loop;
}

namespace roost::server {

// The hub of the process and what it stands on: the loops and the clocks. Main thread, made before the loops
// and destroyed after them; the hub itself is any thread's.
class PushHost final : private push::Host {
 public:
  PushHost(const push::HubOptions& options, uint32_t loop_count, Sys& sys);

  push::Hub& hub() noexcept { return hub_; }
  // For each loop, before any of them runs. They must not have been destroyed while one of them runs.
  void setLoop(uint32_t index, event::Loop& loop) noexcept { loops_[index] = &loop; }

 private:
  void post(uint32_t shard, std::unique_ptr<event::Task> task) noexcept override;
  int64_t nowNs() const noexcept override;
  int64_t unixSeconds() const noexcept override;

  Sys& sys_;
  std::vector<event::Loop*> loops_;
  push::Hub hub_;
};

}  // namespace roost::server
