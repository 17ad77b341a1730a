#include "tables/column_facts.h"

#include <algorithm>
#include <array>

namespace roost::tables {
namespace {

bool contains(std::string_view text, std::string_view part) noexcept {
  return text.find(part) != std::string_view::npos;
}

bool startsWith(std::string_view text, std::string_view part) noexcept {
  return text.substr(0, part.size()) == part;
}

struct TypeName {
  std::string_view name;
  db::Type type;
  uint8_t int_bytes = 0;
};

constexpr std::array<TypeName, 46> kTypeNames{{
    {"tinyint", db::Type::kInt, 1},
    {"smallint", db::Type::kInt, 2},
    {"mediumint", db::Type::kInt, 3},
    {"int", db::Type::kInt, 4},
    {"integer", db::Type::kInt, 4},
    {"bigint", db::Type::kInt, 8},
    {"year", db::Type::kUint, 2},
    {"float", db::Type::kFloat},
    {"double", db::Type::kDouble},
    {"real", db::Type::kDouble},
    {"decimal", db::Type::kDecimal},
    {"numeric", db::Type::kDecimal},
    {"bit", db::Type::kBit},
    {"date", db::Type::kDate},
    {"time", db::Type::kTime},
    {"datetime", db::Type::kDateTime},
    {"timestamp", db::Type::kTimestamp},
    {"json", db::Type::kJson},
    {"binary", db::Type::kBytes},
    {"varbinary", db::Type::kBytes},
    {"tinyblob", db::Type::kBytes},
    {"blob", db::Type::kBytes},
    {"mediumblob", db::Type::kBytes},
    {"longblob", db::Type::kBytes},
    {"vector", db::Type::kBytes},
    {"geometry", db::Type::kGeometry},
    {"point", db::Type::kGeometry},
    {"linestring", db::Type::kGeometry},
    {"polygon", db::Type::kGeometry},
    {"multipoint", db::Type::kGeometry},
    {"multilinestring", db::Type::kGeometry},
    {"multipolygon", db::Type::kGeometry},
    {"geometrycollection", db::Type::kGeometry},
    {"geomcollection", db::Type::kGeometry},
    {"char", db::Type::kText},
    {"varchar", db::Type::kText},
    {"tinytext", db::Type::kText},
    {"text", db::Type::kText},
    {"mediumtext", db::Type::kText},
    {"longtext", db::Type::kText},
    {"enum", db::Type::kText},
    {"set", db::Type::kText},
    {"uuid", db::Type::kText},
    {"inet4", db::Type::kText},
    {"inet6", db::Type::kText},
    {"xmltype", db::Type::kText},
}};

// What is not known is text, as the server itself would show it.
TypeName typeOf(std::string_view data_type) noexcept {
  const auto* const found = std::find_if(kTypeNames.begin(), kTypeNames.end(),
                                         [data_type](const TypeName& t) { return t.name == data_type; });
  return found == kTypeNames.end() ? TypeName{data_type, db::Type::kText} : *found;
}

template <class Number>
Number narrowed(const std::optional<uint64_t>& number) noexcept {
  constexpr uint64_t kMost = static_cast<Number>(~Number{0});
  return static_cast<Number>(std::min(number.value_or(0), kMost));
}

void setType(const ColumnFacts& facts, Column& column) {
  const TypeName type = typeOf(facts.data_type);
  column.type = type.type;
  column.int_bytes = type.int_bytes;
  column.is_year = facts.data_type == "year";
  column.is_json = column.type == db::Type::kJson;
  switch (column.type) {
    case db::Type::kInt:
      if (contains(facts.column_type, "unsigned")) column.type = db::Type::kUint;
      column.is_bool = facts.column_type == "tinyint(1)";
      break;
    case db::Type::kDecimal:
      column.precision = narrowed<uint8_t>(facts.numeric_precision);
      column.scale = narrowed<uint8_t>(facts.numeric_scale);
      break;
    case db::Type::kBit:
      column.bits = narrowed<uint8_t>(facts.numeric_precision);
      break;
    case db::Type::kTime:
    case db::Type::kDateTime:
    case db::Type::kTimestamp:
      column.scale = narrowed<uint8_t>(facts.datetime_precision);
      break;
    case db::Type::kText:
    case db::Type::kBytes:
      column.max_chars = narrowed<uint32_t>(facts.max_length);
      column.members = membersOf(facts.column_type);
      break;
    default:
      break;
  }
}

// A character of a member behind a backslash.
char unescaped(char c) noexcept {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case '0':
      return '\0';
    case 'Z':
      return '\x1a';
    case 'b':
      return '\b';
    default:
      return c;
  }
}

// Takes a word in `quote`s off the front, where doubled ones stand for one.
std::optional<std::string> takeQuoted(std::string_view& text, char quote, bool backslashes) {
  if (text.empty() || text.front() != quote) return std::nullopt;
  std::string word;
  for (size_t at = 1; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\\' && backslashes && at + 1 < text.size()) {
      word += unescaped(text[++at]);
    } else if (c != quote) {
      word += c;
    } else if (at + 1 < text.size() && text[at + 1] == quote) {
      word += text[++at];
    } else {
      text.remove_prefix(at + 1);
      return word;
    }
  }
  return std::nullopt;
}

