// links: roost_http
// Any fields: a line of input "<letter><value>" becomes a field line, the first byte chooses method and
// validators. Checks what must hold whatever the values are, and the whole outcome against a plain
// implementation.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/conditional.h"
#include "http/date.h"
#include "http/etag.h"
#include "support/fuzz_require.h"
#include "unit/http/head_builder.h"

namespace {

using roost::test::require;
using namespace roost::http;  // NOLINT

struct Line {
  FieldId id;
  std::string value;
};

// Whether the quote at `open` begins a tag that is closed before a character no tag may hold.
bool quoteCloses(const std::string& line, size_t open) {
  for (size_t i = open + 1; i < line.size(); ++i) {
    if (line[i] == '"') return true;
    if (static_cast<unsigned char>(line[i]) <= ' ' || line[i] == 0x7f) return false;
  }
  return false;
}

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The elements of one line: only a quote that begins a tag hides commas.
std::vector<std::string> elements(const std::string& line) {
  std::vector<std::string> found(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ',' && !quoted) {
      found.emplace_back();
      continue;
    }
    if (line[i] == '"') {
      const std::string before = trimmed(found.back());
      const bool begins = before.empty() || (before == "W/" && line[i - 1] == '/');
      quoted = !quoted && begins && quoteCloses(line, i);
    }
    found.back() += line[i];
  }
  return found;
}

bool anyTagIs(const std::vector<std::string>& lines, const std::string& current, bool strong) {
  if (lines.size() == 1 && lines[0] == "*") return true;
  const auto opaque = [](const std::string& tag) { return tag[0] == 'W' ? tag.substr(2) : tag; };
  for (const std::string& line : lines) {
    for (const std::string& element : elements(line)) {
      const std::string tag = trimmed(element);
      if (!parseEntityTag(tag)) continue;
      if (strong ? tag[0] != 'W' && tag == current : opaque(tag) == opaque(current)) return true;
    }
  }
  return false;
}

Precondition naive(Method method, const std::vector<Line>& lines, const Validators& v) {
  const auto values = [&](FieldId id) {
    std::vector<std::string> found;
    for (const Line& line : lines) {
      if (line.id == id) found.push_back(line.value);
    }
    return found;
  };
  const auto date = [&](FieldId id) -> std::optional<int64_t> {
    const auto found = values(id);
    return found.size() == 1 ? parseHttpDate(found[0], v.now_s) : std::nullopt;
  };
  if (method == Method::kOptions) return Precondition::kProceed;
  const bool is_read = method == Method::kGet || method == Method::kHead;
  const std::string etag(v.etag);
  if (!values(FieldId::kIfMatch).empty()) {
    if (!anyTagIs(values(FieldId::kIfMatch), etag, true)) return Precondition::kPreconditionFailed;
  } else if (const auto since = date(FieldId::kIfUnmodifiedSince); since && v.last_modified_s > *since) {
    return Precondition::kPreconditionFailed;
  }
  if (!values(FieldId::kIfNoneMatch).empty()) {
    if (!anyTagIs(values(FieldId::kIfNoneMatch), etag, false)) return Precondition::kProceed;
    return is_read ? Precondition::kNotModified : Precondition::kPreconditionFailed;
  }
  if (const auto since = date(FieldId::kIfModifiedSince); is_read && since && v.last_modified_s <= *since) {
    return Precondition::kNotModified;
  }
  return Precondition::kProceed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr Method kMethods[] = {Method::kGet, Method::kHead, Method::kPut, Method::kOptions};
  const Method method = kMethods[data[0] & 3];
  Validators validators;
  validators.has_last_modified = true;
  validators.last_modified_s = 784111777;
  validators.now_s = 1763634306;
  validators.etag = (data[0] & 4) != 0 ? "W/\"a\"" : "\"a\"";

  std::vector<Line> lines;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  while (!rest.empty() && lines.size() < RequestHead::kMaxFields) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty()) continue;
    constexpr FieldId kIds[] = {FieldId::kIfMatch, FieldId::kIfNoneMatch, FieldId::kIfModifiedSince,
                                FieldId::kIfUnmodifiedSince, FieldId::kIfRange};
    const FieldId id = kIds[static_cast<uint8_t>(line[0]) % 5];
    line.remove_prefix(1);
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
    lines.push_back({id, std::string(line)});
  }
  test::HeadBuilder builder(method);
  for (const Line& line : lines) builder.add(line.id, line.value);

  require(evaluate(builder.head(), validators) == naive(method, lines, validators));
  if (ifRangeMatches(builder.head(), validators) && builder.head().has(FieldId::kIfRange)) {
    const std::string_view value = builder.head().get(FieldId::kIfRange);
    require(value == validators.etag || parseHttpDate(value, validators.now_s) == validators.last_modified_s);
    require((data[0] & 4) == 0 || value[0] != 'W');
  }
  for (const Line& line : lines) {
    if (const auto date = parseHttpDate(line.value, validators.now_s)) {
      char text[kHttpDateSize];
      formatHttpDate(*date, text);
      require(parseHttpDate({text, sizeof text}, validators.now_s) == date);
    }
  }
  return 0;
}
