#pragma once

#include <memory>

#include "http/client/body_reader.h"
#include "tools/swarm/client.h"
#include "tools/swarm/sequence.h"

namespace roost::swarm {

// http and hold: one request at a time over a connection that stays for as long as the server likes. Every
// answer's framing, status and length are checked, its content and number where that is asked for.
class HttpClient final : public Client {
 public:
  HttpClient(Worker& worker, uint32_t own_index);
  void ask() noexcept override;
  void onRead(net::Connection& connection, net::Chunk& in) noexcept override;
  void onReadEnd(net::Connection& connection) noexcept override;
  uint32_t owed() const noexcept override { return left_; }

 private:
  void closed() noexcept override { in_body_ = false; }
  bool mayEnd() const noexcept override { return true; }  // between two requests
  bool readHead(net::Chunk& in) noexcept;
  bool readBody(net::Chunk& in) noexcept;
  bool dropBody() noexcept;
  void take(std::string_view content) noexcept;
  bool finish(size_t rest) noexcept;
  void checkBody() noexcept;

  http::client::BodyReader body_;
  uint64_t body_bytes_ = 0;
  uint64_t body_hash_ = 0;
  std::unique_ptr<NumberedStream> numbers_;  // where they are expected
  uint32_t left_ = 0;  // answers to come, this one included; more than one where requests are pipelined
  bool in_body_ = false;
  bool last_ = false;  // the connection ends after this answer
  bool status_ok_ = false;
};

}  // namespace roost::swarm
