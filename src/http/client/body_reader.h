// Taking the body of a response off a connection (RFC 9112 sections 6 and 7).
#pragma once

#include <cstddef>
#include <cstdint>

#include "http/h1/chunked_decoder.h"
#include "http/h1/framing.h"

namespace roost::http::client {

// Cuts a body out of the bytes behind its head, however it is framed and in whatever pieces it comes. Copies
// and allocates nothing; needs no slack. Owned by whoever reads the connection; one thread.
class BodyReader {
 public:
  // What h1::responseFraming() said of the head, which must have been no error.
  void start(const h1::ResponseFraming& framing) noexcept {
    kind_ = framing.kind;
    left_ = framing.kind == h1::BodyKind::kLength ? framing.content_length : 0;
    if (kind_ == h1::BodyKind::kChunked) chunks_.reset();
  }

  // The next step from data[0, size), to be called again from data + consumed until it answers kNeedMore (all
  // is consumed), kDone (consumed ends behind the body; what follows is not the body's) or kError. `limits`
  // bound the trailer section. After kDone and kError start() comes first.
  h1::ChunkPiece next(const char* data, size_t size, const h1::HeadLimits& limits) noexcept {
    if (kind_ == h1::BodyKind::kChunked) return chunks_.next(data, size, limits);
    return counted(data, size);
  }

  // Nothing more is to come, as far as can be known without looking at further bytes.
  bool complete() const noexcept {
    return kind_ == h1::BodyKind::kNone || (kind_ == h1::BodyKind::kLength && left_ == 0);
  }
  // Bytes of a counted body that are still to come; 0 for the others. Those of them that somebody has taken
  // elsewhere are skipped. REQUIRES: bytes <= left().
  uint64_t left() const noexcept { return left_; }
  void skip(uint64_t bytes) noexcept { left_ -= bytes; }

  // The connection has ended: whether that was the body's end (RFC 9112 section 8).
  bool endsHere() const noexcept { return kind_ == h1::BodyKind::kUntilClose; }
  // After kError.
  const char* errorReason() const noexcept { return chunks_.errorReason(); }

 private:
  h1::ChunkPiece counted(const char* data, size_t size) noexcept {
    if (kind_ == h1::BodyKind::kLength) {
      if (left_ == 0) return {h1::ChunkStep::kDone, 0, nullptr, 0};
      if (size > left_) size = static_cast<size_t>(left_);
      left_ -= size;
    } else if (kind_ == h1::BodyKind::kNone) {
      return {h1::ChunkStep::kDone, 0, nullptr, 0};
    }
    if (size == 0) return {h1::ChunkStep::kNeedMore, 0, nullptr, 0};
    return {h1::ChunkStep::kData, size, data, size};
  }

  h1::BodyKind kind_ = h1::BodyKind::kNone;
  uint64_t left_ = 0;
  h1::ChunkedDecoder chunks_;
};

}  // namespace roost::http::client
