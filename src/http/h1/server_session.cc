#include "http/h1/server_session.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "http/h1/protocol.h"
#include "http/host.h"
#include "http/target.h"
#include "log/log.h"

namespace roost::http::h1 {
namespace {

// Whether a path is its own canonical form: nothing escaped, no empty and no dot segment, so that decodePath
// would only copy it. Every byte of a parsed target is visible ASCII.
bool isCanonical(std::string_view path) noexcept {
  if (std::memchr(path.data(), '%', path.size()) != nullptr) return false;
  const char* p = path.data();
  const char* end = p + path.size();
  while ((p = static_cast<const char*>(std::memchr(p, '/', static_cast<size_t>(end - p)))) != nullptr) {
    if (++p == end) return true;
    if (*p == '/' || *p == '.') return false;
  }
  return true;
}

}  // namespace

ServerSession::ServerSession(Protocol& protocol) noexcept
    : protocol_(protocol),
      busy_(false),
      closed_(false),
      keep_alive_(true),
      http10_(false),
      chunked_body_(false),
      expects_continue_(false),
      answered_(false),
      no_content_(false),
      blocked_(false),
      end_told_(false),
      input_behind_(false) {}

const ServiceOptions& ServerSession::options() const noexcept {
  return protocol_.context().service().options();
}

void ServerSession::attach(net::Connection& connection) noexcept {
  connection_ = &connection;
  connection.setSession(*this);
  reading_ = Reading::kHead;
  closed_ = answered_ = no_content_ = blocked_ = input_behind_ = false;
  keep_alive_ = true;
}

// ---- reading
// --------------------------------------------------------------------------------------------------

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
      case Reading::kUpgraded:
        more = readUpgraded(in);
        break;
      case Reading::kDone:
        // The next request waits in the buffer, or in the kernel once that is enough.
        if (in.size() >= kAheadLimit) connection_->pauseRead();
        more = false;
        break;
      case Reading::kEnd:
        in.consume(in.size());
        more = false;
        break;
    }
  }
  busy_ = false;
  if (closed_) {
    protocol_.release(*this);
    return;
  }
  if (exchange_.active()) {
    keepHead();
  } else {
    detachIfIdle(!in.empty());
  }
}

