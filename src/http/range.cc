#include "http/range.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>

#include "base/hex.h"
#include "base/random.h"
#include "http/token_list.h"

namespace roost::http {

namespace {

constexpr std::string_view kUnit = "bytes";
constexpr std::string_view kTypeField = "Content-Type: ";
constexpr std::string_view kRangeField = "Content-Range: ";
constexpr std::string_view kCrlf = "\r\n";

// Digits off the front; a number too large for 64 bits is the largest there is, which lies beyond any file.
bool takeNumber(std::string_view& rest, uint64_t& value) noexcept {
  size_t at = 0;
  value = 0;
  for (; at < rest.size() && rest[at] >= '0' && rest[at] <= '9'; ++at) {
    const uint64_t digit = static_cast<uint64_t>(rest[at] - '0');
    value = value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : value * 10 + digit;
  }
  rest.remove_prefix(at);
  return at != 0;
}

enum class Spec : uint8_t { kMalformed, kUnsatisfiable, kEverything, kRange };

// "-500": the last bytes. Everything, if there are not so many.
Spec readSuffix(std::string_view digits, uint64_t size, ByteRange& range) noexcept {
  uint64_t length = 0;
  if (!takeNumber(digits, length) || !digits.empty()) return Spec::kMalformed;
  if (length == 0) return Spec::kUnsatisfiable;
  if (size == 0) return Spec::kEverything;
  range = {size - std::min(length, size), size - 1};
  return Spec::kRange;
}

// One range-spec: "0-499", "500-", "-500".
Spec readSpec(std::string_view spec, uint64_t size, ByteRange& range) noexcept {
  if (spec.front() == '-') return readSuffix(spec.substr(1), size, range);
  uint64_t first = 0;
  uint64_t last = UINT64_MAX;
  if (!takeNumber(spec, first) || spec.empty() || spec.front() != '-') return Spec::kMalformed;
  spec.remove_prefix(1);
  if (!spec.empty() && (!takeNumber(spec, last) || !spec.empty() || last < first)) return Spec::kMalformed;
  if (first >= size) return Spec::kUnsatisfiable;
  range = {first, std::min(last, size - 1)};
  return Spec::kRange;
}

bool touches(const ByteRange& a, const ByteRange& b) noexcept {
  return a.first <= b.last + 1 && b.first <= a.last + 1;  // ends are below the size: no overflow
}

// Few enough ranges for looking at every pair.
bool anyTouch(const RangeRequest& request) noexcept {
  for (const ByteRange* a = request.begin(); a != request.end(); ++a) {
    for (const ByteRange* b = a + 1; b != request.end(); ++b) {
      if (touches(*a, *b)) return true;
    }
  }
  return false;
}

void mergeRanges(RangeRequest& request) noexcept {
  ByteRange* const first = request.ranges.data();
  std::sort(first, first + request.count,
            [](const ByteRange& a, const ByteRange& b) { return a.first < b.first; });
  size_t kept = 0;
  for (size_t i = 1; i < request.count; ++i) {
    if (touches(first[kept], first[i])) {
      first[kept].last = std::max(first[kept].last, first[i].last);
    } else {
      first[++kept] = first[i];
    }
  }
  request.count = static_cast<uint8_t>(kept + 1);
}

char* put(char* out, std::string_view text) noexcept {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

char* put(char* out, uint64_t number) noexcept {
  return std::to_chars(out, out + 20, number).ptr;
}

size_t digitsOf(uint64_t number) noexcept {
  size_t digits = 1;
  for (; number >= 10; number /= 10) ++digits;
  return digits;
}

void makeBoundary(char* out) noexcept {
  static const uint64_t process_word = randomWord();
  static std::atomic<uint64_t> counter{randomWord()};
  putHex16(out, process_word);
  putHex16(out + 16, scrambled(counter.fetch_add(1, std::memory_order_relaxed)));
}

}  // namespace

RangeRequest parseRange(std::string_view value, uint64_t size, size_t max_ranges) noexcept {
  RangeRequest request;
  if (value.size() <= kUnit.size() || value[kUnit.size()] != '=' ||
      !equalsToken(value.substr(0, kUnit.size()), kUnit)) {
    return request;
  }
  const size_t limit = std::min(max_ranges, RangeRequest::kCapacity);
  size_t specs = 0;
  uint64_t total = 0;
  bool everything = false;
  for (TokenList list(value.substr(kUnit.size() + 1)); list.next();) {
    ByteRange range;
    const Spec spec = readSpec(list.element(), size, range);
    if (spec == Spec::kMalformed || ++specs > limit) return RangeRequest{};
    everything |= spec == Spec::kEverything;
    if (spec != Spec::kRange) continue;
    request.ranges[request.count++] = range;
    if (range.size() > size - total) return RangeRequest{};
    total += range.size();
  }
  if (specs == 0 || everything) return RangeRequest{};
  if (request.count == 0) {
    request.outcome = RangeOutcome::kUnsatisfiable;
    return request;
  }
  if (anyTouch(request)) mergeRanges(request);
  request.outcome = RangeOutcome::kPartial;
  return request;
}

RangeRequest parseRange(const RequestHead& head, uint64_t size, size_t max_ranges) noexcept {
  const Field* field = head.find(FieldId::kRange);
  if (field == nullptr || head.method != Method::kGet || head.nextOf(*field) != nullptr)
    return RangeRequest{};
  return parseRange(head.value(*field), size, max_ranges);
}

size_t formatContentRange(ByteRange range, uint64_t size, char (&out)[kMaxContentRange]) noexcept {
  char* at = put(out, "bytes ");
  at = put(put(at, range.first), "-");
  at = put(put(at, range.last), "/");
  return static_cast<size_t>(put(at, size) - out);
}

size_t formatUnsatisfiedRange(uint64_t size, char (&out)[kMaxContentRange]) noexcept {
  return static_cast<size_t>(put(put(out, "bytes */"), size) - out);
}

MultipartRanges::MultipartRanges(std::string_view content_type, uint64_t size) noexcept
    : content_type_(content_type), size_(size) {
  makeBoundary(boundary_);
}

size_t MultipartRanges::maxPartHead() const noexcept {
  const size_t type = content_type_.empty() ? 0 : kTypeField.size() + content_type_.size() + kCrlf.size();
  return 4 + kBoundarySize + kCrlf.size() + type + kRangeField.size() + kMaxContentRange + 2 * kCrlf.size();
}

size_t MultipartRanges::formatPartHead(size_t index, ByteRange range, char* out) const noexcept {
  char* at = put(out, index == 0 ? "--" : "\r\n--");
  at = put(put(at, boundary()), kCrlf);
  if (!content_type_.empty()) at = put(put(put(at, kTypeField), content_type_), kCrlf);
  char content_range[kMaxContentRange];
  at = put(at, kRangeField);
  at = put(at, std::string_view(content_range, formatContentRange(range, size_, content_range)));
  return static_cast<size_t>(put(put(at, kCrlf), kCrlf) - out);
}

size_t MultipartRanges::formatEnd(char (&out)[kEndSize]) const noexcept {
  return static_cast<size_t>(put(put(put(out, "\r\n--"), boundary()), "--\r\n") - out);
}

uint64_t MultipartRanges::totalLength(const RangeRequest& request) const noexcept {
  // Every part head is as long as the longest but for its numbers, and the first lacks its line break.
  const size_t fixed = maxPartHead() - 3 * 20;
  uint64_t total = kEndSize - kCrlf.size();
  for (const ByteRange& range : request) {
    total += fixed + digitsOf(range.first) + digitsOf(range.last) + digitsOf(size_) + range.size();
  }
  return total;
}

}  // namespace roost::http
