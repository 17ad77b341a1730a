// The writing side of a ServerSession: heads, content and its framing, who is told when it is sent, upgrades.
#include <algorithm>
#include <utility>

#include "http/framed.h"
#include "http/h1/protocol.h"
#include "http/h1/server_session.h"
#include "http/upgraded_session.h"

namespace roost::http::h1 {

// Answering now, with a body to come that nobody listens for and that is too long to be read away, or that
// the client holds back until told to go on (RFC 9110 section 10.1.1), leaves the place of the next request
// unknown.
bool ServerSession::leavesBodyUnread() const noexcept {
  if (reading_ != Reading::kBody || exchange_.listener() != nullptr) return false;
  return expects_continue_ || slot_->body_left > options().max_discard_body_bytes;
}

Persistence ServerSession::persistence() const noexcept {
  if (!keep_alive_) return Persistence::kClose;
  return http10_ ? Persistence::kKeepAlive : Persistence::kDefault;
}

void ServerSession::sendHead(const ResponseHead& head, bool fin) noexcept {
  if (connection_->closed()) return;
  const bool head_request =
      exchange_.active() ? exchange_.isHead() : slot_ != nullptr && slot_->head.method == Method::kHead;
  const bool without_length = head.status < 200 || head.status == 204;
  no_content_ = head_request || without_length || head.status == 304;
  Framing framing = Framing::kNone;
  ResponseHead sized_head(head.status);
  const ResponseHead* sized = &head;
  if (without_length) {
    framing = Framing::kNone;
  } else if (head.content_length != ResponseHead::kUnknownLength) {
    framing = Framing::kLength;
    out_left_ = static_cast<uint64_t>(head.content_length);
  } else if (head.status == 304 || head_request) {
    framing = Framing::kNone;
  } else if (fin) {
    sized_head = head;
    sized_head.content_length = 0;
    sized = &sized_head;
    framing = Framing::kLength;
    out_left_ = 0;
  } else if (http10_) {
    framing = Framing::kClose;
    keep_alive_ = false;
  } else {
    framing = Framing::kChunked;
  }
  if (leavesBodyUnread()) keep_alive_ = false;
  out_framing_ = framing;
  countHead(head.status);
  HeadText text;
  writeHead(text, *sized, framing, options().server_header, protocol_.context().date().text());
  if (head.expires_after_s >= 0) {
    writeExpires(text, protocol_.context().date().seconds() + head.expires_after_s);
  }
  append(text, connectionLine(persistence()));
  append(text, "\r\n");
  connection_->write(std::string_view(text.data(), text.size()));
  if (!fin) return;
  if (framing == Framing::kLength && !no_content_ && out_left_ > 0) {
    reset();  // promised, and not coming
  } else {
    endAnswer();
  }
}

// RFC 8297, RFC 9110 section 15.2: an HTTP/1.0 client does not know interim answers. While the handler is
// still to come it waits for what that sends at once, and goes along with it.
void ServerSession::sendInterim(const ResponseHead& head) noexcept {
  if (connection_->closed() || http10_) return;
  countHead(head.status);
  HeadText text;
  writeHead(text, head, Framing::kNone, {}, {});
  append(text, "\r\n");
  connection_->write(std::string_view(text.data(), text.size()));
  connection_->flush();  // nothing happens yet while input is being read
}

// Cuts what is sent to the length that was promised.
uint64_t ServerSession::clip(uint64_t size, bool& fin) noexcept {
  if (no_content_) return 0;
  if (out_framing_ != Framing::kLength) return size;
  const uint64_t sent = std::min(size, out_left_);
  out_left_ -= sent;
  if (fin && out_left_ > 0) {
    // Promised and not delivered: only a broken connection tells the peer.
    fin = false;
    reset();
    return 0;
  }
  return sent;
}

// Sends `size` bytes of content, or as many of them as were promised, by put(bytes), framed as the head said.
template <class Put>
SendResult ServerSession::sendContent(uint64_t size, bool fin, bool file, Put&& put) noexcept {
  if (connection_->closed()) return SendResult::kClosed;
  size = clip(size, fin);
  if (connection_->closed()) return SendResult::kClosed;
  if (size > 0) {
    exchange_.countContent(size);
    const bool chunked = out_framing_ == Framing::kChunked;
    char line[18];
    if (chunked) connection_->write(chunkSizeLine(size, line));
    put(size);
    if (chunked) connection_->write(std::string_view("\r\n"));
  }
  return afterSend(fin, file);
}

SendResult ServerSession::sendBytes(std::string_view copied, bool fin) noexcept {
  return sendContent(copied.size(), fin, false,
                     [&](uint64_t size) { connection_->write(copied.substr(0, static_cast<size_t>(size))); });
}

SendResult ServerSession::sendShared(BufferRef buffer, size_t offset, size_t size, bool fin) noexcept {
  if (size <= kCopyLimit) return sendBytes(buffer.view().substr(offset, size), fin);
  return sendContent(size, fin, false, [&](uint64_t bytes) {
    connection_->write(std::move(buffer), offset, static_cast<size_t>(bytes));
  });
}

SendResult ServerSession::sendFile(net::OpenFile file, uint64_t offset, uint64_t size, bool fin) noexcept {
  return sendContent(size, fin, true,
                     [&](uint64_t bytes) { connection_->writeFile(std::move(file), offset, bytes); });
}

SendResult ServerSession::afterSend(bool fin, bool file) noexcept {
  if (fin) {
    if (out_framing_ == Framing::kChunked && !no_content_) connection_->write(std::string_view("0\r\n\r\n"));
    endAnswer();
    return SendResult::kAccepted;
  }
  connection_->flush();
  if (connection_->closed()) return SendResult::kClosed;
  // A range of a file takes no memory here, but the next one is better looked at when this one has gone.
  blocked_ = connection_->queuedBytes() > kOutLimit || (file && connection_->writing());
  return blocked_ ? SendResult::kBlocked : SendResult::kAccepted;
}

// The fast way for content that many share.
SendResult ServerSession::sendFramed(const BufferRef& framed) noexcept {
  if (connection_->closed()) return SendResult::kClosed;
  const std::string_view content = contentOf(framed);
  if (out_framing_ != Framing::kChunked || no_content_) {
    const auto offset = static_cast<size_t>(content.data() - framed.data());
    if (sendShared(framed, offset, content.size(), false) == SendResult::kClosed) return SendResult::kClosed;
    return afterFramed();
  }
  exchange_.countContent(content.size());
  const std::string_view bytes = framed.view();
  const size_t sent = connection_->writeNow(bytes);
  if (sent == bytes.size()) return SendResult::kAccepted;
  if (busy_ && bytes.size() - sent <= kCopyLimit) {
    connection_->write(bytes.substr(sent));
  } else {
    connection_->write(framed, sent, bytes.size() - sent);
  }
  connection_->flush();
  return afterFramed();
}

SendResult ServerSession::afterFramed() noexcept {
  if (connection_->closed()) return SendResult::kClosed;
  const bool gathers = busy_ && !connection_->writeBlocked() && connection_->queuedBytes() <= kGatherLimit;
  blocked_ = connection_->writing() && !gathers;
  return blocked_ ? SendResult::kBlocked : SendResult::kAccepted;
}

// The deadline for sending is not the handler's to move.
void ServerSession::setDeadline(uint32_t ms) noexcept {
  if (connection_->closed() || reading_ != Reading::kDone || answered_) return;
  if (connection_->writeBlocked()) {
    blocked_ = true;  // so that it hears when it can be set
    return;
  }
  timed_ = true;
  connection_->setDeadline(ms);
}

void ServerSession::clearDeadline() noexcept {
  if (!timed_) return;
  timed_ = false;
  connection_->clearDeadline();
}

void ServerSession::countHead(int status) noexcept {
  if (const HttpCounters* counters = protocol_.context().counters()) counters->countResponse(status);
}

uint32_t ServerSession::parkedSteps(uint64_t ns) noexcept {
  return static_cast<uint32_t>(ns >> kParkedStepShift);
}

// All of the request is here, and nobody will look at it any more.
void ServerSession::giveParkedSlot() noexcept {
  if (slot_ == nullptr) return;
  if (slot_->head_done_ns != 0)
    parked_head_done_ = std::max(1U, parkedSteps(static_cast<uint64_t>(slot_->head_done_ns)));
  giveSlot();
}

void ServerSession::countAnswered() noexcept {
  const HttpCounters* counters = protocol_.context().counters();
  const uint64_t now_ns = static_cast<uint64_t>(protocol_.context().loop().nowNs());
  if (const uint32_t since = std::exchange(parked_head_done_, 0U); since != 0) {
    const uint32_t steps = parkedSteps(now_ns) - since;
    if (counters != nullptr) counters->answer_ns.record(uint64_t{steps} << kParkedStepShift);
  } else if (slot_ != nullptr) {
    const int64_t since_ns = std::exchange(slot_->head_done_ns, 0);
    if (counters != nullptr && since_ns != 0)
      counters->answer_ns.record(now_ns - static_cast<uint64_t>(since_ns));
  }
}

void ServerSession::endAnswer() noexcept {
  countAnswered();
  answered_ = true;
  blocked_ = timed_ = false;
  connection_->flush();
  settle();
}

// Those who are told of the end wait until the client has taken the answer; the next request waits with them
// (readHead), or a place that is given back at the end would still be taken.
void ServerSession::endExchange() noexcept {
  connection_->watchEnd(false);
  if (answerWaits()) {
    exchange_.endKeepingUntold();
  } else {
    exchange_.end();
  }
}

// Whether somebody is to be told, and the socket does not take all of the answer now. Answers to pipelined
// requests that are sent together are not: finding out would cost a call each.
bool ServerSession::answerWaits() noexcept {
  if (!connection_->writing() || !exchange_.active() || !exchange_.isWatched()) return false;
  if (!busy_) return true;  // endAnswer() has flushed
  const bool gathers = input_behind_ && !connection_->writeBlocked() &&
                       connection_->queuedBytes() <= kGatherLimit &&
                       connection_->unsentBytes() <= kGatherLimit;
  if (gathers) return false;
  connection_->sendNow();
  return connection_->writing();
}

void ServerSession::tellSent() noexcept {
  const std::unique_ptr<ParkedState> told = exchange_.takeUntold();
  if (told == nullptr) return;
  told->tell(told->progress.outcome(protocol_.context().loop().sys().monotonicNs()));
}

// The client has gone, or was given up, before it had taken the answer.
void ServerSession::tellUnsent(AbortReason reason) noexcept {
  const std::unique_ptr<ParkedState> told = exchange_.takeUntold();
  if (told == nullptr) return;
  if (const HttpCounters* counters = protocol_.context().counters()) counters->aborted.add();
  told->progress.uncount(connection_->unsentBytes());
  Outcome how = told->progress.outcome(protocol_.context().loop().sys().monotonicNs());
  how.aborted = true;
  how.reason = reason;
  told->tell(how);
}

// The fast way out: a whole answer that lies ready.
void ServerSession::sendPrepared(PreparedResponse& response, std::string_view lines) noexcept {
  if (connection_->closed()) return;
  const std::string_view bytes = response.bytes(protocol_.context().date());
  countHead(response.status());
  no_content_ = exchange_.isHead();
  if (!no_content_) exchange_.countContent(response.body().size());
  if (leavesBodyUnread()) keep_alive_ = false;
  const Persistence kind = persistence();
  if (kind == Persistence::kDefault && lines.empty() && !no_content_ && !input_behind_ &&
      !connection_->writing()) {
    const size_t sent = connection_->writeNow(bytes);
    if (sent < bytes.size()) {
      // The head may be rewritten with another date before it goes out, so what is left of it is copied.
      const size_t head_size = response.headSize();
      if (sent < head_size) connection_->write(bytes.substr(sent, head_size - sent));
      const size_t from = std::max(sent, head_size);
      connection_->write(response.block(), from, bytes.size() - from);
    }
  } else {
    connection_->write(response.openHead());
    connection_->write(lines);
    connection_->write(connectionLine(kind));
    connection_->write(std::string_view("\r\n"));
    if (!no_content_) {
      if (response.body().size() <= kCopyLimit) {
        connection_->write(response.body());
      } else {
        connection_->write(response.block(), response.headSize(), response.body().size());
      }
    }
  }
  endAnswer();
}

void ServerSession::reset() noexcept {
  connection_->reset();
}

// The connection goes to a session that has next to nothing of this one, which goes back to its pool.
ByteStream* ServerSession::upgrade(const ResponseHead& head,
                                   std::unique_ptr<ByteStreamListener> listener) noexcept {
  if (connection_->closed() || reading_ != Reading::kDone || !may_upgrade_) return nullptr;
  countHead(head.status);
  countAnswered();
  HeadText text;
  writeHead(text, head, Framing::kNone, options().server_header, protocol_.context().date().text());
  append(text, connectionLine(Persistence::kUpgrade));
  append(text, "\r\n");
  net::Connection& connection = *connection_;
  connection.write(std::string_view(text.data(), text.size()));
  connection.clearDeadline();
  const uint32_t send_timeout_ms = options().send_timeout_ms;
  UpgradedSession& upgraded =
      UpgradedSession::take(connection, std::move(listener), exchange_.endUntold(), send_timeout_ms);
  giveSlot();
  reading_ = Reading::kUpgraded;
  connection.resumeRead();  // bytes behind the request may have been held back
  if (!busy_) {
    connection.offerInputSoon();  // when the caller has the stream
    protocol_.release(*this);
  }
  return connection.closed() ? nullptr : &upgraded;
}

void ServerSession::parked() noexcept {
  if (reading_ != Reading::kBody) giveParkedSlot();
  if (reading_ == Reading::kDone) connection_->resumeRead();  // to hear of the client's end
  endsWithPeer();
}

void ServerSession::endsWithPeer() noexcept {
  connection_->watchEnd(true);
  // A client that has ended its side already is gone.
  if (!busy_ && reading_ == Reading::kDone && connection_->readEnded()) offerLater();
}

}  // namespace roost::http::h1
