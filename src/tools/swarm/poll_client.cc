#include "tools/swarm/poll_client.h"

#include <fmt/format.h>

#include "tools/swarm/head_reader.h"
#include "tools/swarm/worker.h"

namespace roost::swarm {

using http::h1::ChunkStep;
using http::h1::ParseState;

void PollClient::opened() noexcept {
  ready();
  if (connection() != nullptr) poll();
}

void PollClient::closed() noexcept {
  waits_ = in_body_ = false;
}

uint64_t PollClient::missing() const noexcept {
  return missingOf(messages_);
}

// After a pause; a new connection may have asked already.
void PollClient::ask() noexcept {
  if (!waits_) poll();
}

void PollClient::poll() noexcept {
  waits_ = true;
  sendRequest(position_);
}

void PollClient::onRead(net::Connection&, net::Chunk& in) noexcept {
  const size_t before = in.size();
  if (!waits_) return fail(ErrorKind::kProtocol, fmt::format("{} bytes that nobody asked for", in.size()));
  if ((in_body_ || readHead(in)) && readBody(in)) finish(in.size());
  worker().stats().bytes_in.add(before - in.size());
}

// False: more has to come, or it was not an answer that polling can go on with.
bool PollClient::readHead(net::Chunk& in) noexcept {
  HeadReader& heads = worker().heads();
  const ParseState state = heads.read(in);
  if (state == ParseState::kError) fail(ErrorKind::kProtocol, heads.error());
  if (state != ParseState::kDone) return false;
  const int status = heads.head().status;
  message_ = status == worker().scenario().expect_status;
  if (!message_ && status != 304 && status != 408) {
    fail(ErrorKind::kStatus, fmt::format("status {}", status));
    return false;
  }
  in_body_ = true;
  last_ = !heads.framing().keep_alive;
  body_.start(heads.framing());
  text_.begin();
  takePosition();
  const std::string_view gap = heads.head().get("push-gap");
  if (!gap.empty()) gapTold(fmt::format("{} messages", gap));
  return true;
}

// An answer without a message may leave the position as it is.
void PollClient::takePosition() noexcept {
  const http::client::ReceivedHead& head = worker().heads().head();
  const std::string_view time = head.get("last-modified");
  const std::string_view tag = head.get("etag");
  if (time.empty() && tag.empty()) return;
  position_.clear();
  if (!time.empty()) position_.append("If-Modified-Since: ").append(time).append("\r\n");
  if (!tag.empty()) position_.append("If-None-Match: ").append(tag).append("\r\n");
}

bool PollClient::readBody(net::Chunk& in) noexcept {
  for (;;) {
    const http::h1::ChunkPiece piece = body_.next(in.data(), in.size(), HeadReader::kLimits);
    if (piece.step == ChunkStep::kError) {
      fail(ErrorKind::kProtocol, body_.errorReason());
      return false;
    }
    if (piece.step == ChunkStep::kData) text_.add({piece.data, piece.size});
    in.consume(piece.consumed);
    if (piece.step == ChunkStep::kDone) return true;
    if (piece.step == ChunkStep::kNeedMore) return false;
  }
}

// An answer has come whole, with `rest` bytes behind it.
void PollClient::finish(size_t rest) noexcept {
  in_body_ = waits_ = false;
  if (rest > 0) return fail(ErrorKind::kProtocol, fmt::format("{} bytes behind the answer", rest));
  if (message_) {
    received(messages_, text_.text());
  } else {
    worker().stats().empty_answers.add();
  }
  if (connection() == nullptr || worker().over()) return;
  if (!last_) return worker().scenario().think_ns > 0 ? worker().askLater(*this) : poll();
  endWell();
  connection()->close();
}

void PollClient::onReadEnd(net::Connection& connection) noexcept {
  if (waits_ && in_body_ && body_.endsHere()) {
    last_ = true;
    finish(0);
  }
  if (this->connection() != nullptr) Client::onReadEnd(connection);
}

}  // namespace roost::swarm
