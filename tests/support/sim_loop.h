#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "event/loop.h"
#include "net/io_context.h"
#include "support/sim_sys.h"

namespace roost::test {

// A loop with its connections on a simulated kernel, driven by the test's own thread.
class SimLoop {
 public:
  SimLoop()
      : loop_(std::move(event::Loop::create(sys, 0)).value()),
        io_(std::make_unique<net::IoContext>(*loop_)) {}
  ~SimLoop() { shutDown(); }

  // Runs until nothing is ready. False when that does not come: the loop spins.
  bool settle(int most_rounds = 20000) {
    for (int round = 0; round < most_rounds; ++round) {
      loop_->runOnce(0);
      if (sys.lastReady() == 0 && !loop_->skipsWait()) return true;
    }
    return false;
  }
  // Lets time pass in steps, so that every timer has its turn near its time.
  bool pass(int64_t ms, int64_t step_ms = 50) {
    for (int64_t passed = 0; passed < ms; passed += step_ms) {
      sys.advanceMs(step_ms);
      if (!settle()) return false;
    }
    return true;
  }
  // A client's connection, adopted as of listener `index`.
  SimPeer connect(uint16_t index = 0, std::string_view ip = "127.0.0.1") {
    const auto [fd, peer] = sys.connectedPair(ip);
    io_->adopt({fd, address(ip), index});
    return peer;
  }
  static net::PeerAddr address(std::string_view ip) {
    const auto parsed = net::SocketAddress::parse(ip, 40000);
    return net::PeerAddr::from(parsed.value().get(), parsed.value().size());
  }
  // Closes what is left; the loop goes with the connections.
  void shutDown() {
    io_.reset();
    loop_.reset();
  }

  event::Loop& loop() { return *loop_; }
  net::IoContext& io() { return *io_; }

  SimSys sys;

 private:
  std::unique_ptr<event::Loop> loop_;
  std::unique_ptr<net::IoContext> io_;
};

}  // namespace roost::test
