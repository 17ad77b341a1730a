#include "tables/openapi_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>

namespace roost::tables {
namespace {

using Json = nlohmann::ordered_json;
using db::Type;

constexpr uint32_t kBase64In = 3;              // bytes that
constexpr uint32_t kBase64Out = 4;             // characters stand for
constexpr uint32_t kLongText = 1u << 30;       // limits from here on say nothing
constexpr uint32_t kCountedBytes = 3000;       // up to which a pattern says how many
constexpr double kMostFloat = 3.402823466e38;  // as the database rounds it
constexpr unsigned kSafeDigits = 15;           // that every reader's numbers have

// Words that are no columns where they name a parameter.
constexpr std::array<std::string_view, 10> kParameters = {
    "and", "or", "order", "limit", "offset", "select", "columns", "on_conflict", "distinct", "after"};

bool isSet(const Column& column) noexcept {
  return column.declared.compare(0, 4, "set(") == 0;
}

bool isBoolean(const Column& column) noexcept {
  return column.is_bool || (column.type == Type::kBit && column.bits == 1);
}

bool isWide(const Column& column) noexcept {
  return (column.int_bytes == 8 && !column.is_bool) || (column.type == Type::kBit && column.bits > 48);
}

std::string membersPattern(const Column& column) {
  std::string any;
  for (const std::string& member : column.members) {
    if (!any.empty()) any += '|';
    any += escapedForPattern(member);
  }
  return any;
}

Json integerSchema(const Column& column, Direction direction) {
  Json made{{"type", "integer"}};
  if (column.is_year) {
    made["minimum"] = direction == Direction::kRequest ? 1901 : 0;  // 0 is what stands for no year
    made["maximum"] = 2155;
  } else if (column.type == Type::kInt) {
    const unsigned bits = 8u * column.int_bytes;
    const int64_t most = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
    made["format"] = column.int_bytes == 8 ? "int64" : "int32";
    made["minimum"] = -most - 1;
    made["maximum"] = most;
  } else {
    const unsigned bits = column.type == Type::kBit ? column.bits : 8u * column.int_bytes;
    made["minimum"] = 0;
    made["maximum"] = bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
  }
  return made;
}

// As digits in a string, where numbers would lose some.
Json digitsSchema(const Column& column, bool fraction) {
  const std::string_view sign = column.type == Type::kUint || column.type == Type::kBit ? "" : "-?";
  const std::string_view rest = fraction && column.scale != 0 ? R"((\.[0-9]+)?)" : "";
  return {{"type", "string"}, {"pattern", fmt::format("^{}[0-9]+{}$", sign, rest)}};
}

// Bounds are told where they have no more digits than every reader's numbers.
Json decimalSchema(const Column& column) {
  Json made{{"type", "number"}};
  const unsigned whole = column.precision - std::min(column.precision, column.scale);
  if (whole > kSafeDigits) return made;
  if (column.precision <= kSafeDigits) {
    const double most = std::stod(std::string(whole, '9') + "." + std::string(column.scale, '9') + "0");
    made["minimum"] = -most;
    made["maximum"] = most;
  } else {
    const int64_t bound = std::stoll("1" + std::string(whole, '0'));
    made["exclusiveMinimum"] = -bound;
    made["exclusiveMaximum"] = bound;
  }
  return made;
}

Json textSchema(const Column& column) {
  Json made{{"type", "string"}};
  if (isSet(column)) {
    const std::string any = membersPattern(column);
    made["pattern"] = fmt::format("^(({0})(,({0}))*)?$", any);
  } else if (!column.members.empty()) {
    made["enum"] = column.members;
  } else if (column.declared == "uuid") {
    made["format"] = "uuid";
  } else if (column.declared == "inet4") {
    made["format"] = "ipv4";
  } else if (column.declared == "inet6") {
    made["format"] = "ipv6";
  } else if (column.max_chars != 0 && column.max_chars < kLongText) {
    made["maxLength"] = column.max_chars;
  }
  return made;
}

// Of at most so many bytes, and without bits behind the last of them.
std::string base64Pattern(uint32_t most_bytes) {
  constexpr std::string_view kFour = "[A-Za-z0-9+/]{4}";
  constexpr std::string_view kOne = "[A-Za-z0-9+/][AQgw]==";
  constexpr std::string_view kTwo = "[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=";
  const std::string any_end = fmt::format("({}|{})?", kOne, kTwo);
  if (most_bytes == 0 || most_bytes > kCountedBytes) return fmt::format("^({})*{}$", kFour, any_end);
  const uint32_t groups = most_bytes / kBase64In;
  const uint32_t rest = most_bytes % kBase64In;
  const std::string end = rest == 0 ? "" : rest == 1 ? fmt::format("({})?", kOne) : any_end;
  if (groups == 0) return fmt::format("^{}$", end);
  return fmt::format("^(({0}){{0,{1}}}{2}|({0}){{{3}}}{4})$", kFour, groups - 1, any_end, groups, end);
}

Json bytesSchema(const Column& column, Direction direction) {
  Json made{{"type", "string"}, {"contentEncoding", "base64"}};
  if (column.max_chars != 0 && column.max_chars < kLongText)
    made["maxLength"] = (uint64_t{column.max_chars} + kBase64In - 1) / kBase64In * kBase64Out;
  if (direction == Direction::kRequest) made["pattern"] = base64Pattern(column.max_chars);
  return made;
}

// Moments that every database takes: TIMESTAMP ends in 2038, and February has 28 days in every year.
std::string datePattern() {
  return "(19[89][0-9]|20[0-2][0-9])-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])";
}

std::string clockPattern() {
  return "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]";
}

Json momentSchema(const Column& column, Direction direction) {
  Json made{{"type", "string"}};
  if (column.type == Type::kDate) {
    made["format"] = "date";
  } else if (column.type == Type::kTime) {
    made["pattern"] = R"(^-?[0-9]{2,3}:[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?$)";
  } else if (column.type == Type::kTimestamp && direction == Direction::kRequest) {
    made["pattern"] = fmt::format("^{}T{}Z$", datePattern(), clockPattern());
  } else {
    made["format"] = "date-time";
  }
  if (column.type == Type::kTime && direction == Direction::kRequest)
    made["pattern"] = fmt::format("^-?{}$", clockPattern());
  return made;
}

Json valueSchema(const Column& column, const RestConfig& rest, Direction direction) {
  if (column.is_json) {
    Json made = Json::object();
    // A null that is sent is the database's.
    if (direction == Direction::kRequest && !column.nullable)
      made["type"] = {"object", "array", "string", "number", "boolean"};
    return made;
  }
  switch (column.type) {
    case Type::kInt:
    case Type::kUint:
    case Type::kBit:
      if (isBoolean(column)) return {{"type", "boolean"}};
      if (isWide(column) && rest.bigint == BigNumber::kString) return digitsSchema(column, false);
      return integerSchema(column, direction);
    case Type::kFloat:
      return {{"type", "number"}, {"format", "float"}, {"minimum", -kMostFloat}, {"maximum", kMostFloat}};
    case Type::kDouble:
      return {{"type", "number"}, {"format", "double"}};
    case Type::kDecimal:
      return rest.decimal == BigNumber::kString ? digitsSchema(column, true) : decimalSchema(column);
    case Type::kDate:
    case Type::kTime:
    case Type::kDateTime:
    case Type::kTimestamp:
      return momentSchema(column, direction);
    case Type::kBytes:
    case Type::kGeometry:
      return bytesSchema(column, direction);
    default:
      return textSchema(column);
  }
}

void allowNull(Json& schema) {
  const auto type = schema.find("type");
  if (type == schema.end()) return;
  *type = Json::array({*type, "null"});
  const auto members = schema.find("enum");
  if (members != schema.end()) members->push_back(nullptr);
}

// What of a column's values is sure to be understood in a filter; empty: it is not compared.
std::string valuePattern(const Column& column) {
  const auto digits = [](unsigned most) { return fmt::format("[0-9]{{1,{}}}", most); };
  if (column.is_json) return {};
  switch (column.type) {
    case Type::kInt:
    case Type::kUint: {
      if (column.is_bool) return "(true|false)";
      if (column.is_year) return "(19[1-9][0-9]|20[0-9]{2})";
      constexpr std::array<unsigned, 9> kDigits = {2, 2, 4, 6, 9, 9, 9, 9, 18};
      const std::string_view sign = column.type == Type::kInt ? "-?" : "";
      return fmt::format("{}{}", sign, digits(kDigits[std::min<size_t>(column.int_bytes, 8)]));
    }
    case Type::kBit:
      if (column.bits == 1) return "(true|false)";
      return column.bits < 4 ? "[01]" : digits(std::max(1u, column.bits * 3u / 10u));
    case Type::kFloat:
    case Type::kDouble:
    case Type::kDecimal:
      return R"(-?[0-9]{1,9}(\.[0-9]{1,4})?)";
    case Type::kDate:
      return datePattern();
    case Type::kTime:
      return "-?" + clockPattern();
    case Type::kDateTime:
    case Type::kTimestamp:
      return datePattern() + "T" + clockPattern() + "Z";
    case Type::kBytes:
      return "([A-Za-z0-9+/]{4}){0,8}";
    case Type::kGeometry:
      return {};
    default:
      break;
  }
  if (!column.members.empty()) return "(" + membersPattern(column) + ")";
  if (column.declared == "uuid") return "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";
  if (column.declared == "inet4") return R"([1-9][0-9]?(\.[1-9][0-9]?){3})";
  if (column.declared == "inet6") return "[0-9a-f]{1,4}(:[0-9a-f]{1,4}){7}";
  return ".*";
}

// The same within a list, where some characters mean something.
std::string listValuePattern(const Column& column) {
  if (!column.members.empty()) return {};
  std::string alone = valuePattern(column);
  if (column.type == Type::kBytes) return "([A-Za-z0-9+/]{4}){1,8}";
  return alone == ".*" ? "[0-9A-Za-z_]{1,20}" : alone;
}

bool isText(const Column& column) noexcept {
  return column.type == Type::kText && !column.is_json && column.members.empty() &&
         (column.max_chars != 0 || column.declared == "text");
}

bool isSearched(const Table& table, const Column& column) noexcept {
  const auto at = static_cast<uint16_t>(&column - table.columns.data());
  return std::any_of(table.keys.begin(), table.keys.end(), [at](const Key& key) {
    return key.fulltext && key.columns.size() == 1 && key.columns.front() == at;
  });
}

bool isPlainName(std::string_view name) noexcept {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

Json columnSchema(const Column& column, const RestConfig& rest, Direction direction) {
  Json made = valueSchema(column, rest, direction);
  if (column.nullable) allowNull(made);
  return made;
}

std::string filterPattern(const Table& table, const Column& column) {
  std::string any = R"(is\.(null|not_null))";
  if (isBoolean(column)) any += R"(|is\.(true|false|unknown))";
  const std::string value = valuePattern(column);
  const std::string_view more = isSet(column) ? "" : "|gt|gte|lt|lte";
  if (!value.empty()) any += fmt::format(R"(|(eq|neq{}|isdistinct)\.{})", more, value);
  if (isText(column)) any += R"(|(like|ilike)\.[^\\]*)";
  if (isSearched(table, column)) any += R"(|(fts|plfts|phfts|wfts)\.[a-z]{4,9}( [a-z]{4,9}){0,2})";
  const std::string listed = value.empty() ? value : listValuePattern(column);
  if (!listed.empty()) {
    any += fmt::format(R"(|in\.\({0}(,{0}){{0,3}}\))", listed);
    any += fmt::format(R"(|(eq|neq|gt|gte|lt|lte)\((any|all)\)\.\{{{0}(,{0}){{0,3}}\}})", listed);
  }
  return fmt::format(R"(^(not\.)?({})$)", any);
}

std::string keyPattern(const Column& column, bool many) {
  std::string value = valuePattern(column);
  if (value == ".*" && column.max_chars != 0) value = fmt::format(".{{0,{}}}", column.max_chars);
  const std::string listed = many && !value.empty() ? listValuePattern(column) : "";
  if (listed.empty()) return fmt::format(R"(^eq\.{}$)", value.empty() ? ".*" : value);
  return fmt::format(R"(^(eq\.{0}|in\.\({1}(,{1}){{0,3}}\))$)", value, listed);
}

std::string parameterName(std::string_view column) {
  const bool taken = std::find(kParameters.begin(), kParameters.end(), column) != kParameters.end();
  return taken ? fmt::format("\"{}\"", column) : nameInList(column);
}

std::string nameInList(std::string_view column) {
  if (isPlainName(column)) return std::string(column);
  std::string quoted = "\"";
  for (const char c : column) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted += '"';
}

std::string escapedForPattern(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view(R"(\^$.|?*+()[]{}/)").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace roost::tables
