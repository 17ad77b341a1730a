#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "db/wire.h"

namespace roost::db {

// The calls of loops that threads are to answer: each is answered once, on its loop, unless that loop is
// forgotten first. A connect that takes too long is answered without its thread, which may hang in the
// resolver of names for as long as that likes. Any thread.
class PendingCalls {
 public:
  using Clock = std::chrono::steady_clock;
  // Posts the answer; under the lock, so that the loop is there.
  using PostConnected = std::function<void(event::Loop& loop, std::unique_ptr<ConnectCall> call)>;

  uint64_t add(event::Loop& loop, std::unique_ptr<ConnectCall> call, Clock::time_point deadline);
  uint64_t add(event::Loop& loop, std::unique_ptr<KillCall> call);

  // False: nobody waits for it any more.
  bool connected(uint64_t id, const PostConnected& post);
  bool failed(uint64_t id, const Error& error);
  void killed(uint64_t id, bool done);

  void forget(const event::Loop& loop) noexcept;
  void watch();  // answers what is overdue, until close()
  void close() noexcept;

 private:
  struct Call {
    event::Loop* loop = nullptr;
    std::unique_ptr<ConnectCall> connect;
    std::unique_ptr<KillCall> kill;
    Clock::time_point deadline = Clock::time_point::max();
  };
  bool take(uint64_t id, Call& call);
  static void postFailure(Call call, const Error& error);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, Call> calls_;
  uint64_t last_id_ = 0;
  bool closed_ = false;
};

}  // namespace roost::db
