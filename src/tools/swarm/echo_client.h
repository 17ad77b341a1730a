#pragma once

#include "tools/swarm/client.h"

namespace roost::swarm {

// tcp_echo: sends a message and wants the same bytes back.
class EchoClient final : public Client {
 public:
  using Client::Client;
  void ask() noexcept override;
  void onRead(net::Connection& connection, net::Chunk& in) noexcept override;

 private:
  void closed() noexcept override { received_ = 0; }
  size_t received_ = 0;  // of the answer
};

}  // namespace roost::swarm
