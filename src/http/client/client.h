#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/list.h"
#include "base/slab.h"
#include "event/loop.h"
#include "http/client/call.h"
#include "http/client/client_options.h"
#include "http/client/origin_pool.h"
#include "http/client/request.h"
#include "net/io_context.h"

namespace roost::net {
class Resolver;
}

namespace roost::http::client {

class ClientConnection;
struct ClientCounters;
struct ClientHeadSlot;

// An HTTP/1.1 client on one loop: asks other servers, keeps connections for the next request, and never
// blocks. Everything is bounded by ClientOptions. Made and used on the loop's thread, or before it runs;
// destroyed before its IoContext and its resolver, when calls that are under way hear kShutdown, and so do
// those that are started then (the first few of a chain of them); never from within a listener's call.
class Client final : private event::Timer {
 public:
  // `counters` may be nullptr, and otherwise outlives this.
  Client(net::IoContext& io, net::Resolver& resolver, const ClientOptions& options = {},
         const ClientCounters* counters = nullptr) noexcept;
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Sends a request. The listener is never called from within this; what cannot be sent fails soon after it.
  // An idle connection to the origin is used where there is one (the one used last), otherwise a new one is
  // made; beyond the limits the call waits its turn. A request that may be repeated (RFC 9110 section 9.2.2:
  // by its method; and its content is a buffer) is, when a kept connection turns out closed before any byte
  // of the answer.
  Call& start(const Origin& origin, const Request& request, ResponseListener& listener);

  // nullptr when it is over.
  Call* find(CallName name) noexcept { return calls_.find(name.slot, name.generation); }

  struct Stats {
    size_t connections = 0;  // all of them: connecting, busy and idle
    size_t connecting = 0;   // names being asked for included
    size_t idle = 0;
    size_t waiting = 0;  // calls without a connection
  };
  Stats stats() const noexcept;
  size_t calls() const noexcept { return calls_.size(); }

  const ClientOptions& options() const noexcept { return options_; }
  event::Loop& loop() const noexcept { return io_.loop(); }
  net::IoContext& io() const noexcept { return io_; }

 private:
  friend class Call;
  friend class ClientConnection;
  struct Deferred {
    CallName name;
    ClientFailure failure;
  };

  static Stats statsOf(const OriginPool& pool) noexcept;
  static const char* faultOf(const Origin& origin, const Request& request) noexcept;
  OriginPool* poolFor(const Origin& origin);
  void fill(Call& call, const Origin& origin, const Request& request);
  // The call's turn comes behind those that wait already, or before them.
  void enqueue(Call& call, bool first);
  void restart(Call& call);  // to another URL

  // Pools. None of these calls a listener.
  void pump(OriginPool& pool) noexcept;
  bool pumpOne(OriginPool& pool) noexcept;
  bool makeRoom() noexcept;
  void open(OriginPool& pool);
  void ready(ClientConnection& connection) noexcept;
  void attach(ClientConnection& connection, Call& call) noexcept;
  void keepIdle(ClientConnection& connection) noexcept;
  void leaveIdle(ClientConnection& connection) noexcept;
  void closeIdle(OriginPool& pool) noexcept;
  void remove(ClientConnection& connection) noexcept;  // it goes at the end of the batch
  void leaveQueue(Call& call) noexcept;

  // Ends. The listener's last call is the last thing these do.
  void fail(Call& call, const ClientFailure& failure) noexcept;
  void deferFailure(Call& call, const ClientFailure& failure);
  void deferBroken(ClientConnection& connection);
  void deferWritable(Call& call);
  ResponseListener& release(Call& call) noexcept;
  void onTimer() noexcept override;

  std::unique_ptr<ClientHeadSlot> takeSlot();
  void giveSlot(std::unique_ptr<ClientHeadSlot> slot) noexcept;

  net::IoContext& io_;
  net::Resolver& resolver_;
  const ClientOptions options_;
  const ClientCounters* counters_;
  Slab<Call, 32> calls_;
  std::map<std::string, std::unique_ptr<OriginPool>, std::less<>> pools_;
  ListHook idle_;     // all idle connections, the longest idle first
  ListHook starved_;  // pools whose calls wait for a connection of any origin to end
  ListHook to_pump_;
  size_t connections_ = 0;
  bool pumping_ = false;
  bool stopping_ = false;
  std::vector<Deferred> deferred_;
  std::vector<CallName> writable_;
  std::vector<ClientConnection*> broken_;
  std::vector<std::unique_ptr<ClientHeadSlot>> slots_;
  std::string scratch_;  // where a request's head is put together
};

}  // namespace roost::http::client
