#include "tools/swarm/http_client.h"

#include <fmt/format.h>

#include "tools/swarm/head_reader.h"
#include "tools/swarm/worker.h"

namespace roost::swarm {

using http::h1::ChunkStep;
using http::h1::ParseState;

namespace {

constexpr uint64_t kHashSeed = 0xcbf29ce484222325;  // FNV-1a

uint64_t hashed(uint64_t hash, std::string_view bytes) noexcept {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

}  // namespace

HttpClient::HttpClient(Worker& worker, uint32_t own_index) : Client(worker, own_index) {
  if (worker.scenario().expect_sequence) numbers_ = std::make_unique<NumberedStream>();
}

void HttpClient::ask() noexcept {
  sendRequest();
}

void HttpClient::onRead(net::Connection&, net::Chunk& in) noexcept {
  const size_t before = in.size();
  if (state() != State::kWaiting) {
    fail(ErrorKind::kProtocol, fmt::format("{} bytes that nobody asked for", in.size()));
    return;
  }
  const bool whole = (in_body_ || readHead(in)) && readBody(in);
  if (connection() == nullptr) return;
  const size_t rest = in.size();
  worker().stats().bytes_in.add(before - rest);
  if (!whole) return;
  if (rest > 0) {
    fail(ErrorKind::kProtocol, fmt::format("{} bytes behind the answer", rest));
    return;
  }
  finish();
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
    if (piece.step == ChunkStep::kNeedMore) return false;
  }
}

void HttpClient::take(std::string_view content) noexcept {
  body_bytes_ += content.size();
  if (worker().scenario().expect_body != BodyCheck::kAny) body_hash_ = hashed(body_hash_, content);
  if (numbers_) numbers_->add(content);
}

void HttpClient::finish() noexcept {
  in_body_ = false;
  if (status_ok_) checkBody();
  if (last_) endWell();
  answered();
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
    finish();
  }
  if (this->connection() != nullptr) Client::onReadEnd(connection);
}

}  // namespace roost::swarm
