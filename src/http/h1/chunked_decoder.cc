#include "http/h1/chunked_decoder.h"

#include <algorithm>

#include "http/h1/chunked_scan.inc"

namespace roost::http::h1 {

void ChunkedDecoder::fail(int status, const char* reason) noexcept {
  error_status_ = status;
  error_reason_ = reason;
}

const char* ChunkedDecoder::readLines(const char* p, const char* end, const HeadLimits& limits) noexcept {
  while (p < end && error_status_ == 0 && (part_ == Part::kSizeLine || part_ == Part::kTrailers)) {
    // The machine sees no byte beyond the limit, so that the outcome does not depend on how the input was
    // split.
    const Part part = part_;
    const uint32_t limit = part == Part::kTrailers ? limits.max_head_bytes : kMaxSizeLineBytes;
    const auto room = static_cast<size_t>(limit - line_bytes_);
    const char* const stop = run(p, p + std::min(room, static_cast<size_t>(end - p)), limits);
    line_bytes_ += static_cast<uint32_t>(stop - p);
    p = stop;
    if (part_ != part) {
      line_bytes_ = 0;
    } else if (error_status_ == 0 && line_bytes_ >= limit) {
      fail(part == Part::kTrailers ? 431 : 400,
           part == Part::kTrailers ? "trailer section too large" : "chunk size line too long");
    }
  }
  return p;
}

ChunkPiece ChunkedDecoder::takeContent(const char* data, const char* p, const char* end) noexcept {
  const auto size = static_cast<size_t>(std::min<uint64_t>(left_, static_cast<uint64_t>(end - p)));
  left_ -= size;
  if (left_ == 0) part_ = Part::kSizeLine;
  return {ChunkStep::kData, static_cast<size_t>(p - data) + size, p, size};
}

ChunkPiece ChunkedDecoder::next(const char* data, size_t size, const HeadLimits& limits) noexcept {
  const char* const end = data + size;
  const char* const p = readLines(data, end, limits);
  const auto consumed = static_cast<size_t>(p - data);
  if (error_status_ != 0) return {ChunkStep::kError, consumed, nullptr, 0};
  if (part_ == Part::kEnd) return {ChunkStep::kDone, consumed, nullptr, 0};
  if (part_ == Part::kContent && p < end) return takeContent(data, p, end);
  return {ChunkStep::kNeedMore, consumed, nullptr, 0};
}

}  // namespace roost::http::h1
