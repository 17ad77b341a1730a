// links: roost_http
// The first byte chooses the size of the representation, the rest is a Range value. Every outcome is compared
// byte by byte against a plain reading of the field, and the multipart framing against its announced length.
#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "http/range.h"
#include "support/fuzz_require.h"

namespace {

using roost::test::require;
using namespace roost::http;  // NOLINT

constexpr size_t kMaxRanges = 8;

struct Reading {
  bool ignored = true;
  bool everything = false;
  uint64_t total = 0;
  size_t specs = 0;
  std::vector<bool> wanted;
};

// A number of any length; one beyond 64 bits is the largest of them.
std::optional<uint64_t> number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  try {
    return std::stoull(text);
  } catch (const std::out_of_range&) {
    return UINT64_MAX;
  }
}

Reading read(std::string value, uint64_t size) {
  Reading reading;
  reading.wanted.assign(size, false);
  if (value.size() < 6) return reading;
  for (size_t i = 0; i < 5; ++i)
    value[i] = static_cast<char>(value[i] >= 'A' && value[i] <= 'Z' ? value[i] + 32 : value[i]);
  if (value.compare(0, 6, "bytes=") != 0) return reading;
  std::vector<std::string> specs(1);
  for (const char c : value.substr(6)) {
    if (c == ',')
      specs.emplace_back();
    else
      specs.back() += c;
  }
  for (std::string spec : specs) {
    spec.erase(0, std::min(spec.find_first_not_of(" \t"), spec.size()));
    spec.erase(spec.find_last_not_of(" \t") + 1);
    if (spec.empty()) continue;
    ++reading.specs;
    const size_t dash = spec.find('-');
    if (dash == std::string::npos) return reading;
    const auto first = number(spec.substr(0, dash));
    const auto last = number(spec.substr(dash + 1));
    uint64_t from = 0;
    uint64_t to = size;  // beyond the last
    if (dash == 0) {
      if (!last) return reading;
      if (*last != 0 && size == 0) reading.everything = true;
      from = size - std::min(*last, size);
    } else {
      if (!first || (!last && dash + 1 != spec.size())) return reading;
      if (last && *last < *first) return reading;
      from = std::min(*first, size);
      if (last && *last < size) to = *last + 1;
    }
    for (uint64_t i = from; i < to; ++i) reading.wanted[i] = true;
    reading.total += to - from;
  }
  reading.ignored = reading.specs == 0;
  return reading;
}

void checkMultipart(const RangeRequest& request, uint64_t size) {
  const MultipartRanges parts("text/plain", size);
  uint64_t length = MultipartRanges::kEndSize;
  for (size_t i = 0; i < request.count; ++i) {
    std::vector<char> head(parts.maxPartHead());
    length += parts.formatPartHead(i, request.ranges[i], head.data()) + request.ranges[i].size();
  }
  require(parts.totalLength(request) == length);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t input_size) {
  if (input_size == 0) return 0;
  constexpr uint64_t kSizes[] = {0, 1, 10, 1000};
  const uint64_t size = kSizes[data[0] & 3];
  const std::string value(reinterpret_cast<const char*>(data) + 1, input_size - 1);
  const RangeRequest request = parseRange(value, size, kMaxRanges);
  const Reading reading = read(value, size);

  if (reading.ignored || reading.everything || reading.specs > kMaxRanges || reading.total > size) {
    require(request.outcome == RangeOutcome::kWhole);
    return 0;
  }
  if (reading.total == 0) {
    require(request.outcome == RangeOutcome::kUnsatisfiable);
    return 0;
  }
  require(request.outcome == RangeOutcome::kPartial && request.count >= 1 && request.count <= kMaxRanges);
  std::vector<bool> sent(size, false);
  for (const ByteRange& range : request) {
    require(range.first <= range.last && range.last < size);
    for (uint64_t i = range.first; i <= range.last; ++i) {
      require(!sent[i]);  // no byte twice
      sent[i] = true;
    }
  }
  require(sent == reading.wanted);
  checkMultipart(request, size);
  return 0;
}
