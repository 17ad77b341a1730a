#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "db/client.h"
#include "db/options.h"
#include "db/pending_calls.h"
#include "db/spare_sessions.h"

namespace roost::db {

// Ends statements at one target, on a connection that nothing else uses and that is closed when there has
// been nothing to end for a while; where there is no room for that, on a spare one. A number means another
// statement at each server, so that it goes to the server of the statement, by its own address, and where a
// connection has come to another one nothing is ended. run() is a thread's work; the rest any thread's.
class Killer {
 public:
  Killer(const Options& options, const Target& target, SpareSessions& spares, PendingCalls& calls);

  void kill(const ServerPlace& server, uint64_t thread_id, uint64_t call_id);
  void run();  // until close()
  void close() noexcept;

 private:
  struct Order {
    ServerPlace server;
    uint64_t thread_id = 0;
    uint64_t call_id = 0;
  };
  bool next(Order& order);
  bool carryOut(const Order& order, Error& error);
  bool open(const Order& order, Error& error);
  bool killBySpare(const Order& order, Error& error);
  void tell(const Error& error);
  void giveUpAll();

  const Options options_;
  const Target target_;
  SpareSessions& spares_;
  PendingCalls& calls_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Order> orders_;
  bool closed_ = false;
  // The thread's.
  std::optional<Session> session_;
  std::optional<std::chrono::steady_clock::time_point> told_;
};

}  // namespace roost::db
