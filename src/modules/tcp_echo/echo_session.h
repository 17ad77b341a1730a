#pragma once

#include <cstdint>

#include "net/connection.h"
#include "net/session.h"

namespace roost::modules::tcp_echo {

// Sends back what it reads, with one read and one write and no memory of its own: one object for all
// connections of a loop and a listener. Where the peer does not take its echo, nothing more is read from it
// until it has. Loop thread.
class EchoSession final : public net::SessionFactory, private net::Session {
 public:
  // 0: a connection may be silent for ever.
  explicit EchoSession(uint32_t idle_timeout_ms) noexcept : idle_timeout_ms_(idle_timeout_ms) {}

  net::Session& sessionFor(net::Connection&) noexcept override { return *this; }

 private:
  void onConnected(net::Connection& connection) noexcept override;
  void onRead(net::Connection& connection, net::Chunk& in) noexcept override;
  void onWriteComplete(net::Connection& connection) noexcept override;
  void onTimeout(net::Connection& connection) noexcept override;

  const uint32_t idle_timeout_ms_;
};

}  // namespace roost::modules::tcp_echo
