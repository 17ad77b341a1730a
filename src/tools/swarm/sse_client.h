#pragma once

#include "http/client/body_reader.h"
#include "tools/swarm/client.h"
#include "tools/swarm/sequence.h"
#include "tools/swarm/sse_scanner.h"

namespace roost::swarm {

// sse: asks for an event stream and receives events for as long as the run lasts.
class SseClient final : public Client {
 public:
  using Client::Client;
  void ask() noexcept override {}
  void onRead(net::Connection& connection, net::Chunk& in) noexcept override;
  uint64_t missing() const noexcept override;

 private:
  void opened() noexcept override;
  void closed() noexcept override;
  bool readHead(net::Chunk& in) noexcept;
  void readBody(net::Chunk& in) noexcept;
  void readEvents(std::string_view bytes) noexcept;

  http::client::BodyReader body_;
  SseScanner scanner_;
  MessageCheck messages_;
};

}  // namespace roost::swarm
