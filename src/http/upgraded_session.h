#pragma once

#include <cstdint>
#include <memory>

#include "http/handler.h"
#include "http/request_state.h"
#include "net/connection.h"
#include "net/session.h"

namespace roost::http {

// A connection that has left HTTP/1 for another protocol, a server's or a client's: passes bytes between the
// connection and a listener, which it owns. Small, because an idle WebSocket keeps it; it lies in a cell of
// the loop's IoContext and goes when the connection closes. Loop thread only.
class UpgradedSession final : public net::Session, public ByteStream {
 public:
  // Becomes the connection's session. `watched` is told of the end; nullptr: nobody is. A peer that takes
  // nothing of what is sent to it for `send_timeout_ms` is cut off.
  static UpgradedSession& take(net::Connection& connection, std::unique_ptr<ByteStreamListener> listener,
                               std::unique_ptr<ParkedState> watched, uint32_t send_timeout_ms);
  UpgradedSession(const UpgradedSession&) = delete;
  UpgradedSession& operator=(const UpgradedSession&) = delete;

  // net::Session
  void onRead(net::Connection& connection, net::Chunk& in) noexcept override;
  void onReadEnd(net::Connection& connection) noexcept override;
  void onWriteBlocked(net::Connection& connection, size_t bytes) noexcept override;
  void onWriteComplete(net::Connection& connection) noexcept override;
  void onTimeout(net::Connection& connection) noexcept override;
  void onError(net::Connection& connection, int sys_errno) noexcept override;
  void onClose(net::Connection& connection) noexcept override;
  bool owesAnswer() const noexcept override { return shutting_down_; }
  void onShutdown(net::Connection& connection, int64_t until_ns) noexcept override;
  size_t heldBytes() const noexcept override { return listener_ == nullptr ? 0 : listener_->heldBytes(); }

  // ByteStream
  void queue(std::string_view copied) noexcept override;
  void queue(BufferRef buffer, size_t offset, size_t size) noexcept override;
  SendResult flush() noexcept override;
  SendResult sendNow(const BufferRef& block) noexcept override;
  size_t queuedBytes() const noexcept override { return connection_.queuedBytes(); }
  void setDeadline(uint32_t ms) noexcept override;
  void clearDeadline() noexcept override;
  void close() noexcept override;
  void abort(AbortReason reason) noexcept override;
  void pauseRead() noexcept override { connection_.pauseRead(); }
  void resumeRead() noexcept override;
  void yieldRead() noexcept override { connection_.offerInputSoon(); }
  event::Loop& loop() const noexcept override;
  const net::PeerAddr& peer() const noexcept override { return connection_.peer(); }

 private:
  static constexpr uint32_t kOutLimit = 256 << 10;  // what may be queued before writers are told to wait

  static constexpr uint32_t kGatherLimit = 16 << 10;  // of gathered blocks that count as sent

  UpgradedSession(net::Connection& connection, std::unique_ptr<ByteStreamListener> listener,
                  std::unique_ptr<ParkedState> watched, uint32_t send_timeout_ms) noexcept;
  ~UpgradedSession() = default;
  void tellWatched() noexcept;
  void count(size_t bytes) noexcept {
    if (watched_ != nullptr) watched_->progress.content_bytes += bytes;
  }

  net::Connection& connection_;
  std::unique_ptr<ByteStreamListener> listener_;  // nullptr: over
  std::unique_ptr<ParkedState> watched_;
  uint32_t send_timeout_ms_;
  AbortReason reason_ = AbortReason::kPeerClosed;
  bool closing_ = false;         // by us: nothing is read or written any more
  bool waits_for_room_ = false;  // kBlocked was answered, or the socket was full
  bool end_told_ : 1;
  bool shutting_down_ : 1;
};
static_assert(sizeof(UpgradedSession) <= 48, "idle upgraded connection budget");

}  // namespace roost::http
