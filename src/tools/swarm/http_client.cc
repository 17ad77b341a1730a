#include "tools/swarm/http_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/swarm/head_reader.h"
#include "tools/swarm/worker.h"

namespace roost::swarm {

using http::h1::ChunkStep;
using http::h1::ParseState;

namespace {

constexpr uint64_t kHashSeed = 0xcbf29ce484222325;  // FNV-1a

constexpr uint64_t kDropFrom = 65536;        // bytes of content still to come
constexpr uint64_t kMostDropped = 64 << 20;  // by one call

uint64_t hashed(uint64_t hash, std::string_view bytes) noexcept {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

}  // namespace

HttpClient::HttpClient(Worker& worker, uint32_t own_index) : Client(worker, own_index) {
  if (worker.scenario().expect_sequence) numbers_ = std::make_unique<NumberedStream>();
}

void HttpClient::ask() noexcept {
  left_ = worker().scenario().pipeline;
  sendRequest();
}

void HttpClient::onRead(net::Connection&, net::Chunk& in) noexcept {
  const size_t before = in.size();
  if (state() != State::kWaiting) {
    fail(ErrorKind::kProtocol, fmt::format("{} bytes that nobody asked for", in.size()));
    return;
  }
  do {
    const bool whole = (in_body_ || readHead(in)) && readBody(in);
    if (connection() == nullptr) break;
    if (!whole || !finish(in.size())) break;
  } while (!in.empty());
  worker().stats().bytes_in.add(before - in.size());
}

// False: more has to come, or it was no head.
bool HttpClient::readHead(net::Chunk& in) noexcept {
  HeadReader& heads = worker().heads();
  const ParseState state = heads.read(in);
  if (state == ParseState::kError) fail(ErrorKind::kProtocol, heads.error());
  if (state != ParseState::kDone) return false;
  in_body_ = true;
  last_ = !heads.framing().keep_alive;
  body_.start(heads.framing());
  body_bytes_ = 0;
  body_hash_ = kHashSeed;
  if (numbers_) numbers_->begin();
  worker().stats().head_bytes = heads.head().size;
  const int status = heads.head().status;
  status_ok_ = status == worker().scenario().expect_status;
  if (!status_ok_) {
    complain(ErrorKind::kStatus, fmt::format("status {}, not {}", status, worker().scenario().expect_status));
  }
  return true;
}

bool HttpClient::readBody(net::Chunk& in) noexcept {
  for (;;) {
    const http::h1::ChunkPiece piece = body_.next(in.data(), in.size(), HeadReader::kLimits);
    if (piece.step == ChunkStep::kError) {
      fail(ErrorKind::kProtocol, body_.errorReason());
      return false;
    }
    if (piece.step == ChunkStep::kData) take({piece.data, piece.size});
    in.consume(piece.consumed);
    if (piece.step == ChunkStep::kDone) return true;
    if (piece.step == ChunkStep::kNeedMore) return body_.left() > kDropFrom && dropBody();
  }
}

// What is left of a long content goes no further than the kernel, unless somebody wants to see it.
bool HttpClient::dropBody() noexcept {
  if (worker().scenario().expect_body != BodyCheck::kAny || numbers_) return false;
  while (body_.left() > 0) {
    const size_t dropped = connection()->discardNow(std::min<uint64_t>(body_.left(), kMostDropped));
    if (dropped == 0) return false;
    worker().stats().bytes_in.add(dropped);
    body_.skip(dropped);
    body_bytes_ += dropped;
  }
  return true;
}

void HttpClient::take(std::string_view content) noexcept {
  body_bytes_ += content.size();
  if (worker().scenario().expect_body != BodyCheck::kAny) body_hash_ = hashed(body_hash_, content);
  if (numbers_) numbers_->add(content);
}

// An answer has come whole, with `rest` bytes behind it. True: there may be another one in them.
bool HttpClient::finish(size_t rest) noexcept {
  in_body_ = false;
  if (status_ok_) checkBody();
  if (left_ > 1 && !last_) {
    --left_;
    worker().onPart(*this);
    return true;
  }
  if (rest > 0) {
    fail(ErrorKind::kProtocol, fmt::format("{} bytes behind the answer", rest));
    return false;
  }
  if (left_ > 1) worker().onInVain(*this, left_ - 1);
  left_ = 1;
  if (last_) endWell();
  answered();
  return false;
}

void HttpClient::checkBody() noexcept {
  const Scenario& scenario = worker().scenario();
  if (scenario.expect_bytes != Scenario::kAnyBytes) {
    const uint64_t wanted = worker().expectedBytes(body_bytes_);
    if (body_bytes_ != wanted) {
      complain(ErrorKind::kLength, fmt::format("{} bytes, not {}", body_bytes_, wanted));
      return;
    }
  }
  if (scenario.expect_body != BodyCheck::kAny) {
    const uint64_t wanted = worker().expectedHash(body_hash_);
    if (body_hash_ != wanted) {
      complain(ErrorKind::kBody, fmt::format("content of hash {:016x}, not {:016x}", body_hash_, wanted));
    }
  }
  if (numbers_) checkNumber(*numbers_);
}

void HttpClient::onReadEnd(net::Connection& connection) noexcept {
  if (state() == State::kWaiting && in_body_ && body_.endsHere()) {
    last_ = true;
    finish(0);
  }
  if (this->connection() != nullptr) Client::onReadEnd(connection);
}

}  // namespace roost::swarm
