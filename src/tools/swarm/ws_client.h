#pragma once

#include <memory>
#include <string>

#include "http/ws/frame_decoder.h"
#include "tools/swarm/client.h"
#include "tools/swarm/sequence.h"

namespace roost::swarm {

// ws: an opening handshake (RFC 6455 section 4.1), then what the scenario's ws_mode says. Pings are answered.
// No extension is offered, so no message is compressed.
class WsClient final : public Client {
 public:
  WsClient(Worker& worker, uint32_t own_index);
  void ask() noexcept override;
  void leave() noexcept override;
  void onRead(net::Connection& connection, net::Chunk& in) noexcept override;
  uint64_t missing() const noexcept override;

 private:
  static constexpr size_t kKeptBytes = 44;  // of a message's beginning: a number and a time

  void opened() noexcept override;
  void closed() noexcept override;
  bool readHead(net::Chunk& in) noexcept;
  bool readFrames(net::Chunk& in) noexcept;
  bool takeControl(const http::ws::FramePiece& piece) noexcept;
  bool takeEcho(const http::ws::FramePiece& piece) noexcept;
  bool takeMessage(const http::ws::FramePiece& piece) noexcept;
  std::string_view skipMeta(std::string_view piece) noexcept;
  void sendFrame(http::ws::Opcode opcode, std::string_view payload) noexcept;

  http::ws::FrameDecoder decoder_;
  uint32_t received_ = 0;  // bytes of the echo, or kept of a message
  MessageCheck messages_;
  char kept_[kKeptBytes];
  static constexpr size_t kLongestLine = 4096;  // of which more is read
  // The lines before a message's payload, where there are any.
  struct Meta {
    std::string line;
    std::string id;  // of the last message
    bool over = false;
  };
  std::unique_ptr<Meta> meta_;
};

}  // namespace roost::swarm
