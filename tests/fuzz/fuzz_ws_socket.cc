// links: roost_http
// A whole WebSocket that echoes, over a stream that is nothing but two strings: frames, text, compression,
// closing. What it sends is always well-formed, ends with at most one Close, and says the same however its
// input was split. The first byte chooses what was agreed on, the second a split of its own.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "base/sys.h"
#include "event/loop.h"
#include "http/ws/socket.h"
#include "http/ws/utf8.h"
#include "support/fuzz_require.h"

namespace {

using roost::test::require;
using namespace roost;
using namespace roost::http;
using namespace roost::http::ws;

constexpr size_t kMaxMessage = 20000;

event::Loop& theLoop() {
  static const std::unique_ptr<event::Loop> loop = std::move(event::Loop::create(realSys(), 0)).value();
  return *loop;
}

class StringStream final : public ByteStream {
 public:
  void queue(std::string_view copied) noexcept override {
    require(!closed, "nothing is sent after the end");
    out += copied;
  }
  void queue(BufferRef buffer, size_t offset, size_t size) noexcept override {
    queue(buffer.view().substr(offset, size));
  }
  SendResult sendNow(const BufferRef& block) noexcept override {
    queue(block.view());
    return SendResult::kAccepted;
  }
  SendResult flush() noexcept override { return closed ? SendResult::kClosed : SendResult::kAccepted; }
  size_t queuedBytes() const noexcept override { return 0; }
  void setDeadline(uint32_t) noexcept override {}
  void clearDeadline() noexcept override {}
  void close() noexcept override { closed = true; }
  void abort(AbortReason) noexcept override { closed = true; }
  void pauseRead() noexcept override {}
  void resumeRead() noexcept override {}
  void yieldRead() noexcept override {}
  event::Loop& loop() const noexcept override { return theLoop(); }
  const net::PeerAddr& peer() const noexcept override { return peer_; }
  std::string out;
  bool closed = false;

 private:
  net::PeerAddr peer_{};
};

class EchoHandler final : public SocketHandler {
 public:
  void onMessage(Socket& socket, Message& message) const noexcept override {
    require(message.size() <= kMaxMessage, "no message is larger than allowed");
    Utf8Check check;
    if (message.isText()) {
      require(check.add(message.data(), message.size()) && check.complete(), "text is UTF-8");
    }
    socket.sendBack(message);
  }
};

Endpoint::Ref endpoint() {
  EndpointOptions options;
  options.max_message_bytes = options.max_frame_bytes = kMaxMessage;
  options.compression.min_message_bytes = 10;
  return Endpoint::make(std::move(options), std::make_unique<EchoHandler>());
}

// What was sent, inflated; without the Close, whose code depends on which of two mistakes was seen first.
std::string readBack(std::string bytes, const Compression& agreed) {
  FrameRules rules;
  rules.role = Role::kClient;
  rules.compression = agreed.on;
  FrameDecoder decoder;
  Inflater inflater(agreed.server_bits);
  std::string told;
  bool over = false;
  for (size_t at = 0; at < bytes.size();) {
    FramePiece piece;
    require(decoder.next(bytes.data() + at, bytes.size() - at, rules, piece) == FrameDecoder::Step::kPiece,
            "whole frames are sent");
    require(piece.begins && piece.ends && !over, "each a message, and none after the Close");
    at += piece.consumed;
    over = piece.opcode == Opcode::kClose;
    if (over) continue;
    told += "<" + std::to_string(static_cast<int>(piece.opcode)) + ":";
    if (!piece.compressed) {
      told.append(piece.data, piece.size).append(">");
      // A context that both keep has not seen it.
      continue;
    }
    if (agreed.server_no_context_takeover) inflater.reset(agreed.server_bits);
    std::string plain(kMaxMessage + 1, '\0');
    size_t size = 0;
    for (std::string_view input : {std::string_view(piece.data, piece.size), kMessageTail}) {
      size_t written = 0;
      require(inflater.run(input, plain.data() + size, plain.size() - size, written) ==
                  Inflater::State::kNeedInput,
              "what is compressed can be inflated");
      size += written;
    }
    told.append(plain, 0, size).append(">");
  }
  return told;
}

std::string run(const uint8_t* data, size_t size, size_t step, const Compression& agreed) {
  static const Endpoint::Ref kEndpoint = endpoint();
  StringStream stream;
  const std::unique_ptr<Socket> socket = Socket::make(kEndpoint, agreed);
  socket->attach(stream);
  socket->begin();
  std::string held;
  for (size_t at = 0; at < size && !stream.closed; at += step) {
    held.append(reinterpret_cast<const char*>(data) + at, std::min(step, size - at));
    const std::unique_ptr<char[]> bytes(new char[held.size()]);
    std::memcpy(bytes.get(), held.data(), held.size());
    const size_t used = socket->onBytes(bytes.get(), held.size());
    require(used <= held.size(), "no more is used than there is");
    held.erase(0, used);
  }
  if (!stream.closed) socket->onEnd();
  socket->onClose(AbortReason::kPeerClosed);
  return readBack(stream.out, agreed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3 || size > 8192) return 0;
  Compression agreed;
  agreed.on = (data[0] & 1) != 0;
  agreed.server_no_context_takeover = (data[0] & 2) != 0;
  agreed.client_no_context_takeover = (data[0] & 4) != 0;
  agreed.server_bits = static_cast<uint8_t>(8 + (data[0] >> 3 & 7));
  agreed.client_bits = (data[0] & 64) != 0 ? 9 : 15;
  const size_t own_step = data[1] == 0 ? 1 : data[1];
  data += 2;
  size -= 2;
  const std::string expected = run(data, size, size, agreed);
  for (const size_t step : {size_t{1}, own_step}) {
    require(run(data, size, step, agreed) == expected, "the same in pieces");
  }
  return 0;
}
