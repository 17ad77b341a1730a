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

WsClient::WsClient(Worker& worker, uint32_t own_index) : Client(worker, own_index) {
  if (worker.scenario().hasMeta()) meta_ = std::make_unique<Meta>();
}

void WsClient::opened() noexcept {
  if (!meta_ || meta_->id.empty()) return sendRequest();
  sendRequest(fmt::format("Last-Event-ID: {}\r\n", meta_->id));
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
    if (head.get("sec-websocket-protocol") != worker().scenario().ws_subprotocol)
      wrong = "another subprotocol";
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

// Reads the lines before the payload, to the empty one that ends them; the rest of the piece is payload.
std::string_view WsClient::skipMeta(std::string_view piece) noexcept {
  while (!meta_->over && !piece.empty()) {
    const size_t end = piece.find('\n');
    if (meta_->line.size() < kLongestLine) meta_->line.append(piece.substr(0, end));
    if (end == std::string_view::npos) return {};
    piece.remove_prefix(end + 1);
    constexpr std::string_view kId = "id: ";
    if (meta_->line.compare(0, kId.size(), kId) == 0) meta_->id = meta_->line.substr(kId.size());
    meta_->over = meta_->line.empty();
    meta_->line.clear();
  }
  return piece;
}

bool WsClient::takeMessage(const FramePiece& piece) noexcept {
  if (piece.begins) {
    received_ = 0;
    if (meta_) meta_->over = false;
    if (meta_) meta_->line.clear();
  }
  std::string_view text(piece.data, piece.size);
  if (meta_) text = skipMeta(text);
  const size_t size = std::min(text.size(), kKeptBytes - received_);
  std::memcpy(kept_ + received_, text.data(), size);
  received_ += static_cast<uint32_t>(size);
  if (!piece.ends) return true;
  const std::string_view message(kept_, received_);
  // What a client that was not granted event names is told of a gap.
  constexpr std::string_view kGapBegins = "{\"event\":\"gap\",";
  if (message.substr(0, kGapBegins.size()) == kGapBegins) {
    gapTold(message);
  } else {
    received(messages_, message);
  }
  return true;
}

}  // namespace roost::swarm
