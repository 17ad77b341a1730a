// Long polls and event streams: what waits with an exchange.
#pragma once

#include <string_view>

#include "http/exchange.h"
#include "modules/push/subscribe_desk.h"

namespace roost::modules::push {

// Whether one of the hub's calls to a subscriber of this thread is under way. What it brings about may be the
// next request of the same connection, and the hub is not to be asked from within its own call.
class HubCall {
 public:
  HubCall() noexcept { ++depth(); }
  ~HubCall() { --depth(); }
  HubCall(const HubCall&) = delete;
  HubCall& operator=(const HubCall&) = delete;
  static bool underWay() noexcept { return depth() != 0; }

 private:
  static int& depth() noexcept {
    thread_local int calls = 0;
    return calls;
  }
};

// Answers the exchange with one message, or when there is none for long enough: 408 or 304. `at_once`: with
// 304 where there is none now.
void startPoll(http::Exchange& exchange, Desk& desk, std::string_view channel,
               const hub::SubscribeOptions& options, bool at_once) noexcept;

// What a stream begins with, as the answer to HEAD.
void headOfStream(http::Exchange& exchange) noexcept;

// Answers the exchange with an event stream that does not end by itself.
void startStream(http::Exchange& exchange, Desk& desk, std::string_view channel,
                 const hub::SubscribeOptions& options) noexcept;

}  // namespace roost::modules::push
