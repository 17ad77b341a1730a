// A client's text becomes a parameter of a column's type.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "base/base64.h"
#include "tables/moment_text.h"
#include "tables/read.h"
#include "tables/scanner.h"

namespace roost::tables {
namespace {

constexpr size_t kMostDecimalDigits = 65;

bool refuse(const Column& column, std::string_view text, std::string_view code, std::string_view what,
            Problem& problem) {
  problem = Problem{};
  problem.code = code;
  problem.detail = column.name + ": " + inQuotes(text) + " " + std::string(what);
  return false;
}

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

bool sameWord(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

// The words that PostgreSQL reads as a boolean.
bool readBool(std::string_view text, bool& out) noexcept {
  for (const std::string_view word : {"true", "t", "yes", "y", "on", "1"}) {
    if (sameWord(text, word)) return out = true;
  }
  for (const std::string_view word : {"false", "f", "no", "n", "off", "0"}) {
    if (sameWord(text, word)) {
      out = false;
      return true;
    }
  }
  return false;
}

std::string_view withoutPlus(std::string_view text) noexcept {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

// "12", "-7": whether it is an integer at all.
bool isInteger(std::string_view text) noexcept {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool refuseInteger(const Column& column, std::string_view text, Problem& problem) {
  if (!isInteger(withoutPlus(text)))
    return refuse(column, text, "bad_value", column.is_bool ? "is no boolean" : "is no integer", problem);
  return refuse(column, text, "value_out_of_range", "is out of the range of " + column.declared, problem);
}

bool convertInt(const Column& column, std::string_view text, db::Value& out, Problem& problem) {
  bool truth = false;
  if (column.is_bool && readBool(text, truth)) {
    out = db::Value::ofInt(truth ? 1 : 0);
    return true;
  }
  const std::string_view digits = withoutPlus(text);
  int64_t number = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const unsigned bits = column.int_bytes == 0 ? 64 : 8U * column.int_bytes;
  const int64_t most = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
  if (error != std::errc{} || stop != digits.data() + digits.size() || number > most || number < -most - 1)
    return refuseInteger(column, text, problem);
  out = db::Value::ofInt(number);
  return true;
}

bool convertUint(const Column& column, std::string_view text, unsigned bits, db::Value& out,
                 Problem& problem) {
  bool truth = false;
  if (column.is_bool && readBool(text, truth)) {
    out = db::Value::ofUint(truth ? 1 : 0);
    return true;
  }
  const std::string_view digits = withoutPlus(text);
  uint64_t number = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || stop != digits.data() + digits.size() ||
      (bits < 64 && number >= uint64_t{1} << bits))
    return refuseInteger(column, text, problem);
  if (column.is_year && number != 0 && (number < 1901 || number > 2155))
    return refuseInteger(column, text, problem);
  out = db::Value::ofUint(number);
  return true;
}

// A FLOAT is compared as the number that its 32 bits mean, not as the one that was written.
bool convertFloat(const Column& column, std::string_view text, bool narrow, db::Value& out,
                  Problem& problem) {
  const std::string_view digits = withoutPlus(text);
  double number = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc::result_out_of_range)
    return refuse(column, text, "value_out_of_range", "is out of the range of " + column.declared, problem);
  if (error != std::errc{} || stop != digits.data() + digits.size() || !std::isfinite(number))
    return refuse(column, text, "bad_value", "is no number", problem);
  if (narrow) {
    float single = 0;
    const auto narrowed = std::from_chars(digits.data(), digits.data() + digits.size(), single);
    if (narrowed.ec == std::errc::result_out_of_range && std::fabs(number) > 1)
      return refuse(column, text, "value_out_of_range", "is out of the range of " + column.declared, problem);
    number = static_cast<double>(single);
  }
  out = db::Value::ofDouble(number);
  return true;
}

// "-12.50", "1e3".
bool isDecimal(std::string_view text, size_t& digits) noexcept {
  const auto run = [&text] {
    size_t count = 0;
    while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
    text.remove_prefix(count);
    return count;
  };
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  digits = run();
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    digits += run();
  }
  if (digits == 0) return false;
  if (text.empty()) return true;
  if (lower(text.front()) != 'e') return false;
  text.remove_prefix(1);
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  const size_t exponent = run();
  return text.empty() && exponent >= 1 && exponent <= 2;
}

bool convertDecimal(const Column& column, std::string_view text, db::Value& out, Problem& problem) {
  size_t digits = 0;
  if (!isDecimal(text, digits)) return refuse(column, text, "bad_value", "is no number", problem);
  if (digits > kMostDecimalDigits)
    return refuse(column, text, "value_out_of_range", "has more digits than a DECIMAL", problem);
  out = db::Value::ofText(std::string(text));
  return true;
}

bool convertBytes(const Column& column, std::string_view text, db::Value& out, Problem& problem) {
  std::string bytes(text.size() / 4 * 3, '\0');
  const size_t size = decodeBase64(text, bytes.data());
  if (size == SIZE_MAX) return refuse(column, text, "bad_value", "is no base64", problem);
  bytes.resize(size);
  out = db::Value::ofBytes(std::move(bytes));
  return true;
}

// Whether the database could take `word` for a member: beyond ASCII it alone knows its collations. A number
// that is none it would take for a member's position.
bool mayBeMember(const Column& column, std::string_view word) noexcept {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool is_number = std::all_of(word.begin(), word.end(), is_digit);
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  for (const std::string& member : column.members) {
    if (member == word || (!column.case_sensitive && sameWord(member, word))) return true;
    if (!is_number && !column.case_sensitive && !std::all_of(member.begin(), member.end(), is_ascii))
      return true;
  }
  return false;
}

bool convertMembers(const Column& column, std::string_view text, db::Value& out, Problem& problem) {
  const bool is_set = column.declared.compare(0, 4, "set(") == 0;
  std::string_view rest = text;
  while (!is_set || !rest.empty()) {
    const std::string_view word = is_set ? rest.substr(0, rest.find(',')) : rest;
    if (!mayBeMember(column, word))
      return refuse(column, word, "bad_value", "is none of the values of " + column.declared, problem);
    if (!is_set || word.size() == rest.size()) break;
    rest.remove_prefix(word.size() + 1);
  }
  out = db::Value::ofText(std::string(text));
  return true;
}

bool convertMoment(const Column& column, std::string_view text, std::string_view time_zone, db::Value& out,
                   Problem& problem) {
  std::string read;
  if (column.type == db::Type::kDate) {
    if (!readDate(text, read)) return refuse(column, text, "bad_value", "is no date (2026-11-20)", problem);
  } else if (column.type == db::Type::kTime) {
    if (!readTime(text, read)) return refuse(column, text, "bad_value", "is no time (12:30:00)", problem);
  } else if (!readDateTime(text, zoneSeconds(time_zone), read)) {
    return refuse(column, text, "bad_value", "is no moment of RFC 3339 (2026-11-20T22:13:05+00:00)", problem);
  }
  out = db::Value::ofText(std::move(read));
  return true;
}

}  // namespace

bool convertText(const Column& column, std::string_view text, std::string_view time_zone, db::Value& out,
                 Problem& problem) {
  switch (column.type) {
    case db::Type::kInt:
      return convertInt(column, text, out, problem);
    case db::Type::kUint:
      return convertUint(column, text, column.int_bytes == 0 ? 64 : 8U * column.int_bytes, out, problem);
    case db::Type::kBit: {
      bool truth = false;
      if (column.bits == 1 && readBool(text, truth)) {
        out = db::Value::ofUint(truth ? 1 : 0);
        return true;
      }
      return convertUint(column, text, column.bits == 0 ? 64 : column.bits, out, problem);
    }
    case db::Type::kFloat:
    case db::Type::kDouble:
      return convertFloat(column, text, column.type == db::Type::kFloat, out, problem);
    case db::Type::kDecimal:
      return convertDecimal(column, text, out, problem);
    case db::Type::kBytes:
      return convertBytes(column, text, out, problem);
    case db::Type::kDate:
    case db::Type::kTime:
    case db::Type::kDateTime:
    case db::Type::kTimestamp:
      return convertMoment(column, text, time_zone, out, problem);
    case db::Type::kGeometry:
      return refuse(column, text, "unsupported", "cannot be a geometry", problem);
    default:
      if (!column.members.empty()) return convertMembers(column, text, out, problem);
      out = db::Value::ofText(std::string(text));
      return true;
  }
}

}  // namespace roost::tables
