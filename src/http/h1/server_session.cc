#include "http/h1/server_session.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "http/error_page.h"
#include "http/h1/protocol.h"
#include "http/host.h"
#include "http/target.h"
#include "http/trace.h"
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

// Methods whose requests have content by their meaning. HTTP/1.0 cannot tell its end but by Content-Length
// (RFC 1945 section 7.2.2).
bool carriesContent(Method method) noexcept {
  return method == Method::kPost || method == Method::kPut || method == Method::kPatch;
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
      may_upgrade_(false),
      answered_(false),
      no_content_(false),
      blocked_(false),
      timed_(false),
      input_behind_(false),
      promised_(false) {}

const ServiceOptions& ServerSession::options() const noexcept {
  return protocol_.context().service().options();
}

void ServerSession::attach(net::Connection& connection) noexcept {
  connection_ = &connection;
  connection.setSession(*this);
  reading_ = Reading::kHead;
  closed_ = answered_ = no_content_ = blocked_ = timed_ = input_behind_ = promised_ = false;
  keep_alive_ = true;
  parked_head_done_ = 0;
}

void ServerSession::accept(const FramingResult& framing) noexcept {
  const RequestHead& head = slot_->head;
  const ServiceOptions& limits = options();
  const uint32_t max_requests = limits.max_requests_per_connection;
  connection_->countRequest();
  if (const HttpCounters* counters = protocol_.context().counters()) counters->requests.add();
  slot_->head_done_ns = protocol_.context().loop().nowNs();
  http10_ = head.version_minor == 0;
  keep_alive_ = framing.keep_alive && (max_requests == 0 || connection_->requests() < max_requests);
  chunked_body_ = framing.kind == BodyKind::kChunked;
  expects_continue_ = framing.expects_continue;
  // RFC 9110 section 7.8: never from HTTP/1.0, and only to what the client has named.
  may_upgrade_ = framing.upgrade && !http10_ && head.has(FieldId::kUpgrade);
  answered_ = no_content_ = blocked_ = timed_ = false;
  slot_->body_left = framing.content_length;
  slot_->body_seen = slot_->body_overhead = slot_->body_given = 0;
  slot_->body_since_ns = 0;
  slot_->body_in_window = 0;
  slot_->unconsumed = 0;
  reading_ = framing.kind == BodyKind::kNone || (!chunked_body_ && slot_->body_left == 0) ? Reading::kDone
                                                                                          : Reading::kBody;
  if (chunked_body_) slot_->chunks.reset();
  if (framing.error_status != 0) return refuse(framing.error_status, framing.error_reason);
  if (slot_->body_left > limits.max_body_bytes) return refuse(413, "Content-Length beyond the limit");
  if (head.method == Method::kUnknown || head.method == Method::kConnect)
    return refuse(501, "unknown method");
  if (http10_ && framing.kind == BodyKind::kNone && carriesContent(head.method)) {
    return refuse(411, "HTTP/1.0 content without Content-Length");
  }
  if (protocol_.context().shedsRequests()) return shed();
  if (!resolve()) return;
  if (head.form == TargetForm::kAsterisk) return answerOptionsAsterisk();
  const Router& router = protocol_.context().service().router();
  const Route& route = router.find(slot_->host, slot_->path, slot_->state.params);
  exchange_.start(protocol_.context(), *this, head, slot_->state, slot_->host, slot_->path, route,
                  protocol_.context().pin(), reading_ == Reading::kBody);
  exchange_.runRoute();
  if (!exchange_.active() || answered_) return;
  if (reading_ == Reading::kBody) {
    connection_->setDeadline(limits.body_timeout_ms);
  } else {
    waitForHandler();
  }
}

// The next step is the handler's: only a peer that does not take what is being sent is timed meanwhile, or
// what the handler itself has asked for.
void ServerSession::waitForHandler() noexcept {
  if (timed_) return;
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
  tellUnrouted(head.status, 0, {});
  sendHead(head, true);
}

// Answers with an error and ends the connection: where the next request begins is not known, or not worth
// knowing.
void ServerSession::refuse(int status, const char* reason, AbortReason why,
                           std::string_view received) noexcept {
  LOG_DEBUG("{}: request refused with {}: {}", connection_->peer().toString(), status, reason);
  if (Trace* trace = protocol_.context().trace()) trace->note(reason);
  keep_alive_ = false;
  if (answered_) {  // in what was only being read away
    reading_ = Reading::kEnd;
    finish();
    return;
  }
  reading_ = Reading::kEnd;
  if (exchange_.active() && exchange_.headSent()) {
    abortExchange(why);
    connection_->reset();
    return;
  }
  no_content_ = slot_ != nullptr && slot_->head.method == Method::kHead;
  const std::string_view body = protocol_.context().service().errorBody(status);
  const uint64_t content_bytes = no_content_ ? 0 : body.size();
  if (exchange_.active()) {
    abortExchange(why, status, content_bytes);
  } else {
    tellUnrouted(status, content_bytes, received);
  }
  answered_ = false;
  ResponseHead head(status);
  head.add("Content-Type", kErrorPageType);
  head.content_length = static_cast<int64_t>(body.size());
  sendHead(head, false);
  sendBytes(body, true);
}

// With as little work as can be: what lies ready is sent, and the connection gives its memory back.
void ServerSession::shed() noexcept {
  LoopContext& context = protocol_.context();
  if (const HttpCounters* counters = context.counters()) counters->shed.add();
  keep_alive_ = false;
  no_content_ = slot_->head.method == Method::kHead;
  PreparedResponse& page = context.overloadPage();
  static_cast<void>(page.bytes(context.date()));
  countHead(page.status());
  connection_->write(page.openHead());
  connection_->write(connectionLine(Persistence::kClose));
  connection_->write(std::string_view("\r\n"));
  if (!no_content_) connection_->write(page.body());
  endAnswer();
}

void ServerSession::tellUnrouted(int status, uint64_t content_bytes, std::string_view received) noexcept {
  LoopContext& context = protocol_.context();
  const auto& observers = context.service().router().defaultSite().fallback.observers;
  if (observers.empty()) return;
  while (!received.empty() && (received.front() == '\r' || received.front() == '\n'))
    received.remove_prefix(1);
  received = received.substr(0, received.find_first_of("\r\n"));
  const bool readable = received.empty() && slot_ != nullptr && slot_->head_done_ns != 0;
  const UnroutedRequest request{context, peer(), readable ? &slot_->head : nullptr, received};
  Outcome outcome;
  outcome.status = status;
  outcome.content_bytes = content_bytes;
  for (const auto& observer : observers) observer->onUnrouted(request, outcome);
}

// The answer is complete, and so is the request or as much of it as will be read: on to the next one, or to
// the end.
void ServerSession::settle() noexcept {
  if (!answered_ || connection_->closed()) return;
  if (reading_ == Reading::kBody) {
    const bool worth_reading = !expects_continue_ && keep_alive_ &&
                               (chunked_body_ || slot_->body_left <= options().max_discard_body_bytes);
    if (worth_reading) {
      endExchange();
      // For all that is left of it. While the answer is still going out, the client's reading is timed.
      if (busy_ || !connection_->writing()) connection_->setDeadline(options().body_timeout_ms);
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
  endExchange();
  if (!keep_alive_) {
    reading_ = Reading::kEnd;
    connection_->setDeadline(options().send_timeout_ms);
    // A client that could not foresee the end may have sent more already (RFC 9112 section 9.6).
    const uint32_t max_requests = options().max_requests_per_connection;
    const bool unforeseen = max_requests != 0 && connection_->requests() >= max_requests;
    connection_->closeAfterWrite(unread || unforeseen);
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
  if (text == nullptr) return connection_->failForMemory();
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
  if (reading_ != Reading::kHead || slot_ != nullptr || exchange_.hasUntold() || input_left) return;
  connection_->setSession(protocol_);
  protocol_.release(*this);
}

void ServerSession::abortExchange(AbortReason reason, int status, uint64_t content_bytes) noexcept {
  if (exchange_.active()) exchange_.uncountContent(connection_->unsentBytes());
  const HttpCounters* counters = protocol_.context().counters();
  if (counters != nullptr && exchange_.active()) counters->aborted.add();
  exchange_.abort(reason, status, content_bytes);
}

void ServerSession::countTimeout() noexcept {
  if (const HttpCounters* counters = protocol_.context().counters()) counters->timeouts.add();
}

void ServerSession::onReadEnd(net::Connection& connection) noexcept {
  switch (reading_) {
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
      if (exchange_.endsWithPeer()) connection.close();
      return;
    case Reading::kHead:
    case Reading::kEnd:
    case Reading::kUpgraded:
      // Requests that were read already are answered first (see onWriteComplete).
      if (connection.unreadBytes() > 0 && slot_ == nullptr && connection.writing()) return;
      connection.closeAfterWrite(false);
      return;
  }
}

// Its end stands behind requests that wait for this one.
void ServerSession::onPeerEnd(net::Connection& connection) noexcept {
  if (reading_ == Reading::kDone && exchange_.active() && exchange_.endsWithPeer()) connection.close();
}

void ServerSession::onWriteBlocked(net::Connection& connection, size_t) noexcept {
  if (timed_) blocked_ = true;  // the listener sets it again
  timed_ = false;
  if (takesTooLittle()) return cutSlowReader();
  connection.setDeadline(options().send_timeout_ms);
}

// Whether the client reads a response more slowly than it may. What is parked may last for hours, and says
// little.
bool ServerSession::takesTooLittle() noexcept {
  const ServiceOptions& limits = options();
  if (limits.min_send_bytes_per_s == 0 || (exchange_.active() && exchange_.parked())) return false;
  return !connection_->takesEnough(limits.min_send_bytes_per_s, limits.min_rate_window_ms);
}

void ServerSession::cutSlowReader() noexcept {
  if (const HttpCounters* counters = protocol_.context().counters()) counters->slow_readers.add();
  countTimeout();
  tellUnsent(AbortReason::kTimeout);
  connection_->reset();
}

void ServerSession::onWriteComplete(net::Connection& connection) noexcept {
  const bool told = exchange_.hasUntold();
  tellSent();
  if (exchange_.active()) {
    if (reading_ == Reading::kBody && !connection.readPaused()) {
      connection.setDeadline(options().body_timeout_ms);
    } else if (!timed_) {
      connection.clearDeadline();
    }
    if (blocked_ && exchange_.waitsForRoom()) {
      blocked_ = false;
      exchange_.onRoom();
      connection.flush();
    }
    return;
  }
  if (reading_ != Reading::kHead) return;
  connection.setDeadline(slot_ != nullptr ? options().head_timeout_ms : options().keep_alive_timeout_ms);
  if (connection.readPaused()) {
    connection.resumeRead();
    connection.offerInputSoon();
  } else if (told) {
    detachIfIdle(connection.unreadBytes() > 0);
  }
}

void ServerSession::onTimeout(net::Connection& connection) noexcept {
  if (connection.writing()) {
    if (connection.writeProgressed()) {
      if (takesTooLittle()) return cutSlowReader();
      connection.setDeadline(options().send_timeout_ms);
    } else {
      countTimeout();
      tellUnsent(AbortReason::kTimeout);
      connection.reset();
    }
    return;
  }
  if (timed_ && exchange_.active()) {
    timed_ = false;
    if (exchange_.listener() != nullptr) exchange_.listener()->onDeadline();
    return connection.flush();
  }
  const bool head_begun = reading_ == Reading::kHead && slot_ != nullptr;
  const bool body_begun = reading_ == Reading::kBody && !answered_ && !exchange_.headSent();
  if (reading_ != Reading::kHead || head_begun) countTimeout();
  if (!head_begun && !body_begun) {
    connection.close();
    return;
  }
  input_behind_ = true;
  refuse(408, "timed out", AbortReason::kTimeout, head_begun ? connection.unread() : std::string_view{});
  connection.flush();
}

// A request that will be answered soon. A parked one may wait for hours.
bool ServerSession::owesAnswer() const noexcept {
  return exchange_.active() && (!exchange_.parked() || promised_);
}

void ServerSession::onShutdown(net::Connection& connection, int64_t until_ns) noexcept {
  keep_alive_ = false;
  if (!exchange_.active() || !exchange_.parked() || exchange_.listener() == nullptr) return;
  promised_ = true;
  // Once it has answered, this session may have gone back to the pool.
  if (!exchange_.listener()->onShutdown(until_ns)) promised_ = false;
  connection.flush();
}

size_t ServerSession::heldBytes() const noexcept {
  if (slot_ == nullptr) return 0;
  const size_t text_bytes = slot_->text == nullptr ? 0 : slot_->text->capacity;
  const bool keeps_body = exchange_.active() && exchange_.listener() != nullptr;
  return sizeof(HeadSlot) + text_bytes + (keeps_body ? static_cast<size_t>(slot_->body_given) : 0);
}

void ServerSession::onError(net::Connection&, int sys_errno) noexcept {
  const AbortReason reason = sys_errno == ETIMEDOUT ? AbortReason::kTimeout : AbortReason::kReset;
  tellUnsent(reason);
  abortExchange(reason);
}

void ServerSession::onClose(net::Connection& connection) noexcept {
  if (connection.writing()) {
    tellUnsent(AbortReason::kPeerClosed);
  } else {
    tellSent();
  }
  abortExchange(AbortReason::kPeerClosed);
  giveSlot();
  reading_ = Reading::kEnd;
  if (busy_) {
    closed_ = true;
  } else {
    protocol_.release(*this);
  }
}

}  // namespace roost::http::h1
