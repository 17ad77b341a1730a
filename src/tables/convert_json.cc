#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

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

// "12.0", "1e3": JSON has one kind of number, and these are whole ones.
std::string wholeText(std::string text) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (text.find_first_of(".eE") == std::string::npos) return text;
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  const bool whole =
      read.ec == std::errc{} && read.ptr == end && std::abs(number) <= kExact && std::trunc(number) == number;
  return whole ? std::to_string(static_cast<int64_t>(number)) : text;
}

// "5e-324": less than the last digit of any DECIMAL, which takes no such exponent.
bool isNothing(std::string_view text) noexcept {
  constexpr double kLeast = 1e-40;
  double number = 1;
  const size_t exponent = text.find_first_of("eE");
  if (exponent == std::string_view::npos) return false;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec == std::errc::result_out_of_range) return text.substr(exponent + 1, 1) == "-";
  return read.ec == std::errc{} && std::abs(number) < kLeast;
}

// The digits go as they were written, unless the column's type is one of numbers that the program can read.
bool number(const Column& column, std::string text, std::string_view time_zone, db::Value& out,
            Problem& problem) {
  switch (column.type) {
    case db::Type::kInt:
    case db::Type::kUint:
      text = wholeText(std::move(text));
      if (column.is_bool && text != "0" && text != "1") return refuse(column, "takes true or false", problem);
      return convertText(column, text, time_zone, out, problem);
    case db::Type::kBit:
      return convertText(column, wholeText(std::move(text)), time_zone, out, problem);
    case db::Type::kFloat:
    case db::Type::kDouble:
      return convertText(column, text, time_zone, out, problem);
    case db::Type::kDecimal:
      return convertText(column, isNothing(text) ? "0" : std::string_view(text), time_zone, out, problem);
    case db::Type::kText:
      // The server takes a number for a member's place.
      if (!column.members.empty()) return refuse(column, "takes one of its members, by name", problem);
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
      return number(column, std::move(value.text), time_zone, out, problem);
    case Kind::kString:
      return convertText(column, value.text, time_zone, out, problem);
    case Kind::kDocument:
      break;
  }
  return refuse(column, "takes no array or object", problem);
}

}  // namespace roost::tables
