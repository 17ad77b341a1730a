#include "tables/key_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tables/output.h"
#include "tables/read.h"
#include "tables/sql_context.h"

namespace roost::tables {
namespace {

std::string momentText(db::Type type, const db::Cell& cell) {
  const db::Moment moment = db::readMoment(type, cell);
  std::string date = fmt::format("{:04}-{:02}-{:02}", moment.year, moment.month, moment.day);
  if (type == db::Type::kDate) return date;
  std::string time = fmt::format("{:02}:{:02}:{:02}", moment.hour, moment.minute, moment.second);
  if (moment.microsecond != 0) time += fmt::format(".{:06}", moment.microsecond);
  if (type == db::Type::kTime) return moment.negative ? '-' + time : time;
  return date + ' ' + time;
}

bool isWhole(const db::Value& value) noexcept {
  return value.kind() == db::Value::Kind::kInt || value.kind() == db::Value::Kind::kUint;
}
bool isNegative(const db::Value& value) noexcept {
  return value.kind() == db::Value::Kind::kInt && value.asInt() < 0;
}
uint64_t magnitude(const db::Value& value) noexcept {
  return value.kind() == db::Value::Kind::kInt ? static_cast<uint64_t>(value.asInt()) : value.asUint();
}

std::string wholeText(const db::Value& value) {
  return value.kind() == db::Value::Kind::kInt ? std::to_string(value.asInt())
                                               : std::to_string(value.asUint());
}

const Condition* leafOf(const Query& query, std::string_view column) {
  const Condition* found = nullptr;
  for (const Condition& condition : query.where) {
    const bool is_eq = condition.kind == Condition::Kind::kLeaf && !condition.negated &&
                       condition.op == Operator::kEq && condition.quantifier == Quantifier::kNone &&
                       condition.path.steps.empty() && condition.values.size() == 1;
    if (is_eq && condition.path.column == column) found = &condition;
  }
  return found;
}

}  // namespace

void appendEscaped(std::string_view text, std::string& out) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:";
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
}

db::Value valueOf(const db::ResultColumn& column, const db::Cell& cell) {
  if (cell.isNull()) return db::Value::null();
  switch (column.type) {
    case db::Type::kInt:
      return db::Value::ofInt(db::readInt(cell));
    case db::Type::kUint:
      return db::Value::ofUint(db::readUint(cell));
    case db::Type::kFloat:
      return db::Value::ofDouble(static_cast<double>(db::readFloat(cell)));
    case db::Type::kDouble:
      return db::Value::ofDouble(db::readDouble(cell));
    case db::Type::kBit:
      return db::Value::ofUint(db::readBit(cell));
    case db::Type::kDate:
    case db::Type::kTime:
    case db::Type::kDateTime:
    case db::Type::kTimestamp:
      return db::Value::ofText(momentText(column.type, cell));
    case db::Type::kBytes:
    case db::Type::kGeometry:
      return db::Value::ofBytes(std::string(cell.view()));
    default:
      return db::Value::ofText(std::string(cell.view()));
  }
}

bool sameValue(const db::Value& a, const db::Value& b) noexcept {
  using Kind = db::Value::Kind;
  if (isWhole(a) && isWhole(b)) return isNegative(a) == isNegative(b) && magnitude(a) == magnitude(b);
  if (a.kind() != b.kind()) return false;
  if (a.isNull()) return true;
  if (a.kind() == Kind::kDouble) return !(a.asDouble() < b.asDouble()) && !(b.asDouble() < a.asDouble());
  return a.bytes() == b.bytes();
}

void appendKeys(const Table& table, const Key& key, const std::vector<KeyValues>& keys, size_t first,
                size_t count, db::Statement& out) {
  const size_t marks = padded(count);
  const auto column = [&](size_t at) -> const Column& { return table.columns[key.columns[at]]; };
  const bool is_list = key.columns.size() == 1;
  if (is_list) out.text << column(0).identifier << " IN (";
  for (size_t i = 0; i < marks; ++i) {
    const KeyValues& values = keys[first + std::min(i, count - 1)];
    out.values.insert(out.values.end(), values.begin(), values.end());
    if (is_list) {
      if (i != 0) out.text << ",";
      appendMark(column(0), out.text);
      continue;
    }
    out.text << (i == 0 ? db::SqlText("((") : db::SqlText(" OR ("));
    for (size_t k = 0; k < key.columns.size(); ++k) {
      if (k != 0) out.text << " AND ";
      out.text << column(k).identifier << "=";
      appendMark(column(k), out.text);
    }
    out.text << ")";
  }
  out.text << ")";
}

bool keyOf(const ExposedTable& table, const Key& key, const Query& query, std::string_view time_zone,
           KeyValues& out, bool& alone) {
  out.clear();
  for (const uint16_t position : key.columns) {
    const Column& column = table.table->columns[position];
    const Condition* const condition = leafOf(query, column.name);
    Problem ignored;
    db::Value value;
    if (condition == nullptr || !convertText(column, condition->values[0], time_zone, value, ignored))
      return false;
    out.push_back(std::move(value));
  }
  alone = query.where.size() == key.columns.size();
  return true;
}

namespace {

// A column as a query names it: in quotes where it could be taken for something else.
void appendName(const std::string& name, std::string& out) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == ' ' || static_cast<unsigned char>(c) >= 0x80;
  };
  const bool quotes = isQueryWord(name) || !std::all_of(name.begin(), name.end(), is_plain);
  if (!quotes) return appendEscaped(name, out);
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  text += '"';
  appendEscaped(text, out);
}

}  // namespace

std::string keyQuery(const Table& table, const Key& key, const KeyValues& values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    const db::Value& value = values[i];
    if (!isWhole(value) && value.kind() != db::Value::Kind::kText) return {};
    text += i == 0 ? '?' : '&';
    appendName(table.columns[key.columns[i]].name, text);
    text += "=eq.";
    appendEscaped(isWhole(value) ? wholeText(value) : value.bytes(), text);
  }
  return text;
}

std::string keyJson(const ExposedTable& table, const Key& key, const KeyValues& values) {
  std::string text = "{";
  for (size_t i = 0; i < values.size(); ++i) {
    const db::Value& value = values[i];
    const Column& column = table.table->columns[key.columns[i]];
    if (!isWhole(value) && value.kind() != db::Value::Kind::kText) return {};
    if (i != 0) text += ',';
    appendJsonString(column.name, text);
    text += ':';
    const bool as_number =
        isWhole(value) && (table.rest->bigint == BigNumber::kNumber || column.int_bytes < 8);
    if (as_number) {
      text += wholeText(value);
    } else {
      appendJsonString(isWhole(value) ? wholeText(value) : value.bytes(), text);
    }
  }
  return text + '}';
}

}  // namespace roost::tables
