// Range requests in bytes (RFC 9110 section 14) and the multipart/byteranges body that answers several of
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/message.h"

namespace roost::http {

// Both ends inside.
struct ByteRange {
  uint64_t first;
  uint64_t last;
  uint64_t size() const noexcept { return last - first + 1; }
};

enum class RangeOutcome : uint8_t {
  kWhole,         // 200: no Range, or one that is ignored
  kPartial,       // 206 with `ranges`; several are a multipart
  kUnsatisfiable  // 416 with "Content-Range: bytes */size"
};

struct RangeRequest {
  static constexpr size_t kCapacity = 32;  // what a configuration may ask for (static_files/schema.json)
  RangeOutcome outcome = RangeOutcome::kWhole;
  uint8_t count = 0;
  std::array<ByteRange, kCapacity> ranges;  // uninitialised beyond `count`

  const ByteRange* begin() const noexcept { return ranges.data(); }
  const ByteRange* end() const noexcept { return ranges.data() + count; }
};

constexpr size_t kDefaultMaxRanges = 16;

// Reads the value of one Range field for a representation of `size` bytes (sections 14.1.2 and 14.2):
//   - another unit than bytes, or anything malformed (a last position before the first, too): ignored;
//     whitespace may stand around a range, never inside;
//   - positions beyond the end are cut, ranges that begin there are left out; if none is left, 416;
//   - of an empty representation a non-zero suffix is everything (200), any other range is 416;
//   - more than `max_ranges` of them, or more bytes in total than there are: the whole representation, which
//     is cheaper for everybody (section 14.2 asks to beware of such requests);
//   - ranges that overlap or touch become one, and then all stand in ascending order; otherwise they keep the
//     order of the request (section 15.3.7.2).
// No allocation. max_ranges above RangeRequest::kCapacity means that; 0 ignores all ranges.
RangeRequest parseRange(std::string_view value, uint64_t size,
                        size_t max_ranges = kDefaultMaxRanges) noexcept;

// The same for a request: only GET knows ranges (section 14.2), and several Range lines are malformed.
// If-Range is asked before (conditional.h).
RangeRequest parseRange(const RequestHead& head, uint64_t size,
                        size_t max_ranges = kDefaultMaxRanges) noexcept;

// "bytes 0-499/1234", without a NUL; returns its length.
constexpr size_t kMaxContentRange = 6 + 20 + 1 + 20 + 1 + 20;
size_t formatContentRange(ByteRange range, uint64_t size, char (&out)[kMaxContentRange]) noexcept;
// "bytes */1234", for 416.
size_t formatUnsatisfiedRange(uint64_t size, char (&out)[kMaxContentRange]) noexcept;

// The framing of a multipart/byteranges body (section 14.6, RFC 2046 section 5.1): for every range a part
// head, then its bytes, then the end. A value; holds the content type by reference, which must outlive it. No
// allocation.
class MultipartRanges {
 public:
  static constexpr size_t kBoundarySize = 32;
  static constexpr size_t kEndSize = kBoundarySize + 8;

  // `content_type` is the representation's; empty: the parts have none. Any thread.
  MultipartRanges(std::string_view content_type, uint64_t size) noexcept;

  // For the response: "multipart/byteranges; boundary=" and this. A different one every time, not to be
  // foreseen.
  std::string_view boundary() const noexcept { return {boundary_, kBoundarySize}; }

  // Longest part head for this content type.
  size_t maxPartHead() const noexcept;
  // Writes what stands before the bytes of the part with this index; returns its length. REQUIRES: room for
  // maxPartHead().
  size_t formatPartHead(size_t index, ByteRange range, char* out) const noexcept;
  // Writes what stands after the last part; returns its length.
  size_t formatEnd(char (&out)[kEndSize]) const noexcept;

  // Content-Length of the whole body.
  uint64_t totalLength(const RangeRequest& request) const noexcept;

 private:
  std::string_view content_type_;
  uint64_t size_;
  char boundary_[kBoundarySize];
};

}  // namespace roost::http
