#include "http/upgraded_session.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "net/io_context.h"

namespace roost::http {

static_assert(sizeof(UpgradedSession) <= net::IoContext::kCellBytes);

UpgradedSession& UpgradedSession::take(net::Connection& connection,
                                       std::unique_ptr<ByteStreamListener> listener,
                                       std::unique_ptr<ParkedState> watched, uint32_t send_timeout_ms) {
  void* const cell = connection.context().takeCell();
  return *new (cell) UpgradedSession(connection, std::move(listener), std::move(watched), send_timeout_ms);
}

UpgradedSession::UpgradedSession(net::Connection& connection, std::unique_ptr<ByteStreamListener> listener,
                                 std::unique_ptr<ParkedState> watched, uint32_t send_timeout_ms) noexcept
    : connection_(connection),
      listener_(std::move(listener)),
      watched_(std::move(watched)),
      send_timeout_ms_(send_timeout_ms),
      end_told_(false),
      shutting_down_(false) {
  connection.setSession(*this);
  waits_for_room_ = connection.writeBlocked();  // the answer that this begins with has filled the socket
  if (waits_for_room_) connection.setDeadline(send_timeout_ms_);
  if (watched_ != nullptr) watched_->progress.content_bytes = 0;
}

void UpgradedSession::onRead(net::Connection& connection, net::Chunk& in) noexcept {
  while (!in.empty() && !closing_ && !connection.readPaused() && !connection.offersSoon()) {
    const size_t used = listener_->onBytes(in.mutableData(), in.size());
    if (connection.closed()) return;
    in.consume(std::min(used, in.size()));
    if (used == 0) break;
  }
  if (closing_) in.consume(in.size());
}

void UpgradedSession::onReadEnd(net::Connection& connection) noexcept {
  if (connection.readPaused() && connection.unreadBytes() > 0) return;  // what is there comes first
  if (closing_ || end_told_) return;
  end_told_ = true;
  listener_->onEnd();
}

void UpgradedSession::onWriteBlocked(net::Connection& connection, size_t) noexcept {
  waits_for_room_ = true;
  connection.setDeadline(send_timeout_ms_);
}

void UpgradedSession::onWriteComplete(net::Connection& connection) noexcept {
  if (!std::exchange(waits_for_room_, false)) return;
  connection.clearDeadline();
  if (!closing_) listener_->onWritable();
}

void UpgradedSession::onTimeout(net::Connection& connection) noexcept {
  if (!connection.writing()) {
    if (!closing_) listener_->onDeadline();
  } else if (connection.writeProgressed()) {
    connection.setDeadline(send_timeout_ms_);
  } else {
    reason_ = AbortReason::kTimeout;
    connection.reset();
  }
}

void UpgradedSession::onError(net::Connection&, int sys_errno) noexcept {
  reason_ = sys_errno == ETIMEDOUT ? AbortReason::kTimeout : AbortReason::kReset;
}

void UpgradedSession::onShutdown(net::Connection&, int64_t) noexcept {
  reason_ = AbortReason::kShutdown;
  if (!closing_) shutting_down_ = listener_->onShutdown();
}

// Complete is what we have closed and the socket has taken.
void UpgradedSession::tellWatched() noexcept {
  if (watched_ == nullptr) return;
  const std::unique_ptr<ParkedState> watched = std::move(watched_);
  watched->progress.uncount(connection_.unsentBytes());
  Outcome how = watched->progress.outcome(loop().sys().monotonicNs());
  how.aborted = !closing_ || connection_.writing();
  how.reason = reason_;
  watched->tell(how);
}

void UpgradedSession::onClose(net::Connection& connection) noexcept {
  tellWatched();
  std::unique_ptr<ByteStreamListener> listener = std::move(listener_);
  closing_ = true;
  listener->onClose(reason_);
  // One of its own calls may be what brought this about.
  loop().destroyLater(event::makeTask([gone = std::move(listener)] {}));
  connection.context().giveCell(this);  // nothing is left in it that would have to be destroyed
}

void UpgradedSession::queue(std::string_view copied) noexcept {
  if (closing_) return;
  count(copied.size());
  connection_.write(copied);
}

void UpgradedSession::queue(BufferRef buffer, size_t offset, size_t size) noexcept {
  if (closing_) return;
  count(size);
  connection_.write(std::move(buffer), offset, size);
}

SendResult UpgradedSession::flush() noexcept {
  if (closing_ || connection_.closed()) return SendResult::kClosed;
  connection_.flush();
  if (connection_.closed()) return SendResult::kClosed;
  if (connection_.queuedBytes() <= kOutLimit) return SendResult::kAccepted;
  waits_for_room_ = true;
  return SendResult::kBlocked;
}

SendResult UpgradedSession::sendNow(const BufferRef& block) noexcept {
  if (closing_ || connection_.closed()) return SendResult::kClosed;
  count(block.size());
  const size_t sent = connection_.writeNow(block.view());
  if (sent == block.size()) return SendResult::kAccepted;
  connection_.write(block, sent, block.size() - sent);
  connection_.flush();
  if (connection_.closed()) return SendResult::kClosed;
  // What is left though the socket is not full leaves when what is being read has been dealt with.
  const bool gathers = !connection_.writeBlocked() && connection_.queuedBytes() <= kGatherLimit;
  if (!connection_.writing() || gathers) return SendResult::kAccepted;
  waits_for_room_ = true;
  return SendResult::kBlocked;
}

// The deadline for sending is not the listener's to move: a peer that takes nothing could otherwise put it
// off for ever by what it sends.
void UpgradedSession::setDeadline(uint32_t ms) noexcept {
  if (!connection_.writeBlocked()) connection_.setDeadline(ms);
}

void UpgradedSession::clearDeadline() noexcept {
  if (!connection_.writeBlocked()) connection_.clearDeadline();
}

void UpgradedSession::close() noexcept {
  if (std::exchange(closing_, true)) return;
  connection_.closeAfterWrite(true);
}

void UpgradedSession::abort(AbortReason reason) noexcept {
  if (connection_.closed()) return;
  reason_ = reason;
  connection_.reset();
}

void UpgradedSession::resumeRead() noexcept {
  if (!connection_.readPaused()) return;
  connection_.resumeRead();
  if (!connection_.closed() && connection_.unreadBytes() > 0) connection_.offerInputSoon();
}

event::Loop& UpgradedSession::loop() const noexcept {
  return connection_.context().loop();
}

}  // namespace roost::http
