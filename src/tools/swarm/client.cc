#include "tools/swarm/client.h"

#include <fmt/format.h>

#include <cerrno>
#include "base/errno_text.h"

#include "tools/swarm/echo_client.h"
#include "tools/swarm/worker.h"

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
  } else if (state_ == State::kWaiting || !mayEnd()) {
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

uint32_t Client::runIndex() const noexcept {
  return worker_.runIndex(own_index_);
}

std::unique_ptr<Client> makeClient(Worker& worker, uint32_t own_index) {
  switch (worker.scenario().kind) {
    case Kind::kTcpEcho:
      return std::make_unique<EchoClient>(worker, own_index);
    default:
      break;
  }
  return nullptr;
}

}  // namespace roost::swarm
