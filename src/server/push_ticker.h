#pragma once

#include <chrono>

#include "event/loop.h"
#include "push/hub.h"

namespace roost::server {

// Gives a loop's shard of the hub its turns while the loop runs. Loop thread only, but for making it.
class PushTicker final : private event::Timer {
 public:
  PushTicker(event::Loop& loop, push::Shard& shard) noexcept : loop_(loop), shard_(shard) {}

  void start() noexcept { loop_.armIn(*this, kInterval); }
  // Ends the subscriptions. Idempotent.
  void stop() noexcept {
    if (stopped_) return;
    stopped_ = true;
    loop_.cancel(*this);
    shard_.stop();
  }

 private:
  static constexpr std::chrono::milliseconds kInterval{250};

  void onTimer() noexcept override {
    shard_.tick();
    loop_.armIn(*this, kInterval);
  }

  event::Loop& loop_;
  push::Shard& shard_;
  bool stopped_ = false;
};

}  // namespace roost::server
