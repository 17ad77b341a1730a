// links: roost_http_parser
// The response parser and what takes bodies off: whatever the bytes and wherever they are split, every
// machine gives the same answer, nothing is read beyond the slack, and what a head refers to lies within it.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "http/client/body_reader.h"
#include "http/client/response_parser.h"
#include "support/fuzz_require.h"

namespace {

using roost::test::require;
using namespace roost::http;
using namespace roost::http::client;
using roost::http::h1::BodyKind;
using roost::http::h1::ChunkStep;

HeadLimits limits() {
  HeadLimits some;
  some.max_head_bytes = 2048;
  some.max_fields = 20;
  return some;
}

void checkHead(const ReceivedHead& head, size_t size) {
  require(head.size <= size, "a head lies in its data");
  require(uint64_t{head.reason.off} + head.reason.len <= head.size, "the reason lies in the head");
  require(head.status >= 100 && head.status <= 999, "a status has three digits");
  for (size_t i = 0; i < head.field_count; ++i) {
    const Field& field = head.fields[i];
    require(uint64_t{field.name_off} + field.name_len <= head.size, "a name lies in the head");
    require(uint64_t{field.value_off} + field.value_len <= head.size, "a value lies in the head");
    require(field.name_len > 0, "a name is not empty");
    require(field.next == 0 || (field.next > i && field.next < head.field_count), "links lead on");
    const std::string_view value = head.value(field);
    require(value.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos, "values are clean");
    require(value.empty() || (value.front() != ' ' && value.back() != ' '), "values are trimmed");
  }
}

// Takes the body off, `step` bytes at a time; what it was, and how it went on.
std::string body(const ReceivedHead& head, Method method, const uint8_t* data, size_t size, size_t step) {
  const h1::ResponseFraming framing = h1::responseFraming(head, head.status, method);
  require(framing.error_reason == nullptr || !framing.keep_alive, "a bad frame ends the connection");
  require(framing.kind != BodyKind::kUntilClose || !framing.keep_alive, "what ends with it ends it");
  if (framing.error_reason != nullptr) return framing.error_reason;
  BodyReader reader;
  reader.start(framing);
  std::string taken;
  size_t at = 0;
  for (size_t end = step < size ? step : size;; end = end + step < size ? end + step : size) {
    const std::unique_ptr<char[]> bytes(new char[end - at + 1]);
    if (end != at) std::memcpy(bytes.get(), data + at, end - at);
    const char* p = bytes.get();
    const char* const stop = p + (end - at);
    for (;;) {
      const h1::ChunkPiece piece = reader.next(p, static_cast<size_t>(stop - p), limits());
      require(piece.consumed <= static_cast<size_t>(stop - p), "no more is consumed than there is");
      p += piece.consumed;
      if (piece.step == ChunkStep::kData) taken.append(piece.data, piece.size);
      if (piece.step == ChunkStep::kDone) return taken + "!";
      if (piece.step == ChunkStep::kError) return taken + reader.errorReason();
      if (piece.step == ChunkStep::kNeedMore) break;
    }
    require(p == stop, "all is consumed before more is wanted");
    at = end;
    if (end == size) return taken + "?";
  }
}

std::string parse(h1::ResponseScanFn scan, const uint8_t* data, size_t size, size_t step) {
  ResponseParser parser(scan);
  ReceivedHead head;
  for (size_t end = step < size ? step : size;; end = end + step < size ? end + step : size) {
    // A block of exactly the bytes promised, elsewhere each time.
    const std::unique_ptr<char[]> bytes(new char[end + ResponseParser::kSlack]);
    if (end != 0) std::memcpy(bytes.get(), data, end);
    std::memset(bytes.get() + end, end % 3 == 0 ? 'a' : (end % 3 == 1 ? '\n' : ':'), ResponseParser::kSlack);
    const ParseState state = parser.parse(bytes.get(), end, limits(), head);
    if (state == ParseState::kError) return parser.errorReason();
    if (state == ParseState::kDone) {
      checkHead(head, end);
      std::string told = std::to_string(head.status) + " " + std::to_string(head.size) + " ";
      for (size_t i = 0; i < head.field_count; ++i) {
        told.append(reinterpret_cast<const char*>(&head.fields[i]), sizeof(Field));
      }
      const uint8_t* const rest = data + head.size;
      return told + body(head, Method::kGet, rest, size - head.size, step) +
             body(head, Method::kHead, rest, size - head.size, step);
    }
    if (end == size) return "more";
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4096) return 0;
  const std::string expected = parse(h1::scanResponseGeneric, data, size, size);
  h1::HeadMachine machines[h1::kMaxHeadMachines];
  const size_t count = h1::headMachines(machines);
  for (size_t i = 0; i < count; ++i) {
    for (const size_t step : {size, size_t{1}, size_t{7}, size_t{61}, size / 2 + 1}) {
      if (step == 0 || (step == 1 && size > 512)) continue;
      require(parse(machines[i].scan_response, data, size, step) == expected, "same outcome");
    }
  }
  return 0;
}
