#include "modules/tcp_echo/echo_session.h"

namespace roost::modules::tcp_echo {

void EchoSession::onConnected(net::Connection& connection) noexcept {
  if (idle_timeout_ms_ > 0) connection.setDeadline(idle_timeout_ms_);
}

void EchoSession::onRead(net::Connection& connection, net::Chunk& in) noexcept {
  const std::string_view bytes(in.data(), in.size());
  const size_t sent = connection.writeNow(bytes);
  if (sent < bytes.size()) {
    connection.write(bytes.substr(sent));
    connection.pauseRead();
  }
  in.consume(bytes.size());
  if (idle_timeout_ms_ > 0) connection.setDeadline(idle_timeout_ms_);
}

void EchoSession::onWriteComplete(net::Connection& connection) noexcept {
  if (idle_timeout_ms_ > 0) connection.setDeadline(idle_timeout_ms_);
  connection.resumeRead();
}

void EchoSession::onTimeout(net::Connection& connection) noexcept {
  if (connection.writing() && connection.writeProgressed()) {
    connection.setDeadline(idle_timeout_ms_);
  } else {
    connection.close();
  }
}

}  // namespace roost::modules::tcp_echo
