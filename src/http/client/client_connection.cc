// Connecting, sending, and how a connection ends.
#include "http/client/client_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "http/client/counters.h"
#include "http/h1/writer.h"
#include "net/io_context.h"

namespace roost::http::client {

ClientConnection::ClientConnection(Client& client, OriginPool& pool) noexcept
    : client_(client), pool_(pool) {}

ClientConnection::~ClientConnection() {
  in_pool_.unlink();
  in_client_.unlink();
}

// --- connecting ---------------------------------------------------------------------------

void ClientConnection::begin() noexcept {
  if (!pool_.origin.unix_path.empty()) {
    const Result<net::SocketAddress> address = net::SocketAddress::parse("unix:" + pool_.origin.unix_path, 0);
    if (!address.ok()) return fault(ClientError::kConnect, EINVAL, "not a socket's path");
    state_ = State::kConnecting;
    const Status status = client_.io().connect(address.value(), *this);
    if (!status.ok()) fault(ClientError::kConnect, status.sysErrno(), "");
    return;
  }
  net::Resolver& resolver = client_.resolver_;
  if (const net::Resolution* known = resolver.find(pool_.origin.host)) {
    onResolved(*known);
  } else {
    resolver.resolve(pool_.origin.host, *this);
  }
}

void ClientConnection::onResolved(const net::Resolution& resolution) noexcept {
  if (resolution.error != net::ResolveError::kNone) {
    return fault(ClientError::kResolve, 0, net::resolveErrorText(resolution.error));
  }
  addresses_ = resolution.addresses;
  state_ = State::kConnecting;
  connectNext();
}

void ClientConnection::connectNext() noexcept {
  while (next_address_ < addresses_.size()) {
    net::PeerAddr address = addresses_[next_address_++];
    address.port = pool_.origin.port;
    const Status status = client_.io().connect(net::SocketAddress(address), *this);
    if (status.ok()) return;
    error_ = status.sysErrno();
  }
  fault(ClientError::kConnect, error_, "");
}

void ClientConnection::fault(ClientError error, int sys_errno, const char* reason) noexcept {
  state_ = State::kBroken;
  const bool late = error == ClientError::kConnect && sys_errno == ETIMEDOUT;
  fault_ = {late ? ClientError::kConnectTimeout : error, sys_errno, reason};
  client_.deferBroken(*this);
}

void ClientConnection::onConnecting(net::Connection& connection) noexcept {
  connection_ = &connection;
  error_ = 0;
  const ClientOptions& options = client_.options();
  const bool more = next_address_ < addresses_.size();
  connection.setDeadline(more ? options.attempt_timeout_ms : options.connect_timeout_ms);
}

void ClientConnection::onConnected(net::Connection& connection) noexcept {
  connection.clearDeadline();
  --pool_.connecting_count;
  state_ = State::kIdle;
  std::vector<net::PeerAddr>().swap(addresses_);  // its memory, too
  client_.ready(*this);
}

// --- sending ------------------------------------------------------------------------------

void ClientConnection::serve(Call& call) noexcept {
  call_ = &call;
  state_ = State::kHead;
  got_bytes_ = false;
  interims_ = 0;
  waits_for_continue_ = call.expects_;
  refused_content_ = content_sent_ = false;
  connection_->resumeRead();
  if (call.paused_) connection_->pauseRead();
  slot_ = client_.takeSlot();
  writeHead(call);
  if (!waits_for_continue_) sendContent();
  flushSoon();
  updateDeadline();
  // What was streamed too early has been taken now.
  if (call.wants_room_ && !waits_for_continue_ && !connection_->writing()) client_.deferWritable(call);
}

void ClientConnection::writeHead(const Call& call) noexcept {
  std::string& text = client_.scratch_;
  text.clear();
  text.append(call.method_text_).append(" ").append(call.url_.target).append(" HTTP/1.1\r\nHost: ");
  text.append(call.host_field_.empty() ? pool_.origin.hostField() : call.host_field_).append("\r\n");
  text.append(call.fields_);
  if (!call.upgrade_.empty()) {
    text.append("Connection: Upgrade\r\nUpgrade: ").append(call.upgrade_).append("\r\n");
  } else if (call.closes_) {
    text.append("Connection: close\r\n");
  }
  // RFC 9110 section 8.6: a method that usually has content says when there is none.
  const bool usual =
      call.method_ == Method::kPost || call.method_ == Method::kPut || call.method_ == Method::kPatch;
  const auto out = std::back_inserter(text);
  if (call.streams_ && call.content_length_ < 0) {
    text.append("Transfer-Encoding: chunked\r\n");
  } else if (call.streams_) {
    fmt::format_to(out, "Content-Length: {}\r\n", call.content_length_);
  } else if (call.body_ || usual) {
    fmt::format_to(out, "Content-Length: {}\r\n", call.body_.size());
  }
  if (call.expects_) text.append("Expect: 100-continue\r\n");
  text.append("\r\n");
  connection_->write(text);
}

// What there is of the content: all of it, or what a stream was given so far.
void ClientConnection::sendContent() noexcept {
  waits_for_continue_ = false;
  if (std::exchange(content_sent_, true)) return;
  Call& call = *call_;
  if (call.body_) connection_->write(call.body_, 0, call.body_.size());
  if (!call.streams_) return;
  if (!call.early_.empty()) sendPiece(call.early_);
  std::string().swap(call.early_);
  if (call.all_sent_) endContent();
}

void ClientConnection::sendPiece(std::string_view copied) noexcept {
  const bool chunks = call_->content_length_ < 0;
  char line[18];
  if (chunks) connection_->write(h1::chunkSizeLine(copied.size(), line));
  connection_->write(copied);
  if (chunks) connection_->write("\r\n");
}

void ClientConnection::endContent() noexcept {
  if (call_->content_length_ < 0) connection_->write("0\r\n\r\n");
}

// Sends what the socket takes now. What it does not take, or that it failed, is told when the others have had
// their turn: nobody is called from within a call of theirs.
void ClientConnection::flushSoon() noexcept {
  connection_->sendNow();
  if (connection_->writing()) connection_->offerInputSoon();
}

bool ClientConnection::requestDone() const noexcept {
  return content_sent_ && (!call_->streams_ || call_->all_sent_) && !connection_->writing();
}

void ClientConnection::updateDeadline() noexcept {
  const Timeouts& timeouts = call_->timeouts_;
  uint32_t ms = 0;
  if (waits_for_continue_) {
    ms = client_.options().expect_wait_ms;
  } else if (connection_->writing()) {
    ms = timeouts.idle_ms;
  } else if (call_->paused_) {
    ms = 0;
  } else if (got_bytes_) {
    ms = timeouts.idle_ms;
  } else if (requestDone()) {
    ms = timeouts.first_byte_ms;
  }
  ms == 0 ? connection_->clearDeadline() : connection_->setDeadline(ms);
}

void ClientConnection::onWriteBlocked(net::Connection&, size_t) noexcept {
  if (call_ != nullptr) updateDeadline();
}

void ClientConnection::onWriteComplete(net::Connection& connection) noexcept {
  if (call_ == nullptr) return;
  if (std::exchange(call_->wants_room_, false)) {
    call_->listener_->onWritable(*call_);
    if (connection.closed() || call_ == nullptr) return;
  }
  updateDeadline();
}

// --- ends ---------------------------------------------------------------------------------

void ClientConnection::onTimeout(net::Connection& connection) noexcept {
  if (state_ == State::kConnecting) return connection.fail(ETIMEDOUT);
  if (call_ == nullptr) return connection.close();
  if (waits_for_continue_) {  // it need not answer (RFC 9110 section 10.1.1)
    sendContent();
    if (call_->streams_ && !call_->all_sent_) call_->wants_room_ = true;
    connection.writing() ? connection.flush() : onWriteComplete(connection);
    return;
  }
  if (connection.writing() && connection.writeProgressed()) return updateDeadline();
  if (connection.writing()) return failCall({ClientError::kIdleTimeout, 0, "the server takes nothing"});
  failCall({got_bytes_ ? ClientError::kIdleTimeout : ClientError::kFirstByteTimeout, 0, ""});
}

void ClientConnection::onError(net::Connection& connection, int sys_errno) noexcept {
  if (std::exchange(error_, sys_errno) != 0) return;
  // A server that refuses content answers, closes, and so resets: its answer may be here all the same.
  if (call_ != nullptr && (sys_errno == EPIPE || sys_errno == ECONNRESET)) connection.readRest();
}

void ClientConnection::onReadEnd(net::Connection& connection) noexcept {
  if (connection.readPaused() && connection.unreadBytes() > 0) return;  // what is there comes first
  if (call_ == nullptr) return connection.close();
  if (state_ == State::kBody && body_.endsHere() && error_ == 0) return finish(connection, false);
  lost(error_);
}

void ClientConnection::onClose(net::Connection&) noexcept {
  connection_ = nullptr;
  const bool tries_on = state_ == State::kConnecting && error_ != 0 && !client_.stopping_;
  if (tries_on) return connectNext();
  if (call_ != nullptr) return lost(error_);
  client_.remove(*this);
}

void ClientConnection::close() noexcept {
  if (connection_ != nullptr) {
    error_ = 0;
    connection_->close();  // onClose removes it
  } else {
    client_.remove(*this);
  }
}

// The connection has ended, or does now, before the answer has.
void ClientConnection::lost(int sys_errno) noexcept {
  const bool stale = kept_ && state_ == State::kHead && !got_bytes_;
  if (stale && call_->mayRepeat() && call_->retries_ < client_.options().max_retries) {
    Call& call = *detach();
    ++call.retries_;
    if (client_.counters_ != nullptr) client_.counters_->retries.add();
    client_.closeIdle(pool_);  // the others were kept as long, or longer
    close();
    client_.enqueue(call, true);
    return;
  }
  const bool unsent = !got_bytes_ && sys_errno != 0;
  failCall({unsent ? ClientError::kSend : ClientError::kClosedEarly, sys_errno, ""});
}

Call* ClientConnection::detach() noexcept {
  giveSlot();
  call_->connection_ = nullptr;
  return std::exchange(call_, nullptr);
}

void ClientConnection::giveSlot() noexcept {
  if (slot_ != nullptr) client_.giveSlot(std::move(slot_));
}

void ClientConnection::failCall(const ClientFailure& failure) noexcept {
  Call& call = *detach();
  close();
  client_.fail(call, failure);
}

}  // namespace roost::http::client