bool ServerSession::readHead(net::Chunk& in) noexcept {
  if (in.empty()) return false;
  // Answers that the peer does not take are not added to; onWriteComplete goes on.
  if (connection_->queuedBytes() > kOutLimit) {
    connection_->pauseRead();
    return false;
  }
  const bool first_bytes = slot_ == nullptr;
  if (first_bytes) slot_ = &protocol_.takeSlot();
  switch (slot_->parser.parse(in.data(), in.size(), options().head_limits, slot_->head)) {
    case ParseState::kNeedMore:
      if (first_bytes) connection_->setDeadline(options().head_timeout_ms);
      return false;
    case ParseState::kError:
      in.consume(in.size());
      refuse(slot_->parser.errorStatus(), slot_->parser.errorReason());
      return false;
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
  // It waits until its listener has dealt with what it has, or until somebody listens or answers at all.
  const bool undecided = !answered_ && exchange_.listener() == nullptr && !exchange_.parked();
  if (undecided || unconsumed_ >= kBodyWindow) {
    connection_->pauseRead();
    waitForHandler();
    return false;
  }
  expects_continue_ = false;  // it came unasked
  connection_->setDeadline(options().body_timeout_ms);
  return chunked_body_ ? readChunked(in) : readLength(in);
}

bool ServerSession::readLength(net::Chunk& in) noexcept {
  const size_t size = static_cast<size_t>(std::min<uint64_t>(in.size(), body_left_));
  const std::string_view piece(in.data(), size);
  in.consume(size);
  body_left_ -= size;
  return deliver(piece, body_left_ == 0);
}

bool ServerSession::readChunked(net::Chunk& in) noexcept {
  const ChunkPiece piece = slot_->chunks.next(in.data(), in.size(), options().head_limits);
  in.consume(piece.consumed);
  switch (piece.step) {
    case ChunkStep::kNeedMore:
      return false;
    case ChunkStep::kData:
      if (bodyTooLarge(piece.size)) return false;
      return deliver({piece.data, piece.size}, false);
    case ChunkStep::kDone:
      return deliver({}, true);
    case ChunkStep::kError:
      refuse(slot_->chunks.errorStatus(), slot_->chunks.errorReason());
      return false;
  }
  return false;
}

bool ServerSession::bodyTooLarge(uint64_t more) noexcept {
  body_seen_ += more;
  if (body_seen_ <= options().max_body_bytes) return false;
  refuse(413, "chunked body beyond the limit");
  return true;
}

// Gives a piece of the body to whoever listens; one that nobody wants is dropped, within a bound.
bool ServerSession::deliver(std::string_view piece, bool fin) noexcept {
  if (fin) {
    reading_ = Reading::kDone;
    if (!answered_) waitForHandler();
    if (exchange_.active() && exchange_.parked()) giveSlot();
  }
  if (!answered_ && exchange_.listener() != nullptr) {
    unconsumed_ += static_cast<uint32_t>(piece.size());
    exchange_.listener()->onBody(piece, fin);  // may answer, and then all is settled
    return reading_ != Reading::kEnd;
  }
  if (!chunked_body_) body_seen_ += piece.size();
  if (fin) {
    settle();
  } else if (body_seen_ > options().max_discard_body_bytes) {
    keep_alive_ = false;
    connection_->pauseRead();
    waitForHandler();
    settle();
    return false;
  }
  return reading_ != Reading::kEnd;
}

bool ServerSession::readUpgraded(net::Chunk& in) noexcept {
  if (in.empty() || connection_->readPaused()) return false;
  const size_t used = stream_->onBytes({in.data(), in.size()});
  if (connection_->closed()) return false;
  in.consume(std::min(used, in.size()));
  return used > 0;
}

// ---- one request
// ----------------------------------------------------------------------------------------------

void ServerSession::accept(const FramingResult& framing) noexcept {
  const RequestHead& head = slot_->head;
  const ServiceOptions& limits = options();
  const uint32_t max_requests = limits.max_requests_per_connection;
  connection_->countRequest();
  http10_ = head.version_minor == 0;
  keep_alive_ = framing.keep_alive && (max_requests == 0 || connection_->requests() < max_requests);
  chunked_body_ = framing.kind == BodyKind::kChunked;
  expects_continue_ = framing.expects_continue;
  answered_ = no_content_ = blocked_ = false;
  body_left_ = framing.content_length;
  body_seen_ = 0;
  unconsumed_ = 0;
  reading_ = framing.kind == BodyKind::kNone || (!chunked_body_ && body_left_ == 0) ? Reading::kDone
                                                                                    : Reading::kBody;
  if (chunked_body_) slot_->chunks.reset();
  if (framing.error_status != 0) return refuse(framing.error_status, framing.error_reason);
  if (body_left_ > limits.max_body_bytes) return refuse(413, "Content-Length beyond the limit");
  if (head.method == Method::kUnknown || head.method == Method::kConnect)
    return refuse(501, "unknown method");
  if (!resolve()) return;
  if (head.form == TargetForm::kAsterisk) return answerOptionsAsterisk();
  const Route* route = protocol_.context().service().router().find(slot_->host, slot_->path);
  static const Route kNoRoute;
  exchange_.start(protocol_.context(), *this, head, slot_->host, slot_->path,
                  route != nullptr ? *route : kNoRoute, protocol_.context().pin(),
                  reading_ == Reading::kBody);
  if (route != nullptr) {
    exchange_.runRoute();
  } else {
    exchange_.replyError(404);
  }
  if (!exchange_.active() || answered_) return;
  if (reading_ == Reading::kBody) {
    connection_->setDeadline(limits.body_timeout_ms);
  } else {
    waitForHandler();
  }
}

// The next step is the handler's: only a peer that does not take what is being sent is timed meanwhile.
void ServerSession::waitForHandler() noexcept {
  if (connection_->writing()) {
    connection_->setDeadline(options().send_timeout_ms);
  } else {
    connection_->clearDeadline();
  }
}

// Offers the connection's unread input again, but not from within what a handler or listener has called.
void ServerSession::offerLater() noexcept {
  exchange_.handle().post([this](Exchange&) { connection_->offerInput(); });
}

// Finds out which host and which canonical path the request is for. Answers itself and returns false on an
// error.
bool ServerSession::resolve() noexcept {
  const RequestHead& head = slot_->head;
  // A malformed Host is refused even where the target's authority overrides it (RFC 9112 section 3.2).
  Authority authority = parseHost(head.get(FieldId::kHost));
  bool malformed = !authority.ok() && head.has(FieldId::kHost);
  if (head.authority.len > 0 && !malformed) {
    authority = parseAuthority(head.view(head.authority));
    malformed = !authority.ok();
  }
  if (malformed) {
    refuse(400, "malformed host");
    return false;
  }
  // The target's authority goes first, but a Host beside it must be one too (RFC 9112 section 3.2).
  if (head.authority.len > 0 && head.has(FieldId::kHost) && !parseHost(head.get(FieldId::kHost)).ok()) {
    refuse(400, "malformed host");
    return false;
  }
  slot_->host = authority.host;
  const std::string_view raw = head.view(head.path);
  slot_->path = raw;
  if (head.form == TargetForm::kAuthority || head.form == TargetForm::kAsterisk || isCanonical(raw))
    return true;
  slot_->path_text.resize(raw.size() + 1);
  const DecodedPath decoded = decodePath(raw, slot_->path_text.data(), slot_->path_text.size());
  if (!decoded.ok()) {
    refuse(400, "malformed path");
    return false;
  }
  slot_->path_text.resize(decoded.size);
  slot_->path = slot_->path_text;
  return true;
}

// RFC 9110 section 9.3.7: what the server as a whole can do.
void ServerSession::answerOptionsAsterisk() noexcept {
  ResponseHead head(204);
  head.add("Allow", "GET, HEAD, OPTIONS");
  sendHead(head, true);
}

// Answers with an error and ends the connection: where the next request begins is not known, or not worth
// knowing.
void ServerSession::refuse(int status, const char* reason) noexcept {
  LOG_DEBUG("{}: request refused with {}: {}", connection_->peer().toString(), status, reason);
  keep_alive_ = false;
  if (answered_) {  // in what was only being read away
    reading_ = Reading::kEnd;
    finish();
    return;
  }
  if (exchange_.active()) {
    const bool head_sent = exchange_.headSent();
    reading_ = Reading::kEnd;
    abortExchange(AbortReason::kProtocol);
    if (head_sent) {
      connection_->reset();
      return;
    }
  }
  reading_ = Reading::kEnd;
  answered_ = false;
  no_content_ = slot_ != nullptr && slot_->head.method == Method::kHead;
  ResponseHead head(status);
  const std::string_view body = protocol_.context().service().errorBody(status);
  head.add("Content-Type", "text/html; charset=utf-8");
  head.content_length = static_cast<int64_t>(body.size());
  sendHead(head, false);
  sendBytes(body, true);
}

// The answer is complete, and so is the request or as much of it as will be read: on to the next one, or to
// the end.
void ServerSession::settle() noexcept {
  if (!answered_ || connection_->closed()) return;
  if (reading_ == Reading::kBody) {
    const bool worth_reading = !expects_continue_ && keep_alive_ &&
                               (chunked_body_ || body_left_ <= options().max_discard_body_bytes);
    if (worth_reading) {
      exchange_.end();
      connection_->setDeadline(options().body_timeout_ms);
      connection_->resumeRead();
      if (!busy_) connection_->offerInput();
      return;  // deliver() comes back here
    }
    keep_alive_ = false;
  }
  finish();
}

void ServerSession::finish() noexcept {
  const bool unread = reading_ == Reading::kBody || reading_ == Reading::kEnd || input_behind_;
  exchange_.end();
  if (!keep_alive_) {
    reading_ = Reading::kEnd;
    connection_->setDeadline(options().send_timeout_ms);
    connection_->closeAfterWrite(unread);
    return;
  }
  giveSlot();
  reading_ = Reading::kHead;
  answered_ = blocked_ = false;
  const bool sending = !busy_ && connection_->writing();
  connection_->setDeadline(sending ? options().send_timeout_ms : options().keep_alive_timeout_ms);
  connection_->resumeRead();
  if (busy_ || connection_->closed()) return;
  net::Connection& connection = *connection_;
  detachIfIdle(connection.unreadBytes() > 0);
  connection.offerInput();
}

// The head's text lies in the loop's read buffer; an exchange that goes on needs it longer.
void ServerSession::keepHead() noexcept {
  if (slot_ == nullptr || slot_->text != nullptr || exchange_.parked()) return;
  RequestHead& head = slot_->head;
  net::Chunk* text = protocol_.context().io().chunks().take(head.size);
  text->append({head.text, head.size});
  const auto moved = [&](std::string_view view) {
    const bool inside = view.data() >= head.text && view.data() < head.text + head.size;
    return inside ? std::string_view(text->base + (view.data() - head.text), view.size()) : view;
  };
  slot_->host = moved(slot_->host);
  slot_->path = moved(slot_->path);
  exchange_.movedHead(slot_->host, slot_->path);
  head.text = text->base;
  slot_->text = text;
}

void ServerSession::giveSlot() noexcept {
  if (slot_ == nullptr) return;
  protocol_.giveSlot(*slot_);
  slot_ = nullptr;
}

// Nothing is under way: the connection goes back to the Protocol, and this object to its pool.
void ServerSession::detachIfIdle(bool input_left) noexcept {
  if (reading_ != Reading::kHead || slot_ != nullptr || input_left) return;
  connection_->setSession(protocol_);
  protocol_.release(*this);
}

void ServerSession::abortExchange(AbortReason reason) noexcept {
  if (std::unique_ptr<ByteStreamListener> stream = std::move(stream_)) {
    stream->onClose(reason);
    // One of its own calls may be what brought this about.
    protocol_.context().loop().destroyLater(event::makeTask([gone = std::move(stream)] {}));
  }
  exchange_.abort(reason);
}

// ---- events
// ---------------------------------------------------------------------------------------------------

void ServerSession::onReadEnd(net::Connection& connection) noexcept {
  switch (reading_) {
    case Reading::kUpgraded:
      if (!end_told_) {
        end_told_ = true;
        stream_->onEnd();
      }
      return;
    case Reading::kBody:
      if (connection.readPaused() && connection.unreadBytes() > 0) return;  // what is there comes first
      if (answered_) {
        connection.closeAfterWrite(false);
      } else {
        connection.close();
      }
      return;
    case Reading::kDone:
      // A client may end its side and wait for its answer; a parked exchange is a long wait, and its client
      // is gone.
      if (exchange_.parked()) connection.close();
      return;
    case Reading::kHead:
    case Reading::kEnd:
      // Requests that were read already are answered first (see onWriteComplete).
      if (connection.unreadBytes() > 0 && slot_ == nullptr && connection.writing()) return;
      connection.closeAfterWrite(false);
      return;
  }
}

void ServerSession::onWriteBlocked(net::Connection& connection, size_t) noexcept {
  connection.setDeadline(options().send_timeout_ms);
}

void ServerSession::onWriteComplete(net::Connection& connection) noexcept {
  if (reading_ == Reading::kUpgraded) {
    connection.clearDeadline();
    if (blocked_) {
      blocked_ = false;
      stream_->onWritable();
    }
    return;
  }
  if (exchange_.active()) {
    if (reading_ == Reading::kBody && !connection.readPaused()) {
      connection.setDeadline(options().body_timeout_ms);
    } else {
      connection.clearDeadline();
    }
    if (blocked_ && exchange_.listener() != nullptr) {
      blocked_ = false;
      exchange_.listener()->onWritable();
      connection.flush();
    }
    return;
  }
  if (reading_ != Reading::kHead) return;
  connection.setDeadline(slot_ != nullptr ? options().head_timeout_ms : options().keep_alive_timeout_ms);
  if (!connection.readPaused()) return;
  connection.resumeRead();
  connection.offerInput();
}

void ServerSession::onTimeout(net::Connection& connection) noexcept {
  if (connection.writing()) {
    connection.reset();
    return;
  }
  const bool head_begun = reading_ == Reading::kHead && slot_ != nullptr;
  const bool body_begun = reading_ == Reading::kBody && !answered_ && !exchange_.headSent();
  if (!head_begun && !body_begun) {
    connection.close();
    return;
  }
  if (body_begun) abortExchange(AbortReason::kTimeout);
  input_behind_ = true;
  refuse(408, "timed out");
  connection.flush();
}

void ServerSession::onError(net::Connection&, int sys_errno) noexcept {
  abortExchange(sys_errno == ETIMEDOUT ? AbortReason::kTimeout : AbortReason::kReset);
}

void ServerSession::onClose(net::Connection&) noexcept {
  abortExchange(AbortReason::kPeerClosed);
  giveSlot();
  reading_ = Reading::kEnd;
  if (busy_) {
    closed_ = true;
  } else {
    protocol_.release(*this);
  }
}

// ---- writing
// --------------------------------------------------------------------------------------------------

// Answering now, with a body to come that nobody listens for and that is too long to be read away, or that
// the client holds back until told to go on (RFC 9110 section 10.1.1), leaves the place of the next request
// unknown.
bool ServerSession::leavesBodyUnread() const noexcept {
  if (reading_ != Reading::kBody || exchange_.listener() != nullptr) return false;
  return expects_continue_ || body_left_ > options().max_discard_body_bytes;
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
  HeadText text;
  writeHead(text, *sized, framing, options().server_header, protocol_.context().date().text());
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

SendResult ServerSession::sendBytes(std::string_view copied, bool fin) noexcept {
  if (connection_->closed()) return SendResult::kClosed;
  copied = copied.substr(0, static_cast<size_t>(clip(copied.size(), fin)));
  if (connection_->closed()) return SendResult::kClosed;
  if (!copied.empty()) {
    char line[18];
    if (out_framing_ == Framing::kChunked) connection_->write(chunkSizeLine(copied.size(), line));
    connection_->write(copied);
    if (out_framing_ == Framing::kChunked) connection_->write(std::string_view("\r\n"));
  }
  return afterSend(fin, false);
}

SendResult ServerSession::sendShared(BufferRef buffer, size_t offset, size_t size, bool fin) noexcept {
  if (size <= kCopyLimit) return sendBytes(buffer.view().substr(offset, size), fin);
  if (connection_->closed()) return SendResult::kClosed;
  size = static_cast<size_t>(clip(size, fin));
  if (connection_->closed()) return SendResult::kClosed;
  if (size > 0) {
    char line[18];
    if (out_framing_ == Framing::kChunked) connection_->write(chunkSizeLine(size, line));
    connection_->write(std::move(buffer), offset, size);
    if (out_framing_ == Framing::kChunked) connection_->write(std::string_view("\r\n"));
  }
  return afterSend(fin, false);
}

SendResult ServerSession::sendFile(net::OpenFile file, uint64_t offset, uint64_t size, bool fin) noexcept {
  if (connection_->closed()) return SendResult::kClosed;
  size = clip(size, fin);
  if (connection_->closed()) return SendResult::kClosed;
  if (size > 0) {
    char line[18];
    if (out_framing_ == Framing::kChunked) connection_->write(chunkSizeLine(size, line));
    connection_->writeFile(std::move(file), offset, size);
    if (out_framing_ == Framing::kChunked) connection_->write(std::string_view("\r\n"));
  }
  return afterSend(fin, true);
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

void ServerSession::endAnswer() noexcept {
  answered_ = true;
  blocked_ = false;
  connection_->flush();
  settle();
}

// The fast way out: a whole answer that lies ready.
void ServerSession::sendPrepared(PreparedResponse& response) noexcept {
  if (connection_->closed()) return;
  const std::string_view bytes = response.bytes(protocol_.context().date());
  no_content_ = exchange_.isHead();
  if (leavesBodyUnread()) keep_alive_ = false;
  const Persistence kind = persistence();
  if (kind == Persistence::kDefault && !no_content_ && !input_behind_ && !connection_->writing()) {
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

void ServerSession::wantBody() noexcept {
  if (connection_->closed() || reading_ != Reading::kBody) return;
  const bool comes_unasked = input_behind_ || connection_->unreadBytes() > 0;
  if (expects_continue_ && !exchange_.headSent()) {
    expects_continue_ = false;
    if (!comes_unasked) connection_->write(std::string_view("HTTP/1.1 100 Continue\r\n\r\n"));
    connection_->flush();
  }
  if (busy_ || connection_->closed() || !connection_->readPaused()) return;
  connection_->setDeadline(options().body_timeout_ms);
  connection_->resumeRead();
  if (!connection_->closed()) offerLater();
}

void ServerSession::consumed(size_t bytes) noexcept {
  unconsumed_ -= static_cast<uint32_t>(std::min<size_t>(bytes, unconsumed_));
  if (busy_ || unconsumed_ >= kBodyWindow || reading_ != Reading::kBody || !connection_->readPaused()) return;
  connection_->setDeadline(options().body_timeout_ms);
  connection_->resumeRead();
  if (!connection_->closed()) offerLater();
}

void ServerSession::reset() noexcept {
  connection_->reset();
}

ByteStream* ServerSession::upgrade(const ResponseHead& head,
                                   std::unique_ptr<ByteStreamListener> listener) noexcept {
  if (connection_->closed() || reading_ != Reading::kDone) return nullptr;
  HeadText text;
  writeHead(text, head, Framing::kNone, options().server_header, protocol_.context().date().text());
  append(text, connectionLine(Persistence::kUpgrade));
  append(text, "\r\n");
  connection_->write(std::string_view(text.data(), text.size()));
  stream_ = std::move(listener);
  reading_ = Reading::kUpgraded;
  blocked_ = end_told_ = false;
  waitForHandler();
  exchange_.park();
  connection_->resumeRead();  // bytes behind the request may have been held back
  if (connection_->closed()) return nullptr;
  if (!busy_) offerLater();
  return this;
}

void ServerSession::parked() noexcept {
  if (reading_ != Reading::kBody) giveSlot();
  // A client that has ended its side already is gone.
  if (!busy_ && reading_ == Reading::kDone && connection_->readEnded()) offerLater();
}

SendResult ServerSession::write(std::string_view bytes) noexcept {
  if (connection_->closed()) return SendResult::kClosed;
  connection_->write(bytes);
  connection_->flush();
  if (connection_->closed()) return SendResult::kClosed;
  blocked_ = connection_->queuedBytes() > kOutLimit;
  return blocked_ ? SendResult::kBlocked : SendResult::kAccepted;
}

void ServerSession::close() noexcept {
  connection_->closeAfterWrite(true);
}

void ServerSession::pauseRead() noexcept {
  connection_->pauseRead();
}

void ServerSession::resumeRead() noexcept {
  if (!connection_->readPaused()) return;
  connection_->resumeRead();
  if (!busy_ && !connection_->closed() && connection_->unreadBytes() > 0) offerLater();
}

}  // namespace roost::http::h1
