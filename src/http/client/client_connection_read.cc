// Reading answers.
#include <algorithm>
#include <utility>

#include "http/ascii.h"
#include "http/client/client_connection.h"
#include "net/io_context.h"

namespace roost::http::client {
namespace {

bool isRedirect(int status) noexcept {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// Fields that speak of content, of which there is none once a redirect has made a request a GET (RFC 9110
// section 15.4), and those that prove who asks, which are not for somebody else.
bool goesAlong(std::string_view name, bool with_content, bool same_origin) noexcept {
  static constexpr std::string_view kOfContent[] = {"Content-Type", "Content-Encoding", "Content-Language",
                                                    "Content-Location"};
  static constexpr std::string_view kSecrets[] = {"Authorization", "Cookie", "Proxy-Authorization"};
  const auto is = [name](std::string_view other) { return equalsToken(name, other); };
  if (!with_content && std::any_of(std::begin(kOfContent), std::end(kOfContent), is)) return false;
  return same_origin || !std::any_of(std::begin(kSecrets), std::end(kSecrets), is);
}

std::string fieldsAlong(std::string_view fields, bool with_content, bool same_origin) {
  std::string out;
  while (!fields.empty()) {
    const std::string_view line = fields.substr(0, fields.find('\n') + 1);
    if (goesAlong(line.substr(0, line.find(':')), with_content, same_origin)) out += line;
    fields.remove_prefix(line.size());
  }
  return out;
}

}  // namespace

void ClientConnection::onRead(net::Connection& connection, net::Chunk& in) noexcept {
  bool more = true;
  while (more && !in.empty()) {
    if (state_ == State::kHead) {
      more = readHead(connection, in);
    } else if (state_ == State::kBody || state_ == State::kDraining) {
      more = readBody(connection, in);
    } else {  // nobody has asked for anything
      connection.close();
      return;
    }
  }
}

bool ClientConnection::readHead(net::Connection& connection, net::Chunk& in) noexcept {
  if (!std::exchange(got_bytes_, true) && call_->times_.first_byte_ns == 0) {
    call_->times_.first_byte_ns = client_.loop().nowNs();
  }
  const HeadLimits& limits = client_.options().head_limits;
  const ParseState state = slot_->parser.parse(in.data(), in.size(), limits, slot_->head);
  if (state == ParseState::kNeedMore) {
    updateDeadline();
    return false;
  }
  if (state == ParseState::kError) {
    const bool large = slot_->parser.isTooLarge();
    failCall({large ? ClientError::kTooLarge : ClientError::kMalformed, 0, slot_->parser.errorReason()});
    return false;
  }
  // Held here, so that the head outlasts whatever the listener does.
  std::unique_ptr<ClientHeadSlot> slot = std::move(slot_);
  const ReceivedHead& head = slot->head;
  in.consume(head.size);  // its text stays where it is until this read is over
  slot->parser.reset();
  const bool goes_on = head.isInterim() && tookInterim(connection, head);
  if (goes_on) {
    slot_ = std::move(slot);
    return true;
  }
  if (!head.isInterim()) tookHead(connection, in, head);
  client_.giveSlot(std::move(slot));
  return false;
}

bool ClientConnection::tookInterim(net::Connection& connection, const ReceivedHead& head) noexcept {
  if (++interims_ > client_.options().max_interim) {
    failCall({ClientError::kMalformed, 0, "too many interim responses"});
    return false;
  }
  const bool goes_on = head.status == 100 && waits_for_continue_;
  if (goes_on) sendContent();
  call_->listener_->onInterim(*call_, head);
  if (connection.closed()) return false;
  if (goes_on && call_->streams_ && !call_->all_sent_) {
    call_->listener_->onWritable(*call_);
    if (connection.closed()) return false;
  }
  updateDeadline();
  return true;
}

void ClientConnection::tookHead(net::Connection& connection, net::Chunk& in,
                                const ReceivedHead& head) noexcept {
  const h1::ResponseFraming framing = h1::responseFraming(head, head.status, call_->method_);
  if (framing.error_reason != nullptr) return failCall({ClientError::kMalformed, 0, framing.error_reason});
  if (head.status == 101) return tookSwitch(connection, head, framing);
  keep_alive_ = framing.keep_alive;
  keep_alive_s_ = framing.keep_alive_s;
  refused_content_ = std::exchange(waits_for_continue_, false);
  body_.start(framing);
  if (isRedirect(head.status) && followed(connection, in, head)) return;
  state_ = State::kBody;
  call_->listener_->onHead(*call_, head, framing);
  if (!connection.closed()) readBody(connection, in);
}

// RFC 9110 section 7.8: only what was asked for can be switched to, and the listener has to take it now.
void ClientConnection::tookSwitch(net::Connection& connection, const ReceivedHead& head,
                                  const h1::ResponseFraming& framing) noexcept {
  if (call_->upgrade_.empty()) return failCall({ClientError::kMalformed, 0, "switched protocols unasked"});
  call_->listener_->onHead(*call_, head, framing);
  if (connection.closed() || state_ == State::kOver) return;
  failCall({ClientError::kMalformed, 0, "the switch of protocols was not taken"});
}

bool ClientConnection::readBody(net::Connection& connection, net::Chunk& in) noexcept {
  for (;;) {
    if (call_ != nullptr && call_->paused_ && !body_.complete()) {
      updateDeadline();
      return false;
    }
    const h1::ChunkPiece piece = body_.next(in.data(), in.size(), client_.options().head_limits);
    in.consume(piece.consumed);
    switch (piece.step) {
      case h1::ChunkStep::kData:
        if (!tookPiece(connection, {piece.data, piece.size})) return false;
        break;
      case h1::ChunkStep::kDone:
        finish(connection, in.empty());
        return false;
      case h1::ChunkStep::kError:
        if (call_ == nullptr) {
          connection.close();
        } else {
          failCall({ClientError::kMalformed, 0, body_.errorReason()});
        }
        return false;
      case h1::ChunkStep::kNeedMore:
        if (call_ != nullptr) updateDeadline();
        return false;
    }
  }
}

bool ClientConnection::tookPiece(net::Connection& connection, std::string_view piece) noexcept {
  if (call_ != nullptr) {
    call_->listener_->onBody(*call_, piece);
  } else {
    drained_bytes_ += static_cast<uint32_t>(piece.size());
    if (drained_bytes_ > client_.options().max_drain_bytes) connection.close();
  }
  return !connection.closed();
}

// The answer is complete. Bytes behind it, or a request that is not, leave nothing to go on with.
void ClientConnection::finish(net::Connection& connection, bool may_stay) noexcept {
  bool stays = may_stay && keep_alive_ && error_ == 0 && !connection.readEnded();
  ResponseListener* listener = nullptr;
  if (call_ != nullptr) {
    stays = stays && requestDone() && !call_->closes_;
    listener = &client_.release(*detach());
  }
  if (stays) {
    state_ = State::kIdle;
    kept_ = true;
    connection.resumeRead();
    connection.clearDeadline();
    client_.ready(*this);
  } else {
    close();
  }
  if (listener != nullptr) listener->onEnd();
}

const char* ClientConnection::refusalOf(const Result<Url>& to) const noexcept {
  if (!to.ok()) return "Location is no URL";
  if (to.value().is_https) return "https is not supported";
  const Origin& origin = to.value().origin;
  if (!origin.unix_path.empty() && !(origin == call_->url_.origin)) return "to a Unix socket";
  return call_->redirects_ >= call_->max_redirects_ ? "too many redirects" : nullptr;
}

bool ClientConnection::followed(net::Connection& connection, net::Chunk& in,
                                const ReceivedHead& head) noexcept {
  Call& call = *call_;
  const std::string_view location = head.get(FieldId::kLocation);
  if (call.max_redirects_ == 0 || location.empty()) return false;
  const bool becomes_get = (head.status == 303 && call.method_ != Method::kHead) ||
                           (head.status <= 302 && call.method_ == Method::kPost);
  if (!becomes_get && call.streams_) return false;  // its content is gone
  const Result<Url> to = resolveReference(call.url_, location);
  if (const char* const refusal = refusalOf(to)) {
    failCall({ClientError::kRedirect, 0, refusal});
    return true;
  }
  call.listener_->onRedirect(call, head, to.value());
  if (connection.closed()) return true;
  const bool may_stay = keep_alive_ && error_ == 0 && requestDone() && !call.closes_;
  detach();
  call.redirectTo(to.value(), becomes_get);
  if (may_stay) {
    state_ = State::kDraining;
    drained_bytes_ = 0;
    connection.resumeRead();
    connection.setDeadline(client_.options().attempt_timeout_ms);
    readBody(connection, in);
  } else {
    close();
  }
  client_.restart(call);
  return true;
}

void Call::redirectTo(const Url& to, bool becomes_get) {
  const bool same_origin = to.origin == url_.origin;
  if (becomes_get) {
    method_ = Method::kGet;
    method_text_ = methodName(Method::kGet);
    body_ = {};
    streams_ = expects_ = false;
    std::string().swap(early_);
  }
  fields_ = fieldsAlong(fields_, !becomes_get, same_origin);
  if (!same_origin) host_field_.clear();
  url_ = to;
  ++redirects_;
  retries_ = 0;
}

}  // namespace roost::http::client
