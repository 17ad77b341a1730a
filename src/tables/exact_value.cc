#include "tables/exact_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roost::tables {
namespace {

bool isDeclared(const Column& column, std::string_view type) noexcept {
  return column.declared.compare(0, type.size(), type) == 0;
}

bool refuse(const Column& column, const char* code, std::string_view why, Problem& problem) {
  problem = {};
  problem.status = 400;
  problem.code = code;
  problem.detail = fmt::format("column \"{}\" is part of a key or of a condition, and {} {}", column.name,
                               column.declared, why);
  return false;
}

// "-12.50", "1e3" as digits and where the point is among them.
struct Decimal {
  bool negative = false;
  std::string digits;  // without zeros at either end; empty: 0
  int point = 0;       // so many of them are in front of it; may be less than none or more than all
};

Decimal readDecimal(std::string_view text) {
  Decimal read;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    read.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const std::string_view mantissa = text.substr(0, text.find_first_of("eE"));
  std::string_view exponent = text.substr(std::min(text.size(), mantissa.size() + 1));
  if (!exponent.empty() && exponent.front() == '+') exponent.remove_prefix(1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), read.point);
  read.point += static_cast<int>(std::min(mantissa.find('.'), mantissa.size()));
  for (const char c : mantissa)
    if (c != '.') read.digits += c;
  const size_t zeros = std::min(read.digits.find_first_not_of('0'), read.digits.size());
  read.digits.erase(0, zeros);
  read.point -= static_cast<int>(zeros);
  read.digits.erase(read.digits.find_last_not_of('0') + 1);
  return read;
}

std::string decimalText(const Decimal& number) {
  if (number.digits.empty()) return "0";
  const int count = static_cast<int>(number.digits.size());
  std::string text = number.negative ? "-" : "";
  if (number.point <= 0)
    return text + "0." + std::string(static_cast<size_t>(-number.point), '0') + number.digits;
  const size_t whole = static_cast<size_t>(number.point);
  if (number.point >= count) return text + number.digits + std::string(whole - number.digits.size(), '0');
  return text + number.digits.substr(0, whole) + '.' + number.digits.substr(whole);
}

bool exactDecimal(const Column& column, db::Value& value, Problem& problem) {
  const Decimal number = readDecimal(value.bytes());
  if (static_cast<int>(number.digits.size()) - number.point > int{column.scale})
    return refuse(column, "value_out_of_range", "would round the value", problem);
  value = db::Value::ofText(decimalText(number));
  return true;
}

// "... 12:00:00.25": a column of fewer digits would round the fraction, or cut it.
bool exactMoment(const Column& column, const db::Value& value, Problem& problem) {
  const std::string_view text = value.bytes();
  const size_t point = text.find('.');
  if (point == std::string_view::npos) return true;
  const size_t last = text.find_last_not_of('0');
  if (last <= point + column.scale) return true;
  return refuse(column, "value_out_of_range", "has no such fraction", problem);
}

bool exactText(const Column& column, db::Value& value, Problem& problem) {
  std::string text(value.bytes());
  if (isDeclared(column, "char(")) text.erase(text.find_last_not_of(' ') + 1);
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  if (column.max_chars != 0 &&
      static_cast<size_t>(std::count_if(text.begin(), text.end(), begins)) > column.max_chars)
    return refuse(column, "value_too_long", "cannot hold the value", problem);
  value = db::Value::ofText(std::move(text));
  return true;
}

bool sameWord(std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

// As the column writes it; the number of members: only the database's collation may know it.
size_t memberAt(const Column& column, std::string_view word) noexcept {
  const auto& members = column.members;
  auto found = std::find(members.begin(), members.end(), word);
  if (found == members.end() && !column.case_sensitive)
    found = std::find_if(members.begin(), members.end(),
                         [&](const std::string& member) { return sameWord(member, word); });
  return static_cast<size_t>(found - members.begin());
}

// A SET keeps each of its members once, in the column's order.
bool exactMembers(const Column& column, db::Value& value, Problem& problem) {
  const std::string_view text = value.bytes();
  const bool has_several = isDeclared(column, "set(") && text.find(',') != std::string_view::npos;
  std::vector<bool> given(column.members.size());
  for (size_t at = 0; at < text.size();) {
    const size_t end = has_several ? std::min(text.find(',', at), text.size()) : text.size();
    const std::string_view word = text.substr(at, end - at);
    const size_t member = memberAt(column, word);
    if (member < given.size())
      given[member] = true;
    else if (has_several)
      return refuse(column, "bad_value", "writes its members otherwise", problem);
    else
      return true;
    at = end + 1;
  }
  std::string kept;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) continue;
    if (!kept.empty()) kept += ',';
    kept += column.members[i];
  }
  value = db::Value::ofText(std::move(kept));
  return true;
}

}  // namespace

bool makeExact(const Column& column, db::Value& value, Problem& problem) {
  const bool is_text = value.kind() == db::Value::Kind::kText;
  switch (column.type) {
    case db::Type::kDecimal:
      return !is_text || exactDecimal(column, value, problem);
    case db::Type::kTime:
    case db::Type::kDateTime:
    case db::Type::kTimestamp:
      return !is_text || exactMoment(column, value, problem);
    case db::Type::kText:
      if (!is_text) return true;
      return column.members.empty() ? exactText(column, value, problem)
                                    : exactMembers(column, value, problem);
    case db::Type::kBytes: {
      const bool is_short = value.kind() == db::Value::Kind::kBytes && isDeclared(column, "binary(") &&
                            value.bytes().size() < column.max_chars;
      if (is_short) {
        std::string bytes(value.bytes());
        bytes.resize(column.max_chars);
        value = db::Value::ofBytes(std::move(bytes));
      }
      return true;
    }
    default:
      return true;
  }
}

bool isInUniqueKey(const Table& table, uint16_t column) noexcept {
  return std::any_of(table.keys.begin(), table.keys.end(), [column](const Key& key) {
    return key.unique && std::find(key.columns.begin(), key.columns.end(), column) != key.columns.end();
  });
}

}  // namespace roost::tables
