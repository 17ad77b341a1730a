#include "tables/sql_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace roost::tables {
namespace {

// As a JSON string, with the escapes that documents have: MariaDB compares keys as they are written.
void appendQuotedKey(std::string_view key, std::string& out) {
  static constexpr std::string_view kControls = "\b\f\n\r\t";
  out += ".\"";
  for (const char c : key) {
    const size_t control = kControls.find(c);
    if (control != std::string_view::npos) {
      out += '\\';
      out += std::string_view("bfnrt")[control];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", c);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  out += '"';
}

bool sameMember(const Column& column, std::string_view a, std::string_view b) noexcept {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  if (column.case_sensitive) return a == b;
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

bool SqlContext::refuse(std::string_view code, std::string detail, std::string hint) const {
  problem = Problem{};
  problem.code = code;
  problem.detail = std::move(detail);
  problem.hint = std::move(hint);
  return false;
}

bool SqlContext::within(std::string_view place) const {
  const std::string before = std::string(place) + ": ";
  if (problem.detail.compare(0, before.size(), before) != 0) problem.detail.insert(0, before);
  return false;
}

const Column* SqlContext::find(std::string_view column) const {
  const Column* const found = fixed ? table.table->find(column) : table.find(column);
  if (found == nullptr)
    refuse("unknown_column", fmt::format("{} has no column {}", table.name, inQuotes(column)));
  return found;
}

void SqlContext::append(const Column& column, db::SqlText& out) const {
  if (scope == Scope::kOuter) out << "t.";
  if (scope == Scope::kInner) out << "e.";
  out << column.identifier;
}

bool isJson(const Column& column) noexcept {
  return column.is_json || column.type == db::Type::kJson;
}

bool isText(const Column& column) noexcept {
  return column.type == db::Type::kText && !column.is_json;
}

bool isBoolean(const Column& column) noexcept {
  return column.is_bool || (column.type == db::Type::kBit && column.bits == 1);
}

bool isEnum(const Column& column) noexcept {
  return !column.members.empty() && !isSet(column);
}

bool isSet(const Column& column) noexcept {
  return column.declared.compare(0, 4, "set(") == 0;
}

bool convertMember(const SqlContext& context, const Column& column, std::string_view text, db::Value& out) {
  for (size_t i = 0; i < column.members.size(); ++i) {
    if (!sameMember(column, column.members[i], text)) continue;
    out = db::Value::ofUint(i + 1);
    return true;
  }
  return context.refuse("bad_value", fmt::format("{}: {} is none of the values of {}", column.name,
                                                 inQuotes(text), column.declared));
}

void appendMark(const Column& column, db::SqlText& out) {
  const bool decimal = column.type == db::Type::kDecimal && column.precision - column.scale <= 35;
  if (decimal) {
    out << "CAST(? AS DECIMAL(65,30))";
  } else {
    out << "?";
  }
}

bool resolve(const SqlContext& context, const Path& path, Operand& out) {
  out.column = context.find(path.column);
  out.path = &path;
  if (out.column == nullptr) return false;
  if (path.steps.empty() || isJson(*out.column)) return true;
  return context.refuse("bad_path", pathText(path) + ": " + path.column + " is no JSON");
}

std::string jsonPathText(const Path& path) {
  std::string out = "$";
  for (const Path::Step& step : path.steps) {
    if (!step.is_index) {
      appendQuotedKey(step.key, out);
    } else if (step.key.front() != '-') {
      out += '[' + step.key + ']';
    } else {  // counted from the end: -1 is the last
      const int back = std::stoi(step.key.substr(1));
      out += back <= 1 ? std::string(back == 1 ? "[last]" : "[0]") : fmt::format("[last-{}]", back - 1);
    }
  }
  return out;
}

std::string pathText(const Path& path) {
  std::string out = path.column;
  for (size_t i = 0; i < path.steps.size(); ++i) {
    out += path.as_text && i + 1 == path.steps.size() ? "->>" : "->";
    out += path.steps[i].key;
  }
  return out;
}

// MariaDB reads a constant path once, and for all rows counts from the end of the first row's array.
void appendExtract(const SqlContext& context, const Operand& operand, db::Statement& out) {
  const std::vector<Path::Step>& steps = operand.path->steps;
  const bool from_end =
      context.isMariaDb() && std::any_of(steps.begin(), steps.end(), [](const Path::Step& step) {
        return step.is_index && step.key.front() == '-';
      });
  out.text << "JSON_EXTRACT(";
  context.append(*operand.column, out.text);
  if (from_end) {
    out.text << ",CONCAT(?,LEFT(";
    context.append(*operand.column, out.text);
    out.text << ",0)))";
  } else {
    out.text << ",?)";
  }
  out.values.push_back(db::Value::ofText(jsonPathText(*operand.path)));
}

void appendOperand(const SqlContext& context, const Operand& operand, db::Statement& out) {
  if (operand.isColumn()) return context.append(*operand.column, out.text);
  if (operand.isJsonValue()) return appendExtract(context, operand, out);
  out.text << "JSON_UNQUOTE(NULLIF(";
  appendExtract(context, operand, out);
  if (context.isMariaDb()) {
    out.text << ",'null'))";  // JSON is text there
  } else {
    out.text << ",CAST('null' AS JSON)))";
  }
}

size_t padded(size_t count) noexcept {
  size_t power = 1;
  while (power < count) power *= 2;
  return power;
}

void appendNumber(size_t number, db::SqlText& out) {
  static constexpr char kDigits[10][2] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  if (number >= 10) appendNumber(number / 10, out);
  out << kDigits[number % 10];
}

}  // namespace roost::tables
