#include "tools/swarm/ws_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "http/ascii.h"
#include "http/ws/accept_key.h"
#include "http/ws/mask.h"
#include "tools/swarm/head_reader.h"
#include "tools/swarm/request.h"
#include "tools/swarm/worker.h"

namespace roost::swarm {

using http::h1::ParseState;
using http::ws::FrameDecoder;
using http::ws::FramePiece;
using http::ws::Opcode;

void WsClient::opened() noexcept {
  sendRequest();
}

void WsClient::closed() noexcept {
  decoder_ = FrameDecoder();
  received_ = 0;
}

uint64_t WsClient::missing() const noexcept {
  return missingOf(messages_);
}

void WsClient::sendFrame(Opcode opcode, std::string_view payload) noexcept {
  const auto key = static_cast<uint32_t>(scrambled((uint64_t{runIndex()} << 32) + asked() + 1));
  std::string& frame = worker().scratch();
  if (frame.size() < payload.size() + http::ws::kMaxFrameHeader) {
    frame.resize(payload.size() + http::ws::kMaxFrameHeader);
  }
  const size_t header = http::ws::writeMaskedHeader(frame.data(), opcode, true, false, payload.size(), key);
  http::ws::applyMask(frame.data() + header, payload.data(), payload.size(), key);
  send({frame.data(), header + payload.size()});
}

void WsClient::ask() noexcept {
  if (worker().scenario().asksAtEnd()) return sendFrame(Opcode::kPing, "still there?");
  received_ = 0;
  sendFrame(Opcode::kBinary, worker().plan().payload.message(runIndex(), asked()));
}

void WsClient::leave() noexcept {
  if (state() != State::kConnecting) {
    char payload[http::ws::kMaxControlBytes];
    sendFrame(Opcode::kClose, {payload, http::ws::writeClose(payload, http::ws::kNormal, "")});
  }
  if (connection() != nullptr) Client::leave();
}

void WsClient::onRead(net::Connection&, net::Chunk& in) noexcept {
  const size_t before = in.size();
  if (state() != State::kConnecting || readHead(in)) {
    while (connection() != nullptr && readFrames(in)) {
    }
  }
  worker().stats().bytes_in.add(before - in.size());
}

// RFC 6455 section 4.1, what a client has to check.
bool WsClient::readHead(net::Chunk& in) noexcept {
  HeadReader& heads = worker().heads();
  const ParseState state = heads.read(in);
  if (state == ParseState::kNeedMore) return false;
  std::string wrong;
  if (state == ParseState::kError) {
    wrong = heads.error();
  } else if (heads.head().status != 101) {
    wrong = fmt::format("status {}", heads.head().status);
  } else {
    const auto accept = http::ws::acceptKey(handshakeKey());
    const http::client::ReceivedHead& head = heads.head();
    if (!http::equalsToken(head.get(http::FieldId::kUpgrade), "websocket"))
      wrong = "Upgrade is not websocket";
    if (head.get(http::FieldId::kSecWebsocketAccept) != std::string_view(accept.data(), accept.size())) {
      wrong = "wrong Sec-WebSocket-Accept";
    }
    if (head.has(http::FieldId::kSecWebsocketExtensions)) wrong = "an extension that was not offered";
  }
  if (!wrong.empty()) {
    fail(ErrorKind::kHandshake, wrong);
    return false;
  }
  ready();
  return connection() != nullptr;
}

// Takes the next piece of a frame; true where there may be another.
bool WsClient::readFrames(net::Chunk& in) noexcept {
  const http::ws::FrameRules rules{http::ws::Role::kClient, false, 64U << 20, 64U << 20};
  FramePiece piece;
  switch (decoder_.next(in.base + in.begin, in.size(), rules, piece)) {
    case FrameDecoder::Step::kNeedMore:
      return false;
    case FrameDecoder::Step::kError:
      fail(ErrorKind::kProtocol, decoder_.errorText());
      return false;
    case FrameDecoder::Step::kPiece:
      break;
  }
  in.consume(piece.consumed);
  if (http::ws::isControl(piece.opcode)) return takeControl(piece);
  if (worker().scenario().listens()) return takeMessage(piece);
  return takeEcho(piece);
}

bool WsClient::takeControl(const FramePiece& piece) noexcept {
  const std::string_view payload(piece.data, piece.size);
  if (piece.opcode == Opcode::kPing) sendFrame(Opcode::kPong, payload);
  if (piece.opcode == Opcode::kPong && state() == State::kWaiting && worker().scenario().asksAtEnd())
    answered();
  if (piece.opcode == Opcode::kClose) {
    const http::ws::CloseText close = http::ws::readClose(payload);
    const uint16_t code = close.code;
    sendFrame(Opcode::kClose, payload.substr(0, 2));
    if (connection() != nullptr) fail(ErrorKind::kClosedEarly, fmt::format("closed with code {}", code));
    return false;
  }
  return true;
}

bool WsClient::takeEcho(const FramePiece& piece) noexcept {
  const std::string_view wanted = state() == State::kWaiting
                                      ? worker().plan().payload.message(runIndex(), asked() - 1)
                                      : std::string_view{};
  const bool fits = state() == State::kWaiting && piece.opcode == Opcode::kBinary &&
                    received_ + piece.size <= wanted.size() &&
                    std::memcmp(piece.data, wanted.data() + received_, piece.size) == 0;
  if (!fits || (piece.ends && received_ + piece.size != wanted.size())) {
    fail(ErrorKind::kBody, state() == State::kWaiting
                               ? fmt::format("message {} came back changed", asked() - 1)
                               : "a message that nobody asked for");
    return false;
  }
  received_ += static_cast<uint32_t>(piece.size);
  if (piece.ends) answered();
  return true;
}

bool WsClient::takeMessage(const FramePiece& piece) noexcept {
  if (piece.begins) received_ = 0;
  const size_t size = std::min(piece.size, kKeptBytes - received_);
  std::memcpy(kept_ + received_, piece.data, size);
  received_ += static_cast<uint32_t>(size);
  if (piece.ends) received(messages_, {kept_, received_});
  return true;
}

}  // namespace roost::swarm
