#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "db/client.h"
#include "db/options.h"
#include "db/pending_calls.h"

namespace roost::db {

// Ends statements at one server, on a connection that nothing else uses and that is closed when there has
// been nothing to end for a while. A number means another statement at
// each server: where the connection has come to another one nothing is ended. run() is a thread's work; the
// rest any thread's.
class Killer {
 public:
  Killer(const Options& options, const Target& target, PendingCalls& calls);

  void kill(std::string_view server, uint64_t thread_id, uint64_t call_id);
  void run();  // until close()
  void close() noexcept;

 private:
  struct Order {
    std::string server;
    uint64_t thread_id = 0;
    uint64_t call_id = 0;
  };
  bool next(Order& order);
  bool carryOut(const Order& order);
  void giveUpAll();

  const Options options_;
  const Target target_;
  PendingCalls& calls_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Order> orders_;
  bool closed_ = false;
  std::optional<Session> session_;  // the thread's
};

}  // namespace roost::db
