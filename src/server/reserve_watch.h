#pragma once

#include "event/loop.h"

namespace roost::server {

// Says when memory was out (base/memory.h), and takes the reserve back as soon as there is room for it. Until
// then the loops refuse new connections and requests (net::LoadGate). Owned by the Server; main thread.
class ReserveWatch final : private event::Timer {
 public:
  static constexpr int kStepMs = 100;

  explicit ReserveWatch(event::Loop& loop) noexcept : loop_(loop) {}
  ~ReserveWatch() { loop_.cancel(*this); }
  void start() noexcept { onTimer(); }

 private:
  void onTimer() noexcept override;

  event::Loop& loop_;
  bool told_ = false;
};

}  // namespace roost::server