// Splits at `word` where it stands outside of parentheses and quotes.
std::vector<std::string_view> splitOutside(std::string_view text, std::string_view word) {
  std::vector<std::string_view> parts;
  int depth = 0;
  char quote = 0;
  size_t first = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == '\\' && quote == '\'') ++at;
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '`') {
      quote = c;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')') {
      --depth;
    } else if (depth == 0 && startsWith(text.substr(at), word)) {
      parts.push_back(text.substr(first, at - first));
      first = at + word.size();
      at = first - 1;
    }
  }
  parts.push_back(text.substr(first));
  return parts;
}

}  // namespace

Column columnOf(const ColumnFacts& facts) {
  Column column;
  column.name = facts.name;
  column.identifier = db::Identifier::ofSchema(facts.name);
  column.declared = facts.column_type;
  column.comment = facts.comment;
  setType(facts, column);
  column.nullable = facts.nullable;
  column.auto_increment = contains(facts.extra, "auto_increment");
  // MySQL's "DEFAULT_GENERATED" is a default that is an expression.
  column.generated = !facts.generation.empty() || contains(facts.extra, "VIRTUAL GENERATED") ||
                     contains(facts.extra, "STORED GENERATED");
  column.has_default = facts.default_text.has_value() || facts.nullable || column.auto_increment ||
                       column.generated || contains(facts.extra, "DEFAULT_GENERATED");
  // MariaDB says NULL by its name, MySQL by NULL.
  column.null_by_default = facts.nullable && facts.default_text.value_or("NULL") == "NULL" &&
                           !contains(facts.extra, "DEFAULT_GENERATED") && !column.generated;
  column.invisible = contains(facts.extra, "INVISIBLE");
  const std::string_view collation = facts.collation;
  column.case_sensitive = contains(collation, "_bin") || contains(collation, "_cs") || collation == "binary";
  return column;
}

std::vector<std::string> membersOf(std::string_view column_type) {
  std::vector<std::string> members;
  if (!startsWith(column_type, "enum(") && !startsWith(column_type, "set(")) return members;
  column_type.remove_prefix(column_type.find('(') + 1);
  while (std::optional<std::string> member = takeQuoted(column_type, '\'', true)) {
    members.push_back(std::move(*member));
    if (column_type.empty() || column_type.front() != ',') break;
    column_type.remove_prefix(1);
  }
  return members;
}

std::vector<std::string> jsonColumnsOf(std::string_view check_clause) {
  constexpr std::string_view kCall = "json_valid(";
  std::vector<std::string> columns;
  if (splitOutside(check_clause, " or ").size() > 1 || splitOutside(check_clause, " xor ").size() > 1)
    return columns;
  for (std::string_view part : splitOutside(check_clause, " and ")) {
    if (!startsWith(part, kCall)) continue;
    part.remove_prefix(kCall.size());
    std::optional<std::string> column = takeQuoted(part, '`', false);
    if (column.has_value() && part == ")") columns.push_back(std::move(*column));
  }
  return columns;
}

}  // namespace roost::tables
