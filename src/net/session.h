#pragma once

#include <cstddef>
#include <cstdint>

#include "net/chunk.h"

namespace roost::net {

class Connection;

// What listens to a connection's events: an HTTP/1 session, a plain TCP server's or client's own class. One
// object may serve many connections. The connection borrows it; its owner keeps it until onClose has
// returned. All calls come on the loop's thread and never throw; closing the connection from within any of
// them is allowed.
class Session {
 public:
  // A client's connection attempt is under way.
  virtual void onConnecting(Connection&) noexcept {}
  // The connection stands: accepted, or the attempt succeeded.
  virtual void onConnected(Connection&) noexcept {}
  // Bytes have arrived. What is consumed from `in` is gone; the rest is kept and offered again together with
  // more. Views into `in` are valid until this call returns.
  virtual void onRead(Connection&, Chunk& in) noexcept = 0;
  // The peer has ended its side; nothing more will be read. The default closes once what was queued is sent.
  virtual void onReadEnd(Connection&) noexcept;
  // The same, behind input that has not been read, since reading is paused; only after
  // Connection::watchEnd(true). What was sent before the end is still there.
  virtual void onPeerEnd(Connection&) noexcept {}
  // The out queue could not be sent at once; some of it may have gone out (`bytes`).
  virtual void onWriteBlocked(Connection&, size_t bytes) noexcept { static_cast<void>(bytes); }
  // The out queue has become empty.
  virtual void onWriteComplete(Connection&) noexcept {}
  // The deadline set by Connection::setDeadline has passed. The default closes.
  virtual void onTimeout(Connection&) noexcept;
  // The connection failed; onClose follows. `sys_errno` is ETIMEDOUT, ECONNRESET, ECONNREFUSED, ...
  virtual void onError(Connection&, int sys_errno) noexcept { static_cast<void>(sys_errno); }
  // The last call: the connection is gone. What it had not sent is dropped.
  virtual void onClose(Connection&) noexcept {}

  // How long nothing has been under way here that the peer would miss: such a connection may be closed when
  // room for others is wanted. kBusy, the default: something is.
  static constexpr uint32_t kBusy = UINT32_MAX;
  virtual uint32_t idleMs(const Connection&) const noexcept { return kBusy; }
  // Memory that this keeps for the peer beyond its own size and the connection's buffers, and that would come
  // back with the connection's end.
  virtual size_t heldBytes() const noexcept { return 0; }

  // Whether the peer is to get something that is not queued yet. A server that ends waits for it, within
  // bounds; a connection that owes nothing and writes nothing is closed.
  virtual bool owesAnswer() const noexcept { return false; }
  // The server is about to end, and waits for answers until `until_ns` of the loop's clock. Once per
  // connection.
  virtual void onShutdown(Connection&, int64_t until_ns) noexcept { static_cast<void>(until_ns); }

 protected:
  ~Session() = default;
};

// Gives each new connection of a listener its session. One per listener and loop.
class SessionFactory {
 public:
  virtual Session& sessionFor(Connection&) noexcept = 0;

 protected:
  ~SessionFactory() = default;
};

}  // namespace roost::net
