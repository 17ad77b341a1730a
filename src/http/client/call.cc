#include "http/client/call.h"

#include <algorithm>
#include <utility>

#include "http/client/client.h"
#include "http/client/client_connection.h"
#include "http/upgraded_session.h"
#include "net/io_context.h"

namespace roost::http::client {
namespace {

constexpr uint32_t kOutLimit = 256 << 10;  // what may be queued before writers are told to wait
constexpr int64_t kNsPerMs = 1'000'000;

}  // namespace

Call::Call(uint32_t slot, Client& client, ResponseListener& listener) noexcept
    : client_(client), listener_(&listener), slot_(slot) {}

Call::~Call() {
  client_.loop().cancel(*this);
  unlink();
}

CallName Call::name() const noexcept {
  return {slot_, client_.calls_.generation(slot_)};
}

bool Call::mayRepeat() const noexcept {
  switch (method_) {
    case Method::kGet:
    case Method::kHead:
    case Method::kPut:
    case Method::kDelete:
    case Method::kOptions:
    case Method::kTrace:
      return !streams_;
    default:
      return false;
  }
}

// The next of the deadlines that hold whatever the connection does.
void Call::armTimer() noexcept {
  int64_t deadline = INT64_MAX;
  if (timeouts_.total_ms != 0) deadline = times_.started_ns + int64_t{timeouts_.total_ms} * kNsPerMs;
  if (connection_ == nullptr && timeouts_.connect_ms != 0)
    deadline = std::min(deadline, connect_deadline_ns_);
  if (deadline == INT64_MAX) {
    client_.loop().cancel(*this);
  } else {
    client_.loop().armAt(*this, deadline);
  }
}

void Call::onTimer() noexcept {
  const int64_t now_ns = client_.loop().nowNs();
  const bool total =
      timeouts_.total_ms != 0 && now_ns >= times_.started_ns + int64_t{timeouts_.total_ms} * kNsPerMs;
  const ClientFailure failure{total ? ClientError::kTotalTimeout : ClientError::kConnectTimeout, 0, ""};
  if (connection_ != nullptr) {
    connection_->failCall(failure);
  } else {
    client_.fail(*this, failure);
  }
}

SendResult Call::send(std::string_view copied, bool fin) noexcept {
  if (!streams_ || all_sent_) return SendResult::kClosed;
  if (connection_ != nullptr && connection_->refused_content_) return SendResult::kClosed;
  if (content_length_ >= 0) copied = copied.substr(0, static_cast<size_t>(left_));
  left_ -= static_cast<int64_t>(copied.size());
  if (connection_ == nullptr) {
    early_ += copied;
  } else {
    connection_->sendContent();
    if (!copied.empty()) connection_->sendPiece(copied);
  }
  return sent(fin);
}

SendResult Call::send(BufferRef buffer, size_t offset, size_t size, bool fin) noexcept {
  const bool chunks = content_length_ < 0;
  if (connection_ == nullptr || chunks || !streams_ || all_sent_ || !connection_->content_sent_) {
    return send(buffer ? buffer.view().substr(offset, size) : std::string_view{}, fin);
  }
  size = std::min(size, static_cast<size_t>(left_));
  left_ -= static_cast<int64_t>(size);
  if (size != 0) connection_->connection_->write(std::move(buffer), offset, size);
  return sent(fin);
}

SendResult Call::sent(bool fin) noexcept {
  all_sent_ = fin;
  if (fin && content_length_ >= 0 && left_ > 0) {
    client_.deferFailure(*this, {ClientError::kBadRequest, 0, "less content than announced"});
    return SendResult::kClosed;
  }
  if (connection_ == nullptr) {
    wants_room_ = true;
    return SendResult::kBlocked;
  }
  if (fin) connection_->endContent();
  connection_->flushSoon();
  connection_->updateDeadline();
  if (connection_->connection_->queuedBytes() <= kOutLimit) return SendResult::kAccepted;
  wants_room_ = true;
  return SendResult::kBlocked;
}

void Call::pause() noexcept {
  if (std::exchange(paused_, true) || connection_ == nullptr) return;
  connection_->connection_->pauseRead();
  connection_->updateDeadline();
}

void Call::resume() noexcept {
  if (!std::exchange(paused_, false) || connection_ == nullptr) return;
  net::Connection& connection = *connection_->connection_;
  connection.resumeRead();
  if (connection.unreadBytes() > 0) connection.offerInputSoon();
  connection_->updateDeadline();
}

void Call::cancel() noexcept {
  ClientConnection* const connection = connection_;
  if (connection != nullptr) connection->detach();
  client_.release(*this);
  if (connection != nullptr) connection->close();
}

ByteStream& Call::upgrade(std::unique_ptr<ByteStreamListener> listener, uint32_t send_timeout_ms) noexcept {
  ClientConnection& session = *connection_;
  net::Connection& connection = *session.connection_;
  session.detach();
  session.connection_ = nullptr;
  session.state_ = ClientConnection::State::kOver;
  client_.remove(session);
  client_.release(*this);
  connection.clearDeadline();
  connection.resumeRead();
  UpgradedSession& stream = UpgradedSession::take(connection, std::move(listener), nullptr, send_timeout_ms);
  connection.offerInputSoon();  // when the caller has the stream
  return stream;
}

}  // namespace roost::http::client
