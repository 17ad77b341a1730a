#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/base64.h"
#include "tables/body.h"
#include "tables/output.h"
#include "tables/read.h"

namespace roost::tables {
namespace {

using Kind = JsonValue::Kind;

bool refuse(const Column& column, std::string_view why, Problem& problem, const char* code = "bad_value") {
  problem = {};
  problem.status = 400;
  problem.code = code;
  problem.detail = fmt::format("column \"{}\" {}", column.name, why);
  return false;
}

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool isMember(const Column& column, std::string_view text) {
  return std::any_of(column.members.begin(), column.members.end(), [text](const std::string& member) {
    return std::equal(member.begin(), member.end(), text.begin(), text.end(),
                      [](char a, char b) { return lower(a) == lower(b); });
  });
}

// The server takes digits that are no member for a member's place.
bool isOfMembers(const Column& column, std::string_view text) {
  if (column.declared.compare(0, 3, "set") != 0) return isMember(column, text);
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    if (!isMember(column, one)) return false;
    text.remove_prefix(std::min(text.size(), one.size() + 1));
  }
  return true;
}

bool integer(const Column& column, std::string_view text, db::Value& out, Problem& problem) {
  const char* const end = text.data() + text.size();
  int64_t whole = 0;
  uint64_t large = 0;
  const auto read = std::from_chars(text.data(), end, whole);
  const bool is_large =
      read.ec == std::errc::result_out_of_range && std::from_chars(text.data(), end, large).ec == std::errc{};
  if (read.ptr != end) return refuse(column, "takes whole numbers", problem);
  if (column.is_bool && (is_large || whole < 0 || whole > 1))
    return refuse(column, "takes true or false", problem);
  if (read.ec != std::errc{} && !is_large)
    return refuse(column, "does not hold so large a number", problem, "value_out_of_range");
  out = is_large ? db::Value::ofUint(large) : db::Value::ofInt(whole);
  return true;
}

bool real(const Column& column, std::string_view text, db::Value& out, Problem& problem) {
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size())
    return refuse(column, "does not hold such a number", problem, "value_out_of_range");
  out = db::Value::ofDouble(number);
  return true;
}

bool number(const Column& column, std::string text, db::Value& out, Problem& problem) {
  switch (column.type) {
    case db::Type::kInt:
    case db::Type::kUint:
    case db::Type::kBit:
      return integer(column, text, out, problem);
    case db::Type::kFloat:
    case db::Type::kDouble:
      return real(column, text, out, problem);
    case db::Type::kText:
      if (!column.members.empty()) return refuse(column, "takes one of its members, by name", problem);
      [[fallthrough]];
    case db::Type::kDecimal:
      out = db::Value::ofText(std::move(text));
      return true;
    default:
      return refuse(column, "takes no number", problem);
  }
}

bool truth(const Column& column, bool value, db::Value& out, Problem& problem) {
  if (column.is_bool || (column.type == db::Type::kBit && column.bits == 1)) {
    out = db::Value::ofInt(value ? 1 : 0);
    return true;
  }
  return refuse(column, "is neither true nor false", problem);
}

bool bytes(const Column& column, std::string_view text, db::Value& out, Problem& problem) {
  std::string decoded(text.size() / 4 * 3, '\0');
  const size_t size = decodeBase64(text, decoded.data());
  if (size == SIZE_MAX) return refuse(column, "takes base64", problem);
  decoded.resize(size);
  out = db::Value::ofBytes(std::move(decoded));
  return true;
}

bool string(const Column& column, std::string text, std::string_view time_zone, db::Value& out,
            Problem& problem) {
  switch (column.type) {
    case db::Type::kText:
      if (!column.members.empty() && !isOfMembers(column, text))
        return refuse(column, "takes only its members", problem);
      out = db::Value::ofText(std::move(text));
      return true;
    case db::Type::kBytes:
      return bytes(column, text, out, problem);
    case db::Type::kGeometry:
      return refuse(column, "cannot be written", problem, "not_writable");
    default:
      return convertText(column, text, time_zone, out, problem);
  }
}

bool document(JsonValue value, db::Value& out) {
  switch (value.kind) {
    case Kind::kNull:
      out = db::Value::null();
      return true;
    case Kind::kTrue:
    case Kind::kFalse:
      out = db::Value::ofText(value.kind == Kind::kTrue ? "true" : "false");
      return true;
    case Kind::kString: {
      std::string quoted;
      appendJsonString(value.text, quoted);
      out = db::Value::ofText(std::move(quoted));
      return true;
    }
    case Kind::kNumber:
    case Kind::kDocument:
      break;
  }
  out = db::Value::ofText(std::move(value.text));
  return true;
}

}  // namespace

bool convertJson(const Column& column, JsonValue value, std::string_view time_zone, db::Value& out,
                 Problem& problem) {
  if (column.is_json) return document(std::move(value), out);
  switch (value.kind) {
    case Kind::kNull:
      out = db::Value::null();
      return true;
    case Kind::kTrue:
    case Kind::kFalse:
      return truth(column, value.kind == Kind::kTrue, out, problem);
    case Kind::kNumber:
      return number(column, std::move(value.text), out, problem);
    case Kind::kString:
      return string(column, std::move(value.text), time_zone, out, problem);
    case Kind::kDocument:
      break;
  }
  return refuse(column, "takes no array or object", problem);
}

}  // namespace roost::tables
