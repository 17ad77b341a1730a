#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "event/loop.h"
#include "http/client/client.h"
#include "http/client/request.h"
#include "net/io_context.h"
#include "net/resolver.h"
#include "tools/swarm/stats.h"
#include "tools/swarm/worker.h"

namespace roost::swarm {

// Publisher sends the messages that a run's clients receive: numbered from 1, stamped with the time, one POST
// each, at the scenario's interval from the beginning of the measured time.
//
// Made and run on a thread of its own; `plan`, `control` and `stats` outlive it. One message is under way at
// a time. A message that the server refuses, or that could not be sent, is an error and is sent again after
// `reconnect_delay_ms`. A message whose answer was lost is an error too, but the next one follows: it may
// have been delivered, and sent again it would come twice.
class Publisher final : private event::Timer, private http::client::ResponseListener {
 public:
  static Result<std::unique_ptr<Publisher>> create(Sys& sys, const Plan& plan, Control& control,
                                                   Stats& stats);
  ~Publisher();

  void run() noexcept { loop_->run(); }  // until the measured time is over
  // For tests that drive the loop themselves.
  event::Loop& loop() noexcept { return *loop_; }

 private:
  Publisher(const Plan& plan, Control& control, Stats& stats);

  void onTimer() noexcept override;
  void onHead(http::client::Call& call, const http::client::ReceivedHead& head,
              const http::h1::ResponseFraming& framing) noexcept override;
  void onBody(http::client::Call&, std::string_view) noexcept override {}
  void onEnd() noexcept override;
  void onFailure(const http::client::ClientFailure& failure) noexcept override;

  void publish(int64_t now_ns);
  void published(uint64_t messages) noexcept;
  void complain(const std::string& what) noexcept;
  int64_t dueNs() const noexcept;
  int64_t clockNs() const noexcept { return loop_->sys().monotonicNs(); }

  static constexpr int64_t kTickNs = 10'000'000;  // how often the phases are looked at

  const Plan& plan_;
  Control& control_;
  Stats& stats_;
  std::string host_field_, fields_;
  std::unique_ptr<event::Loop> loop_;
  std::unique_ptr<net::IoContext> context_;
  std::unique_ptr<net::Resolver> resolver_;
  std::unique_ptr<http::client::Client> client_;
  uint64_t next_ = 1;     // the number of the message that is due, or under way
  int64_t sent_ns_ = 0;   // when that was sent
  int64_t retry_ns_ = 0;  // not before that
  uint16_t status_ = 0;   // of its answer
  bool under_way_ = false;
};

}  // namespace roost::swarm
