#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "base/slab.h"
#include "event/timer_queue.h"
#include "http/loop_context.h"
#include "modules/tcp_echo/work.h"
#include "net/session.h"

namespace roost::modules::tcp_echo {

// Echoes, but every message (what one read brings) costs some work first, and the next is not read before it
// is done. One per loop and listener. Task threads get a copy of the bytes and the connection's name, never
// an fd or a pointer to it; where the pool has no room, messages wait here in their order. Loop thread.
class WorkingEcho final : public net::SessionFactory, private event::Timer {
 public:
  WorkingEcho(http::LoopContext& context, const Work& work, uint32_t idle_timeout_ms) noexcept
      : context_(context), work_(work), idle_timeout_ms_(idle_timeout_ms) {}
  ~WorkingEcho();  // REQUIRES: every connection is closed, and no task is under way
  WorkingEcho(const WorkingEcho&) = delete;
  WorkingEcho& operator=(const WorkingEcho&) = delete;

  net::Session& sessionFor(net::Connection& connection) noexcept override;

 private:
  struct Name {
    uint32_t slot;
    uint32_t generation;
  };
  struct Message {
    Name name;
    std::string bytes;
  };
  // One connection's. In sessions_ from its acceptance to its close.
  class Session final : public net::Session, public event::Timer {
   public:
    Session(uint32_t slot, WorkingEcho& echo, net::Connection& connection) noexcept
        : echo_(echo), connection_(connection), slot_(slot) {}

    void answer(const std::string& bytes) noexcept;

   private:
    void onConnected(net::Connection& connection) noexcept override;
    void onRead(net::Connection& connection, net::Chunk& in) noexcept override;
    void onReadEnd(net::Connection& connection) noexcept override;
    void onWriteBlocked(net::Connection& connection, size_t bytes) noexcept override;
    void onWriteComplete(net::Connection& connection) noexcept override;
    void onTimeout(net::Connection& connection) noexcept override;
    void onClose(net::Connection& connection) noexcept override;
    void onTimer() noexcept override;  // the work that is a wait is over
    bool owesAnswer() const noexcept override { return busy_; }
    void touch() noexcept;

    WorkingEcho& echo_;
    net::Connection& connection_;
    std::string waiting_;  // the message whose wait the timer is
    uint32_t slot_;
    bool busy_ = false;
    bool ended_ = false;  // the peer has ended its side meanwhile
  };

  void begin(Message message) noexcept;
  bool submit(Message& message) noexcept;  // false: the pool is full, and the message still here
  void finish(const Message& message) noexcept;
  void onTimer() noexcept override;  // asks the pool again
  void submitWaiting() noexcept;

  http::LoopContext& context_;
  const Work work_;
  const uint32_t idle_timeout_ms_;
  Slab<Session> sessions_;
  std::deque<Message> waiting_;  // for room in the pool; one per connection at most
  size_t under_way_ = 0;         // on task threads
};

}  // namespace roost::modules::tcp_echo
