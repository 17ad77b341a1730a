#pragma once

#include <string>

#include "http/client/body_reader.h"
#include "tools/swarm/client.h"
#include "tools/swarm/sequence.h"

namespace roost::swarm {

// poll: asks for the next message (long-poll); asks again when it has come, or when there was none in time
// (304 or 408), after think_ms and with the position that the answer named: its Last-Modified and Etag in
// If-Modified-Since and If-None-Match. The position outlives the connection.
class PollClient final : public Client {
 public:
  PollClient(Worker& worker, uint32_t own_index) noexcept : Client(worker, own_index) {}
  void ask() noexcept override;
  void onRead(net::Connection& connection, net::Chunk& in) noexcept override;
  void onReadEnd(net::Connection& connection) noexcept override;
  uint64_t missing() const noexcept override;

 private:
  void opened() noexcept override;
  void closed() noexcept override;
  bool mayEnd() const noexcept override { return !waits_; }
  void poll() noexcept;
  bool readHead(net::Chunk& in) noexcept;
  bool readBody(net::Chunk& in) noexcept;
  void finish(size_t rest) noexcept;
  void takePosition() noexcept;

  http::client::BodyReader body_;
  std::string position_;  // the fields of the next request
  NumberedStream text_;   // the beginning of the message; its own check is not used
  MessageCheck messages_;
  bool waits_ = false;  // for an answer
  bool in_body_ = false;
  bool message_ = false;  // the answer is one
  bool last_ = false;     // the connection ends after this answer
};

}  // namespace roost::swarm
