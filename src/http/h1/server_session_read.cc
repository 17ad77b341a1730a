// The reading side of a ServerSession: bytes in, heads and bodies out of them, and when to stop reading.
#include <algorithm>

#include "http/h1/protocol.h"
#include "http/h1/server_session.h"

namespace roost::http::h1 {

void ServerSession::onRead(net::Connection&, net::Chunk& in) noexcept {
  busy_ = true;
  bool more = true;
  while (more && !connection_->closed()) {
    switch (reading_) {
      case Reading::kHead:
        more = readHead(in);
        break;
      case Reading::kBody:
        more = readBody(in);
        break;
      case Reading::kDone:
        // The next request waits in the buffer, or in the kernel once that is enough. Where the wait may be
        // long, a peer that is not read from could go away unseen: rather no such peer.
        if (in.size() >= kAheadLimit && exchange_.parked()) {
          connection_->close();
        } else if (in.size() >= kAheadLimit) {
          connection_->pauseRead();
        }
        more = false;
        break;
      case Reading::kEnd:
        in.consume(in.size());
        more = false;
        break;
      case Reading::kUpgraded:
        more = false;
        break;
    }
  }
  if (reading_ == Reading::kBody && !answered_ && !connection_->readPaused() && !connection_->closed())
    judgePace();
  busy_ = false;
  if (reading_ == Reading::kUpgraded) {
    // What came behind the request is the other session's.
    if (!in.empty()) connection_->offerInputSoon();
    protocol_.release(*this);
    return;
  }
  if (closed_) {
    protocol_.release(*this);
    return;
  }
  if (exchange_.active()) {
    keepHead();  // which may end the connection, and this session with it
  } else {
    detachIfIdle(!in.empty());
  }
}

// Whether answers before this request hold so much memory that it waits. What is held counts, not what is
// sent: a few bytes of head in front of a file's range cost more in slices than in bytes.
bool ServerSession::answersPileUp() noexcept {
  if (connection_->heldOutBytes() <= kPipelineLimit) return false;
  connection_->sendNow(kTurnLimit);
  if (connection_->heldOutBytes() <= kPipelineLimit) return false;
  if (const HttpCounters* counters = protocol_.context().counters()) counters->pipeline_waits.add();
  return true;
}

bool ServerSession::readHead(net::Chunk& in) noexcept {
  if (in.empty()) return false;
  // Answers that the peer does not take are not added to; onWriteComplete goes on.
  if (exchange_.hasUntold() || answersPileUp()) {
    connection_->pauseRead();
    return false;
  }
  const bool first_bytes = slot_ == nullptr;
  if (first_bytes) slot_ = protocol_.takeSlot();
  if (slot_ == nullptr) {
    connection_->failForMemory();
    return false;
  }
  switch (slot_->parser.parse(in.data(), in.size(), options().head_limits, slot_->head)) {
    case ParseState::kNeedMore:
      if (first_bytes) connection_->setDeadline(options().head_timeout_ms);
      return false;
    case ParseState::kError: {
      const std::string_view received(in.data(), in.size());
      in.consume(in.size());
      refuse(slot_->parser.errorStatus(), slot_->parser.errorReason(), AbortReason::kProtocol, received);
      return false;
    }
    case ParseState::kDone:
      break;
  }
  in.consume(slot_->head.size);
  input_behind_ = !in.empty();
  accept(requestFraming(slot_->head));
  return reading_ != Reading::kEnd;
}

bool ServerSession::readBody(net::Chunk& in) noexcept {
  if (in.empty()) return false;
  // Once answered, it is read away under the one deadline that settle() has set, however often a piece comes.
  if (!answered_) {
    // It waits until its listener has dealt with what it has, or until somebody listens or answers at all.
    const bool undecided = exchange_.listener() == nullptr && !exchange_.parked();
    if (undecided || slot_->unconsumed >= kBodyWindow) {
      connection_->pauseRead();
      waitForHandler();
      return false;
    }
    connection_->setDeadline(options().body_timeout_ms);
  }
  expects_continue_ = false;  // it came unasked
  return chunked_body_ ? readChunked(in) : readLength(in);
}

// Refuses a body that comes too slowly. Looked at when something has come: body_timeout_ms is for when
// nothing does. An answer that has begun may last, and the body with it.
void ServerSession::judgePace() noexcept {
  const ServiceOptions& limits = options();
  if (limits.min_body_bytes_per_s == 0 || exchange_.headSent()) return;
  const int64_t now_ns = protocol_.context().loop().nowNs();
  if (slot_->body_since_ns == 0) slot_->body_since_ns = now_ns;
  const int64_t past_ms = (now_ns - slot_->body_since_ns) / 1'000'000;
  if (past_ms < int64_t{limits.min_rate_window_ms}) return;
  const uint64_t least = uint64_t{limits.min_body_bytes_per_s} * static_cast<uint64_t>(past_ms) / 1000;
  const bool slow = slot_->body_in_window < least;
  slot_->body_since_ns = now_ns;
  slot_->body_in_window = 0;
  if (!slow) return;
  if (const HttpCounters* counters = protocol_.context().counters()) counters->slow_bodies.add();
  countTimeout();
  refuse(408, "body below the least rate", AbortReason::kTimeout);
}

bool ServerSession::readLength(net::Chunk& in) noexcept {
  const size_t size = static_cast<size_t>(std::min<uint64_t>(in.size(), slot_->body_left));
  const std::string_view piece(in.data(), size);
  in.consume(size);
  slot_->body_left -= size;
  slot_->body_in_window += size;
  return deliver(piece, slot_->body_left == 0);
}

bool ServerSession::readChunked(net::Chunk& in) noexcept {
  const ChunkPiece piece = slot_->chunks.next(in.data(), in.size(), options().head_limits);
  in.consume(piece.consumed);
  slot_->body_in_window += piece.size;
  slot_->body_overhead += piece.consumed - piece.size;
  if (piece.step != ChunkStep::kError && bodyTooLarge(piece.size)) return false;
  switch (piece.step) {
    case ChunkStep::kNeedMore:
      return false;
    case ChunkStep::kData:
      return deliver({piece.data, piece.size}, false);
    case ChunkStep::kDone:
      return deliver({}, true);
    case ChunkStep::kError:
      refuse(slot_->chunks.errorStatus(), slot_->chunks.errorReason());
      return false;
  }
  return false;
}

// Of a chunked body what surrounds the content counts like content, as far as it is more than usual: several
// times the content, sent as extensions of one-byte chunks, takes as much work.
bool ServerSession::bodyTooLarge(uint64_t more) noexcept {
  slot_->body_seen += more;
  const uint64_t usual = slot_->body_seen + kChunkAllowance;
  const uint64_t beyond = slot_->body_overhead > usual ? slot_->body_overhead - usual : 0;
  if (slot_->body_seen + beyond <= options().max_body_bytes) return false;
  refuse(413, "chunked body beyond the limit");
  return true;
}

// Gives a piece of the body to whoever listens; one that nobody wants is dropped, within a bound.
bool ServerSession::deliver(std::string_view piece, bool fin) noexcept {
  if (fin) {
    reading_ = Reading::kDone;
    if (!answered_) waitForHandler();
    if (exchange_.active() && exchange_.parked()) giveParkedSlot();
  }
  if (!answered_ && exchange_.listener() != nullptr) {
    if (slot_ != nullptr) {
      slot_->unconsumed += static_cast<uint32_t>(piece.size());
      slot_->body_given += piece.size();
    }
    exchange_.listener()->onBody(piece, fin);  // may answer, and then all is settled
    return reading_ != Reading::kEnd;
  }
  if (fin) {
    settle();
    return reading_ != Reading::kEnd;
  }
  if (!chunked_body_) slot_->body_seen += piece.size();
  if (slot_->body_seen > options().max_discard_body_bytes) {
    keep_alive_ = false;
    connection_->pauseRead();
    waitForHandler();
    settle();
    return false;
  }
  return reading_ != Reading::kEnd;
}

void ServerSession::wantBody() noexcept {
  if (connection_->closed() || reading_ != Reading::kBody) return;
  const bool comes_unasked = input_behind_ || connection_->unreadBytes() > 0;
  if (expects_continue_ && !exchange_.headSent()) {
    expects_continue_ = false;
    if (!comes_unasked) {
      countHead(100);
      connection_->write(std::string_view("HTTP/1.1 100 Continue\r\n\r\n"));
    }
    connection_->flush();
  }
  if (busy_ || connection_->closed() || !connection_->readPaused()) return;
  slot_->body_since_ns = 0;  // until now it was not the client who kept the other waiting
  connection_->setDeadline(options().body_timeout_ms);
  connection_->resumeRead();
  if (!connection_->closed()) offerLater();
}

void ServerSession::consumed(size_t bytes) noexcept {
  if (slot_ == nullptr) return;  // all of it has been read, and the exchange is parked
  slot_->unconsumed -= static_cast<uint32_t>(std::min<size_t>(bytes, slot_->unconsumed));
  if (busy_ || slot_->unconsumed >= kBodyWindow || reading_ != Reading::kBody || !connection_->readPaused())
    return;
  slot_->body_since_ns = 0;  // until now it was not the client who kept the other waiting
  connection_->setDeadline(options().body_timeout_ms);
  connection_->resumeRead();
  if (!connection_->closed()) offerLater();
}

}  // namespace roost::http::h1
