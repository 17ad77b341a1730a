#include "tools/swarm/sse_client.h"

#include <fmt/format.h>

#include "http/ascii.h"
#include "tools/swarm/head_reader.h"
#include "tools/swarm/worker.h"

namespace roost::swarm {

using http::h1::ChunkStep;
using http::h1::ParseState;

void SseClient::opened() noexcept {
  if (scanner_.id().empty()) return sendRequest();
  sendRequest(fmt::format("Last-Event-ID: {}\r\n", scanner_.id()));
}

void SseClient::closed() noexcept {
  scanner_.reset();
}

uint64_t SseClient::missing() const noexcept {
  return missingOf(messages_);
}

void SseClient::onRead(net::Connection&, net::Chunk& in) noexcept {
  const size_t before = in.size();
  if (state() != State::kConnecting || readHead(in)) readBody(in);
  worker().stats().bytes_in.add(before - in.size());
}

void SseClient::readBody(net::Chunk& in) noexcept {
  while (!in.empty()) {
    const http::h1::ChunkPiece piece = body_.next(in.data(), in.size(), HeadReader::kLimits);
    if (piece.step == ChunkStep::kData) readEvents({piece.data, piece.size});
    if (connection() == nullptr) return;
    in.consume(piece.consumed);
    if (piece.step == ChunkStep::kError) return fail(ErrorKind::kProtocol, body_.errorReason());
    if (piece.step == ChunkStep::kDone) return fail(ErrorKind::kClosedEarly, "the stream ended");
    if (piece.step == ChunkStep::kNeedMore) return;
  }
}

bool SseClient::readHead(net::Chunk& in) noexcept {
  HeadReader& heads = worker().heads();
  const ParseState state = heads.read(in);
  if (state == ParseState::kNeedMore) return false;
  if (state == ParseState::kError) {
    fail(ErrorKind::kProtocol, heads.error());
    return false;
  }
  const int status = heads.head().status;
  if (status != worker().scenario().expect_status) {
    fail(ErrorKind::kHandshake, fmt::format("status {}", status));
    return false;
  }
  constexpr std::string_view kType = "text/event-stream";
  const std::string_view type = heads.head().get(http::FieldId::kContentType);
  if (!http::equalsToken(type.substr(0, kType.size()), kType)) {
    fail(ErrorKind::kHandshake, "the answer is no text/event-stream");
    return false;
  }
  body_.start(heads.framing());
  ready();
  return connection() != nullptr;
}

void SseClient::readEvents(std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    size_t consumed = 0;
    const bool event = scanner_.next(bytes, consumed);
    bytes.remove_prefix(consumed);
    if (event && scanner_.type() == "gap") {
      gapTold(scanner_.data());
    } else if (event) {
      received(messages_, scanner_.data());
    }
    if (connection() == nullptr) return;
  }
}

}  // namespace roost::swarm
