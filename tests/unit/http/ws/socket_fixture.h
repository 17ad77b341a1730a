#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/ws/handshake.h"
#include "http/ws/mask.h"
#include "http/ws/socket.h"
#include "support/h1_server.h"

namespace roost::http::ws {

// A frame as a client sends it, or with `masked` false as a server does.
inline std::string makeFrame(Opcode opcode, std::string_view payload, bool fin = true,
                             bool compressed = false, bool masked = true) {
  constexpr uint32_t kKey = 0x4d3c2b1a;
  char header[kMaxFrameHeader];
  const size_t size = masked ? writeMaskedHeader(header, opcode, fin, compressed, payload.size(), kKey)
                             : writeFrameHeader(header, opcode, fin, compressed, payload.size());
  std::string out(header, size);
  out += payload;
  if (masked) applyMask(out.data() + size, out.data() + size, payload.size(), kKey);
  return out;
}

// A server's frames as text: "<1:hello>" for a message, z for a compressed one; "!" where they are none.
inline std::string readFrames(std::string bytes, bool compression = false, Role reader = Role::kClient) {
  FrameRules rules;
  rules.role = reader;
  rules.compression = compression;
  rules.max_frame_bytes = rules.max_message_bytes = 1 << 30;
  FrameDecoder decoder;
  std::string told;
  for (size_t at = 0; at < bytes.size();) {
    FramePiece piece;
    const auto step = decoder.next(bytes.data() + at, bytes.size() - at, rules, piece);
    if (step == FrameDecoder::Step::kNeedMore) return told + "...";
    if (step == FrameDecoder::Step::kError) return told + "!" + decoder.errorText();
    at += piece.consumed;
    if (piece.begins)
      told += "<" + std::to_string(static_cast<int>(piece.opcode)) + (piece.compressed ? "z:" : ":");
    told.append(piece.data, piece.size);
    if (piece.ends) told += ">";
  }
  return told;
}

// What a handler was told, and what it does with messages.
struct Seen {
  std::string log;
  Socket* socket = nullptr;
  bool echo = true;
  int states = 0;
};

class SeeingHandler final : public SocketHandler {
 public:
  struct State final : SocketState {
    explicit State(int& alive) : count(alive) { ++count; }
    ~State() override { --count; }
    int& count;
  };
  explicit SeeingHandler(Seen& seen) : seen_(seen) {}
  size_t stateBytes() const noexcept override { return sizeof(State); }
  SocketState* makeState(void* memory, const Exchange&) const noexcept override {
    return new (memory) State(seen_.states);
  }
  void onOpen(Socket& socket) const noexcept override {
    seen_.socket = &socket;
    seen_.log += "open ";
  }
  void onMessage(Socket& socket, Message& message) const noexcept override {
    seen_.log += (message.isText() ? "text:" : "binary:") + std::string(message.view().substr(0, 40)) + " ";
    if (message.view() == "close") return socket.close(4000, "as you say");
    if (message.view() == "abort") return socket.abort();
    if (message.view().substr(0, 5) == "pause") socket.pause();
    if (message.view() == "pause and resume") socket.resume();
    if (seen_.echo) socket.sendBack(message);
  }
  void onPong(Socket&, std::string_view payload) const noexcept override {
    seen_.log += "pong:" + std::string(payload) + " ";
  }
  void onWritable(Socket&) const noexcept override { seen_.log += "writable "; }
  void onClose(Socket& socket, uint16_t code, std::string_view reason) const noexcept override {
    seen_.log += "close:" + std::to_string(code) + ":" + std::string(reason);
    if (socket.send(Opcode::kText, "too late") != SendResult::kClosed) seen_.log += "!";
    seen_.socket = nullptr;
  }

 private:
  Seen& seen_;
};

// A server on a simulated kernel with one WebSocket route, "/ws".
struct SocketFixture {
  explicit SocketFixture(EndpointOptions options = {}) {
    endpoint = Endpoint::make(std::move(options), std::make_unique<SeeingHandler>(seen));
    route = &server.on("/ws", [this](Exchange& exchange) { accept(exchange, endpoint); });
  }
  void start() { server.start(); }

  static std::string request(const std::string& fields = {}) {
    return "GET /ws HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
           "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
           fields + "\r\n";
  }
  // An open socket; `head` is the answer.
  test::SimPeer open(const std::string& fields = {}) {
    start();
    test::SimPeer peer = server.connect();
    peer.write(request(fields));
    server.settle();
    const auto got = test::parseAnswers(peer.read());
    if (!got.answers.empty()) head = got.answers[0].head;
    return peer;
  }
  // Sends bytes and reads frames.
  std::string ask(test::SimPeer& peer, std::string_view bytes) {
    peer.write(bytes);
    std::string got;
    for (bool more = true; more;) {
      server.settle();
      const std::string piece = peer.read();
      got += piece;
      more = !piece.empty();
    }
    return readFrames(got, true);
  }

  Seen seen;
  std::string head;
  Endpoint::Ref endpoint;
  Route* route = nullptr;  // before start()
  test::H1Server server;
};

}  // namespace roost::http::ws
