#pragma once

#include <cstdint>

#include "event/loop.h"
#include "event/timer_queue.h"
#include "http/h1/protocol.h"
#include "metrics/registry.h"
#include "net/io_context.h"

namespace roost::server {

// Housekeeper gives back the memory that one loop holds and no longer needs: once a second what nobody has
// used since the second before, in steps that take well below a millisecond. Made and started by the loop's
// IoThread, which owns it; loop thread only. Its loop's IoContext and Protocol outlive it.
class Housekeeper final : private event::Timer {
 public:
  static constexpr int kPauseMs = 1000;
  static constexpr int kStepMs = 10;  // between two steps, while there is more

  Housekeeper(net::IoContext& io, http::h1::Protocol& protocol, metrics::Registry& metrics);
  ~Housekeeper();
  void start() noexcept;

 private:
  void onTimer() noexcept override;
  void countReusable() noexcept;

  net::IoContext& io_;
  http::h1::Protocol& protocol_;
  metrics::Histogram& took_;
  bool goes_on_ = false;        // the last step left some for the next
  int64_t reusable_bytes_ = 0;  // as heap::countReusable was told
};

}  // namespace roost::server
