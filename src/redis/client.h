#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/link.h"

namespace roost::redis {

// What came of a command: a reply, which may be an error of the server's (Reply::isError), or a failure.
struct CommandResult {
  const Reply* reply = nullptr;  // nullptr: failed
  RedisFailure failure;

  // The server did what it was asked.
  bool ok() const noexcept { return reply != nullptr && !reply->isError(); }
};

// Sends commands to a Redis server over one connection, pipelined: each goes out at once and replies come in
// order. The connection is made, and made again, by itself. One per loop, on its thread; destroyed before its
// IoContext and its resolver, when commands under way hear kStopped, and never from within one of
// its callbacks.
//
// While there is no connection commands wait for it, at most command_timeout_ms. When it dies, those that
// were sent fail with kConnectionLost and are not sent again: the server may have carried them out. Commands
// given one after the other in one callback stand one after the other; those that make sense together only
// (MULTI ... EXEC) are given together, as one of them alone may be refused. A command that blocks the
// server's connection (BLPOP) holds up all behind it.
class Client final : private LinkOwner, private event::Timer {
 public:
  using Done = std::function<void(const CommandResult&)>;  // must not throw

  Client(net::IoContext& io, net::Resolver& resolver, const RedisOptions& options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // `done` is called once, never from within this. The arguments are copied; any bytes may stand in them.
  void command(const std::string_view* args, size_t count, Done done);
  void command(std::initializer_list<std::string_view> args, Done done) {
    command(args.begin(), args.size(), std::move(done));
  }

  struct Command {
    std::vector<std::string_view> args;
    Done done;
  };
  // All of them with nothing in between; where one cannot be taken, none is, and each hears why.
  void commands(std::vector<Command> list);

  bool connected() const noexcept { return link_.up(); }

  struct Stats {
    uint64_t commands = 0;
    uint64_t failures = 0;  // without a reply
    uint64_t attempts = 0;  // to connect
    uint64_t losses = 0;    // of a connection that stood
    size_t in_flight = 0;
    size_t queued = 0;  // they wait for a connection
  };
  Stats stats() const noexcept;

 private:
  struct Waiting {  // for its reply
    Done done;
    int64_t deadline_ns;
  };
  struct Queued {  // for a connection
    std::string bytes;
    Waiting waiting;
  };
  struct Failed {
    Done done;
    RedisFailure failure;
  };

  void onUp() noexcept override;
  void onReply(std::unique_ptr<Reply> reply) noexcept override;
  void onDown(const RedisFailure& failure) noexcept override;
  void onDeadline() noexcept override;
  void onTimer() noexcept override;
  // Why so many more commands cannot be taken, kNone where they can.
  RedisError refusal(size_t count) const noexcept;
  void take(const std::string_view* args, size_t count, Done done);
  void failLater(Done done, RedisFailure failure);
  void tell(const Done& done, RedisFailure failure) noexcept;
  void watchFirst() noexcept;
  void armTimer() noexcept;

  event::Loop& loop_;
  const RedisOptions options_;
  std::deque<Waiting> in_flight_;
  std::deque<Queued> queue_;
  size_t queue_bytes_ = 0;
  std::vector<Failed> failed_;
  std::string scratch_;
  RedisFailure last_failure_;  // why there is no connection
  bool was_up_ = false;
  Stats stats_;
  Link link_;
};

}  // namespace roost::redis
