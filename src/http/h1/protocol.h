#pragma once

#include <memory>
#include <vector>

#include "base/low_water.h"
#include "http/h1/head_slot.h"
#include "http/h1/server_session.h"
#include "http/loop_context.h"
#include "net/io_context.h"
#include "net/session.h"

namespace roost::http::h1 {

// HTTP/1 on one loop: gives sessions to connections that have something to say and takes them back when they
// fall silent. It is itself the session of every idle connection. Owned by the server beside its loop;
// outlives the loop's connections.
class Protocol final : public net::SessionFactory, public net::Session {
 public:
  explicit Protocol(LoopContext& context) noexcept : context_(context) {}
  ~Protocol();
  Protocol(const Protocol&) = delete;
  Protocol& operator=(const Protocol&) = delete;

  LoopContext& context() noexcept { return context_; }

  net::Session& sessionFor(net::Connection&) noexcept override { return *this; }

  void onConnected(net::Connection& connection) noexcept override;
  void onRead(net::Connection& connection, net::Chunk& in) noexcept override;
  void onWriteBlocked(net::Connection& connection, size_t bytes) noexcept override;
  void onWriteComplete(net::Connection& connection) noexcept override;
  void onTimeout(net::Connection& connection) noexcept override;
  uint32_t idleMs(const net::Connection& connection) const noexcept override;

  // For ServerSession.
  HeadSlot* takeSlot() noexcept;  // nullptr when memory is out
  void giveSlot(HeadSlot& slot) noexcept;
  void release(ServerSession& session) noexcept;  // to the pool

  // Frees sessions, and with `slots` slots, that nobody has needed since the last call. True: there are more
  // sessions, call again soon. Not from within a session's call: one that was released may still be on the
  // stack.
  bool giveBack(bool slots) noexcept;

 private:
  static constexpr size_t kKeep = 256;               // slots
  static constexpr uint32_t kFirstRequestMs = 1000;  // within which a new connection is not idle
  static constexpr size_t kMostFreed = 2048;         // sessions in one call: some 0.1 ms

  ServerSession& takeSession();
  // Whether the client reads what is left of a response more slowly than it may.
  bool takesTooLittle(net::Connection& connection) const noexcept;
  void cutSlowReader(net::Connection& connection) noexcept;

  LoopContext& context_;
  ServerSession* idle_sessions_ = nullptr;  // a list of those in the pool
  size_t idle_session_count_ = 0;
  LowWater low_sessions_;
  std::vector<std::unique_ptr<HeadSlot>> idle_slots_;
  LowWater low_slots_;
};

}  // namespace roost::http::h1
