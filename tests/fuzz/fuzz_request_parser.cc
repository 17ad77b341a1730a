// links: roost_http_parser
// The request parser: whatever the bytes and wherever they are split, every machine and the hand-written
// parser give the same answer, nothing is read beyond the slack, and what a head refers to lies within it.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "bench/handwritten_parser.h"
#include "http/h1/framing.h"
#include "http/h1/request_parser.h"
#include "support/fuzz_require.h"

namespace {

using roost::test::require;
using namespace roost::http;
using namespace roost::http::h1;

struct Outcome {
  ParseState state;
  int status;
  std::string reason;
};

void checkSpan(const RequestHead& head, Span span) {
  require(uint64_t{span.off} + span.len <= head.size, "a span lies in the head");
}

void checkHead(const RequestHead& head, size_t size) {
  require(head.size <= size, "a head lies in its data");
  for (const Span span : {head.method_text, head.target, head.path, head.query, head.authority})
    checkSpan(head, span);
  for (size_t i = 0; i < head.field_count; ++i) {
    const Field& field = head.fields[i];
    checkSpan(head, {field.name_off, field.name_len});
    checkSpan(head, {field.value_off, field.value_len});
    require(field.name_len > 0, "a name is not empty");
    require(field.next == 0 || (field.next > i && field.next < head.field_count), "links lead on");
    const std::string_view value = head.value(field);
    require(value.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos, "values are clean");
    require(value.empty() || (value.front() != ' ' && value.back() != ' '), "values are trimmed");
  }
  const FramingResult framing = requestFraming(head);
  require(framing.error_status == 0 || !framing.keep_alive, "a bad frame ends the connection");
}

template <class Parser>
Outcome parse(Parser& parser, const uint8_t* data, size_t size, size_t step, const HeadLimits& limits,
              RequestHead& head) {
  Outcome outcome{ParseState::kNeedMore, 0, ""};
  parser.reset();
  for (size_t end = step < size ? step : size;; end = end + step < size ? end + step : size) {
    // A block of exactly the bytes promised, elsewhere each time.
    const std::unique_ptr<char[]> bytes(new char[end + RequestParser::kSlack]);
    if (end != 0) std::memcpy(bytes.get(), data, end);
    std::memset(bytes.get() + end, end % 3 == 0 ? 'a' : (end % 3 == 1 ? '\n' : ':'), RequestParser::kSlack);
    outcome.state = parser.parse(bytes.get(), end, limits, head);
    if (outcome.state == ParseState::kDone) checkHead(head, end);
    head.text = reinterpret_cast<const char*>(data);
    if (outcome.state != ParseState::kNeedMore || end == size) break;
  }
  if (outcome.state == ParseState::kError) {
    outcome.status = parser.errorStatus();
    if constexpr (std::is_same_v<Parser, RequestParser>) outcome.reason = parser.errorReason();
  }
  return outcome;
}

void requireSameHead(const RequestHead& a, const RequestHead& b) {
  require(a.size == b.size && a.method == b.method && a.form == b.form && a.field_count == b.field_count,
          "same shape");
  require(a.present == b.present && a.repeated == b.repeated, "same fields");
  require(a.view(a.path) == b.view(b.path) && a.view(a.query) == b.view(b.query) &&
              a.view(a.authority) == b.view(b.authority) && a.view(a.target) == b.view(b.target) &&
              a.has_query == b.has_query && a.version_minor == b.version_minor,
          "same request line");
  for (size_t i = 0; i < a.field_count; ++i) {
    require(std::memcmp(&a.fields[i], &b.fields[i], sizeof(Field)) == 0, "same field lines");
  }
  for (size_t id = 1; id < kFieldIdCount; ++id) require(a.first[id] == b.first[id], "same index");
}

void require(const Outcome& a, const Outcome& b, const RequestHead& head_a, const RequestHead& head_b,
             bool reason) {
  require(a.state == b.state && a.status == b.status, "same outcome");
  require(!reason || a.reason == b.reason, "same reason");
  if (a.state == ParseState::kDone) requireSameHead(head_a, head_b);
}

// The machines may tell of a mistake in a short beginning as late as with the end of the head.
void requireToldLater(const uint8_t* data, size_t size, const HeadLimits& limits, const Outcome& mistake) {
  require(size <= kWaitingBytes, "mistakes are told in time");
  std::string ended(reinterpret_cast<const char*>(data), size);
  ended += "\r\n\r\n";
  RequestHead head;
  RequestParser parser(scanRequestGeneric);
  const auto* bytes = reinterpret_cast<const uint8_t*>(ended.data());
  const Outcome outcome = parse(parser, bytes, ended.size(), ended.size(), limits, head);
  require(outcome.state == ParseState::kError && outcome.status == mistake.status, "mistakes are told");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4096) return 0;
  HeadLimits limits;
  limits.max_head_bytes = 2048;
  limits.max_target_bytes = 200;
  limits.max_fields = 20;
  RequestHead expected_head;
  RequestParser reference(scanRequestGeneric);
  const Outcome expected = parse(reference, data, size, size, limits, expected_head);

  RequestHead head;
  HandwrittenParser by_hand;
  const Outcome second = parse(by_hand, data, size, size, limits, head);
  if (expected.state == ParseState::kNeedMore && second.state == ParseState::kError) {
    requireToldLater(data, size, limits, second);
  } else {
    require(expected, second, expected_head, head, false);
  }
  HeadMachine machines[kMaxHeadMachines];
  const size_t count = headMachines(machines);
  for (size_t i = 0; i < count; ++i) {
    RequestParser parser(machines[i].scan);
    for (const size_t step : {size, size_t{1}, size_t{7}, size_t{61}, size / 2 + 1}) {
      if (step == 0 || (step == 1 && size > 512)) continue;
      require(expected, parse(parser, data, size, step, limits, head), expected_head, head, true);
    }
  }
  return 0;
}
