#pragma once

#include <cstdint>
#include <string_view>

#include "event/loop.h"

namespace roost::http {

// The Date of answers (RFC 9110 section 6.6.1), formatted once a second. One per loop, its thread only.
class DateCache {
 public:
  explicit DateCache(event::Loop& loop) noexcept : loop_(loop) {}
  // 29 characters, valid until the next call.
  std::string_view text() noexcept {
    if (loop_.nowNs() >= stale_at_ns_) refresh();
    return {text_, sizeof text_};
  }
  // Seconds since 1970 of what text() says.
  int64_t seconds() noexcept {
    if (loop_.nowNs() >= stale_at_ns_) refresh();
    return seconds_;
  }

 private:
  void refresh() noexcept;

  event::Loop& loop_;
  int64_t stale_at_ns_ = INT64_MIN;
  int64_t seconds_ = 0;
  char text_[29];
};

}  // namespace roost::http
