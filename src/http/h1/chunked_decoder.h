// Decoding the chunked transfer coding (RFC 9112 section 7.1), strictly.
#pragma once

#include <cstddef>
#include <cstdint>

#include "http/h1/head_scan.h"

namespace roost::http::h1 {

enum class ChunkStep : uint8_t { kNeedMore, kData, kDone, kError };

struct ChunkPiece {
  ChunkStep step;
  size_t consumed;   // bytes of the input that are dealt with, the piece included
  const char* data;  // kData: a piece of content, within the input
  size_t size;       // never 0 with kData
};

// Takes a chunked body apart, in whatever pieces it comes. Copies and allocates nothing. Owned by the
// session; loop thread only; needs no slack behind its input.
//
// Line ends are CRLF and nothing else, whitespace stands only where the grammar has BWS, a chunk is below
// 2^60 bytes. Extensions are checked and ignored. Trailer fields are checked like header fields, counted, and
// dropped: a recipient may do so (RFC 9110 section 6.5.1), and none can then be mistaken for framing or
// routing.
class ChunkedDecoder {
 public:
  static constexpr uint32_t kMaxSizeLineBytes =
      1024;  // size, extensions and line ends: bounds the chatter per chunk

  // Ready for the next body.
  void reset() noexcept { *this = ChunkedDecoder{}; }

  // The next step from data[0, size): a piece of content, or how it ended. To be called again from data +
  // consumed until kNeedMore (all is consumed), kDone (consumed ends behind the body) or kError. The trailer
  // section is bounded by max_head_bytes and max_fields.
  ChunkPiece next(const char* data, size_t size, const HeadLimits& limits) noexcept;

  // After kError: 400, or 431 for trailers beyond the limits.
  int errorStatus() const noexcept { return error_status_; }
  const char* errorReason() const noexcept { return error_reason_; }

 private:
  static constexpr int32_t kFresh = -1;
  enum class Part : uint8_t { kSizeLine, kContent, kTrailers, kEnd };

  // Runs the machine over [p, pe); answers where it stopped.
  const char* run(const char* p, const char* pe, const HeadLimits& limits) noexcept;
  // Reads lines up to content, the end, an error or the end of the input.
  const char* readLines(const char* p, const char* end, const HeadLimits& limits) noexcept;
  ChunkPiece takeContent(const char* data, const char* p, const char* end) noexcept;
  void fail(int status, const char* reason) noexcept;

  uint64_t left_ = 0;  // bytes of the chunk still to come; while its size is read, what that is so far
  int32_t state_ = kFresh;
  uint32_t line_bytes_ = 0;  // read of the current size line, or of the trailer section
  uint32_t trailers_ = 0;
  Part part_ = Part::kSizeLine;
  int error_status_ = 0;
  const char* error_reason_ = "";
};

}  // namespace roost::http::h1
