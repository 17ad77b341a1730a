#include "tools/swarm/client.h"

#include <fmt/format.h>

#include <cerrno>
#include "base/errno_text.h"

#include "tools/swarm/echo_client.h"
#include "tools/swarm/http_client.h"
#include "tools/swarm/poll_client.h"
#include "tools/swarm/sequence.h"
#include "tools/swarm/sse_client.h"
#include "tools/swarm/worker.h"
#include "tools/swarm/ws_client.h"

namespace roost::swarm {

void Client::onConnecting(net::Connection& connection) noexcept {
  connection_ = &connection;
  connection.setDeadline(worker_.scenario().connect_timeout_ms);
}

void Client::onConnected(net::Connection&) noexcept {
  opened();
}

void Client::opened() noexcept {
  ready();
}

void Client::onReadEnd(net::Connection& connection) noexcept {
  if (state_ == State::kConnecting) {
    complain(ErrorKind::kHandshake, "the server ended the connection instead");
  } else if (!was_asked_ && state_ != State::kDone && !worker_.scenario().listens()) {
    complain(ErrorKind::kClosedEarly, "before it was asked anything");
  } else if (state_ == State::kWaiting || (!ends_well_ && !mayEnd())) {
    complain(ErrorKind::kClosedEarly, fmt::format("after {} requests", asked_));
  } else {
    ends_well_ = true;
  }
  connection.close();
}

void Client::onTimeout(net::Connection&) noexcept {
  worker_.onTimeout(*this);
}

void Client::onError(net::Connection&, int sys_errno) noexcept {
  ErrorKind kind = ErrorKind::kReset;
  if (state_ == State::kConnecting) {
    kind = sys_errno == ECONNREFUSED                               ? ErrorKind::kRefused
           : sys_errno == ETIMEDOUT                                ? ErrorKind::kConnectTimeout
           : sys_errno == EADDRNOTAVAIL || sys_errno == EADDRINUSE ? ErrorKind::kNoPort
                                                                   : ErrorKind::kConnectFailed;
  }
  complain(kind, errnoText(sys_errno));
}

void Client::onClose(net::Connection&) noexcept {
  connection_ = nullptr;
  closed();
  worker_.onClosed(*this);
}

void Client::leave() noexcept {
  connection_->close();
}

void Client::ready() noexcept {
  worker_.onReady(*this);
}

void Client::answered() noexcept {
  worker_.onAnswered(*this);
}

void Client::fail(ErrorKind kind, const std::string& detail) noexcept {
  complain(kind, detail);
  if (connection_ != nullptr) connection_->close();
}

void Client::complain(ErrorKind kind, const std::string& detail) noexcept {
  worker_.count(kind, *this, detail);
}

void Client::send(std::string_view bytes) noexcept {
  worker_.stats().bytes_out.add(bytes.size());
  const size_t sent = connection_->writeNow(bytes);
  if (sent == bytes.size()) return;
  connection_->write(bytes.substr(sent));
  connection_->flush();
}

void Client::sendRequest(std::string_view fields) noexcept {
  const Plan& plan = worker_.plan();
  if (plan.client_at == std::string::npos && fields.empty()) return send(plan.request);
  std::string& text = worker_.scratch();
  text = plan.request;
  if (!fields.empty()) text.insert(text.size() - 2, fields);
  if (plan.client_at != std::string::npos) text.insert(plan.client_at, std::to_string(runIndex()));
  send(text);
}

void Client::received(MessageCheck& messages, std::string_view text) noexcept {
  const Scenario& scenario = worker_.scenario();
  const Numbered numbered = scenario.expect_sequence ? readNumbered(text) : Numbered{};
  if (scenario.publishes() && numbered.ok && worker_.isStale(numbered.sent_ns)) return;
  worker_.stats().messages.add();
  ++messages.count;
  if (scenario.expect_sequence) checkNumber(messages.sequence, numbered, text);
  if (messages.count == scenario.expect_messages) worker_.onDone(*this);
}

void Client::gapTold(std::string_view words) noexcept {
  complain(ErrorKind::kGap, std::string(words));
}

void Client::checkNumber(NumberedStream& numbers) noexcept {
  checkNumber(numbers.check(), readNumbered(numbers.text()), numbers.text());
}

void Client::checkNumber(SequenceCheck& check, const Numbered& numbered, std::string_view text) noexcept {
  if (!numbered.ok) return complain(ErrorKind::kNoNumber, fmt::format("\"{}\"", text));
  const int64_t now = worker_.clockNs();
  if (numbered.sent_ns > 0 && numbered.sent_ns <= now) {
    const auto latency_ns = static_cast<uint64_t>(now - numbered.sent_ns);
    if (worker_.measuring(now)) worker_.stats().delivery.record(latency_ns);
    if (worker_.scenario().listens()) {
      worker_.stats().broadcasts.add(numbered.sequence, numbered.sent_ns, latency_ns);
    }
  }
  switch (check.add(numbered.sequence)) {
    case SequenceCheck::Verdict::kInOrder:
      return;
    case SequenceCheck::Verdict::kGap:  // counted at the end: they may only be late
      return worker_.note(ErrorKind::kLost, *this, fmt::format("missing before {}", numbered.sequence));
    case SequenceCheck::Verdict::kLate:
      return complain(ErrorKind::kReordered, fmt::format("{} came late", numbered.sequence));
    case SequenceCheck::Verdict::kDuplicate:
      return complain(ErrorKind::kDuplicate, fmt::format("{} came again", numbered.sequence));
  }
}

uint64_t Client::missingOf(const MessageCheck& messages) const noexcept {
  const Scenario& scenario = worker_.scenario();
  const uint64_t had = scenario.expect_sequence ? messages.sequence.received() : messages.count;
  if (scenario.expect_messages > 0) {
    const uint64_t expected = worker_.expectedMessages();
    return had < expected ? expected - had : 0;
  }
  return messages.sequence.missing();
}

uint32_t Client::runIndex() const noexcept {
  return worker_.runIndex(own_index_);
}

std::unique_ptr<Client> makeClient(Worker& worker, uint32_t own_index) {
  switch (worker.scenario().kind) {
    case Kind::kTcpEcho:
      return std::make_unique<EchoClient>(worker, own_index);
    case Kind::kHttp:
    case Kind::kHold:
      return std::make_unique<HttpClient>(worker, own_index);
    case Kind::kSse:
      return std::make_unique<SseClient>(worker, own_index);
    case Kind::kPoll:
      return std::make_unique<PollClient>(worker, own_index);
    case Kind::kWs:
      return std::make_unique<WsClient>(worker, own_index);
  }
  return nullptr;
}

}  // namespace roost::swarm
