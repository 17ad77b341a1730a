#include "modules/mysql/query_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "modules/mysql/builtin_functions.h"
#include "tables/read.h"

namespace roost::modules::mysql {
namespace {

constexpr std::array<std::pair<std::string_view, http::Method>, 5> kMethods = {
    {{"GET", http::Method::kGet},
     {"POST", http::Method::kPost},
     {"PUT", http::Method::kPut},
     {"PATCH", http::Method::kPatch},
     {"DELETE", http::Method::kDelete}}};
// Statements that begin with one of these read.
constexpr std::array<std::string_view, 7> kReading = {"SELECT", "WITH",    "SHOW",  "DESCRIBE",
                                                      "DESC",   "EXPLAIN", "VALUES"};
// And those that have one of these write or lock all the same: reserved words, which are no names without
// quotes, and functions.
constexpr std::array<std::string_view, 7> kWriting = {"UPDATE",  "DELETE", "INTO",    "LOCK",
                                                      "NEXTVAL", "SETVAL", "GET_LOCK"};
constexpr std::array<std::string_view, 4> kChanging = {"INSERT", "REPLACE", "UPDATE", "DELETE"};
// What would change the connection for whoever has it next, or the transaction that surrounds it.
constexpr std::array<std::string_view, 17> kRefused = {
    "SET",     "USE",     "BEGIN",   "START",      "COMMIT", "ROLLBACK", "LOCK",   "UNLOCK", "SAVEPOINT",
    "RELEASE", "PREPARE", "EXECUTE", "DEALLOCATE", "FLUSH",  "HANDLER",  "BACKUP", "XA"};

template <size_t N>
bool isOneOf(const std::array<std::string_view, N>& words, std::string_view word) noexcept {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Whether the word there is one of them: "INSERT(" is a function of strings, and MariaDB's other name of
// NEXTVAL has two words.
bool writesAt(const std::vector<std::string>& tokens, size_t at) noexcept {
  const std::string_view next = at + 1 < tokens.size() ? std::string_view(tokens[at + 1]) : "";
  if (tokens[at] == "INSERT") return next != "(";
  if (tokens[at] == "NEXT") return next == "VALUE";
  return isOneOf(kWriting, tokens[at]);
}

bool isIn(const std::vector<std::string>& names, std::string_view name) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

tables::Column columnOf(std::string_view name, std::string_view type) {
  tables::Column column;
  column.name = name;
  column.declared = type;
  column.nullable = true;
  column.case_sensitive = true;
  if (type == "integer") {
    column.type = db::Type::kInt;
    column.int_bytes = 8;
  } else if (type == "number") {
    column.type = db::Type::kDouble;
  } else if (type == "decimal") {
    column.type = db::Type::kDecimal;
    column.precision = 65;
    column.scale = 30;
  } else if (type == "boolean") {
    column.type = db::Type::kInt;
    column.int_bytes = 1;
    column.is_bool = true;
  } else if (type == "date") {
    column.type = db::Type::kDate;
  } else if (type == "time") {
    column.type = db::Type::kTime;
    column.scale = 6;
  } else if (type == "datetime") {
    column.type = db::Type::kDateTime;
    column.scale = 6;
  } else if (type == "json") {
    column.type = db::Type::kJson;
    column.is_json = true;
  } else if (type == "bytes") {
    column.type = db::Type::kBytes;
  }
  return column;
}

std::optional<double> bound(config::Node node) {
  return node.isNumber() ? std::optional<double>(node.asDouble()) : std::nullopt;
}

std::string scalarText(config::Node node) {
  if (node.isString()) return node.asString();
  if (node.isBool()) return node.asBool() ? "true" : "false";
  return node.isInt() ? std::to_string(node.asInt()) : fmt::format("{}", node.asDouble());
}

std::string readFrom(const std::string& from, bool in_path, QueryParameter& parameter) {
  using From = QueryParameter::From;
  if (from == "path" && !in_path) return "stands in the path, where the route has no part of that name";
  if (from == "path" || (from == "auto" && in_path)) {
    parameter.from = From::kPath;
  } else if (from == "query") {
    parameter.from = From::kQuery;
  } else {
    parameter.from = from == "body" ? From::kBody : From::kQueryOrBody;
  }
  return {};
}

bool mayWrite(const tables::NamedSql& statement) noexcept {
  if (!isOneOf(kReading, statement.first_word)) return true;
  for (size_t at = 0; at < statement.tokens.size(); ++at)
    if (writesAt(statement.tokens, at)) return true;
  return false;
}

// What is wrong with it; empty: nothing.
std::string readParameter(config::Node node, bool in_path, QueryParameter& parameter) {
  const std::string& type = node["type"].asString();
  parameter.column = columnOf(parameter.name, type);
  parameter.nullable = node["nullable"].asBool();
  parameter.minimum = bound(node["minimum"]);
  parameter.maximum = bound(node["maximum"]);
  parameter.min_chars = static_cast<uint32_t>(node["min_length"].asInt());
  parameter.max_chars = static_cast<uint32_t>(node["max_length"].asInt());
  for (size_t i = 0; i < node["enum"].size(); ++i) parameter.members.push_back(node["enum"].at(i).asString());
  std::string mistake = readFrom(node["from"].asString(), in_path, parameter);
  if (!mistake.empty()) return mistake;
  const bool is_number = type == "integer" || type == "number" || type == "decimal";
  if ((parameter.minimum || parameter.maximum) && !is_number)
    return "\"minimum\" and \"maximum\" are for numbers";
  if (!parameter.members.empty() && type != "string") return "\"enum\" is for strings";
  if (parameter.minimum && parameter.maximum && *parameter.minimum > *parameter.maximum)
    return "\"minimum\" exceeds \"maximum\"";
  if (parameter.min_chars > parameter.max_chars) return "\"min_length\" exceeds \"max_length\"";
  const config::Node fallback = node["default"];
  parameter.required = fallback.isDefault();
  parameter.fallback_is_null = fallback.isNull();
  if (parameter.required || parameter.fallback_is_null) return {};
  parameter.fallback = scalarText(fallback);
  db::Value value;
  tables::Problem problem;
  std::string why;
  if (!tables::convertText(parameter.column, parameter.fallback, "+00:00", value, problem))
    return fmt::format("\"default\": {}", problem.detail);
  return parameter.admits(value, why) ? std::string() : fmt::format("\"default\" {}", why);
}

// Whether it calls a function that is not the server's own, as far as can be seen.
bool callsOwnFunction(const std::vector<std::string>& tokens) noexcept {
  for (size_t at = 1; at < tokens.size(); ++at) {
    if (tokens[at] != "(") continue;
    const std::string& name = tokens[at - 1];
    const char last = name.back();
    const bool is_word = last == '_' || (last >= 'A' && last <= 'Z') || (last >= '0' && last <= '9');
    if (name == "`" || (is_word && ((at > 1 && tokens[at - 2] == ".") || !isBuiltinFunction(name))))
      return true;
  }
  return false;
}

// Whether it may leave something behind in its session: variables, locks, temporary tables. Rather once too
// often. What functions of one's own leave behind within a SELECT the server does not tell.
bool touchesSession(const tables::NamedSql& statement) {
  const std::string_view text = statement.text.view();
  if (statement.first_word == "CALL" || text.find('@') != std::string_view::npos) return true;
  if (isOneOf(kReading, statement.first_word) && callsOwnFunction(statement.tokens)) return true;
  for (const std::string_view word : {"GET_LOCK", "TEMPORARY"}) {
    const auto same = [](char a, char b) { return (a >= 'a' && a <= 'z' ? a - 'a' + 'A' : a) == b; };
    if (std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end()) return true;
  }
  return false;
}

// What stands behind LIMIT or OFFSET counts rows: -1 would be taken for all there are.
Status bindCounts(const tables::NamedSql& statement, std::vector<QueryParameter>& parameters) {
  const std::vector<std::string>& tokens = statement.tokens;
  size_t mark = 0;
  size_t limit_at = SIZE_MAX;
  for (size_t at = 0; at < tokens.size(); ++at) {
    if (tokens[at] == "LIMIT") limit_at = at;
    if (tokens[at] != "?") continue;
    QueryParameter& parameter = parameters[statement.arguments[mark++]];
    const bool is_second = limit_at != SIZE_MAX && at == limit_at + 3 && tokens[at - 1] == ",";
    if (at == 0 || (tokens[at - 1] != "LIMIT" && tokens[at - 1] != "OFFSET" && !is_second)) continue;
    if (parameter.column.type != db::Type::kInt || parameter.column.is_bool)
      return Status::error(
          fmt::format("parameters.{}: what LIMIT counts has \"type\": \"integer\"", parameter.name));
    parameter.minimum = std::max(parameter.minimum.value_or(0), 0.0);
    if (!parameter.required && !parameter.fallback_is_null && parameter.fallback.front() == '-')
      return Status::error(
          fmt::format("parameters.{}: \"default\" is less than 0, and LIMIT counts", parameter.name));
  }
  return {};
}

// All but those that change rows and do not say that they return them.
bool mayReturnRows(const tables::NamedSql& statement) {
  return !isOneOf(kChanging, statement.first_word) || isIn(statement.tokens, "RETURNING");
}

// The first `declared` of the names stand in the configuration.
Status readStatements(config::Node sql, const std::vector<std::string>& names, size_t declared,
                      QueryRouteConfig& read) {
  const size_t count = sql.isArray() ? sql.size() : 1;
  std::vector<bool> used(names.size());
  for (size_t i = 0; i < count; ++i) {
    const std::string place = sql.isArray() ? fmt::format("sql[{}]", i) : "sql";
    auto statement = tables::readNamedSql((sql.isArray() ? sql.at(i) : sql).asString(), names);
    if (!statement.ok()) return Status::error(place + " " + statement.status().message());
    const std::string& word = statement.value().first_word;
    if (isOneOf(kRefused, word))
      return Status::error(fmt::format("{}: {} would change the connection for others", place, word));
    read.writes = read.writes || mayWrite(statement.value());
    read.touches_session = read.touches_session || touchesSession(statement.value());
    for (const uint16_t at : statement.value().arguments) used[at] = true;
    Status counts = bindCounts(statement.value(), read.parameters);
    if (!counts.ok()) return counts;
    read.statements.push_back(std::move(statement).value());
  }
  read.returns_rows = mayReturnRows(read.statements.back());
  used.resize(declared);
  const auto idle = std::find(used.begin(), used.end(), false);
  if (idle == used.end()) return {};
  return Status::error(
      fmt::format("parameters: no statement uses \"{}\"", names[static_cast<size_t>(idle - used.begin())]));
}

Status readMethods(config::Node list, QueryRouteConfig& read) {
  for (size_t i = 0; i < list.size(); ++i) {
    for (const auto& [name, method] : kMethods)
      if (name == list.at(i).asString()) read.methods |= QueryRouteConfig::methodBit(method);
  }
  if (read.methods == 0) {
    read.methods = QueryRouteConfig::methodBit(http::Method::kPost);
    if (!read.writes) read.methods |= QueryRouteConfig::methodBit(http::Method::kGet);
  }
  if (read.writes && read.allows(http::Method::kGet))
    return Status::error(
        "methods: a statement that may write cannot be asked for by GET, which anybody may repeat");
  if (read.cache_s != 0 && read.writes) return Status::error("cache_s: a statement may write");
  return {};
}

QueryResult shapeOf(const std::string& word) noexcept {
  if (word == "row") return QueryResult::kRow;
  if (word == "value") return QueryResult::kValue;
  if (word == "affected") return QueryResult::kAffected;
  return word == "none" ? QueryResult::kNone : QueryResult::kRows;
}

tables::BigNumber bigNumber(config::Node node) {
  return node.asString() == "string" ? tables::BigNumber::kString : tables::BigNumber::kNumber;
}

// Of UTF-8: bytes that do not go on with a character.
size_t codePoints(std::string_view text) noexcept {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// As a number for comparing with bounds.
double magnitude(const db::Value& value) noexcept {
  switch (value.kind()) {
    case db::Value::Kind::kInt:
      return static_cast<double>(value.asInt());
    case db::Value::Kind::kUint:
      return static_cast<double>(value.asUint());
    case db::Value::Kind::kDouble:
      return value.asDouble();
    default:
      return std::strtod(value.bytes().c_str(), nullptr);  // a decimal's digits
  }
}

}  // namespace

bool QueryParameter::admits(const db::Value& value, std::string& why) const {
  if (value.isNull()) return true;
  if (minimum && magnitude(value) < *minimum) why = fmt::format("is less than {}", *minimum);
  if (maximum && magnitude(value) > *maximum) why = fmt::format("is greater than {}", *maximum);
  if (value.kind() == db::Value::Kind::kText || value.kind() == db::Value::Kind::kBytes) {
    const size_t chars = codePoints(value.bytes());
    if (chars < min_chars) why = fmt::format("has fewer than {} characters", min_chars);
    if (chars > max_chars) why = fmt::format("has more than {} characters", max_chars);
    if (!members.empty() && !isIn(members, value.bytes()))
      why = fmt::format("is none of {}", fmt::join(members, ", "));
  }
  return why.empty();
}

uint8_t QueryRouteConfig::methodBit(http::Method method) noexcept {
  if (method == http::Method::kHead) method = http::Method::kGet;
  for (size_t i = 0; i < kMethods.size(); ++i)
    if (kMethods[i].second == method) return static_cast<uint8_t>(1u << i);
  return 0;
}

std::string QueryRouteConfig::allow() const {
  std::string text;
  for (const auto& [name, method] : kMethods) {
    if (!allows(method)) continue;
    text += name;
    text += method == http::Method::kGet ? ", HEAD, " : ", ";
  }
  return text + "OPTIONS";
}

// A single statement has a transaction where its answer may be refused: what has been committed by then would
// be told as not done. What may be asked for by GET leaves nothing behind; what may not, though it only seems
// to read, calls functions that do.
bool QueryRouteConfig::isTransaction(bool single) const noexcept {
  if (!transaction || statements.size() > 1) return transaction;
  if (allows(http::Method::kGet)) return false;
  return result == QueryResult::kRows ? single || returns_rows : answersOne();
}

Result<QueryRouteConfig> QueryRouteConfig::fromConfig(config::Node node,
                                                      const std::vector<std::string>& path_names) {
  QueryRouteConfig read;
  std::vector<std::string> names;
  for (const config::Member member : node["parameters"].members()) {
    QueryParameter& parameter = read.parameters.emplace_back();
    parameter.name = member.key;
    names.emplace_back(member.key);
    const std::string mistake = readParameter(member.value, isIn(path_names, member.key), parameter);
    if (!mistake.empty()) return Status::error(fmt::format("parameters.{}: {}", member.key, mistake));
  }
  const size_t declared = names.size();
  for (const std::string& name : path_names) {
    if (isIn(names, name)) continue;  // a part of the path is a string, where nothing else is said
    QueryParameter& parameter = read.parameters.emplace_back();
    parameter.name = name;
    parameter.from = QueryParameter::From::kPath;
    parameter.column = columnOf(name, "string");
    parameter.max_chars = 4096;
    names.push_back(name);
  }
  read.transaction = node["transaction"].asBool();
  read.result = shapeOf(node["result"].asString());
  read.max_rows = static_cast<uint32_t>(node["max_rows"].asInt());
  read.max_body_bytes = static_cast<uint32_t>(node["max_body_bytes"].asInt());
  read.max_answer_bytes = static_cast<uint32_t>(node["max_answer_bytes"].asInt());
  read.cache_s = static_cast<uint32_t>(node["cache_s"].asInt());
  read.bigint = bigNumber(node["bigint"]);
  read.decimal = bigNumber(node["decimal"]);
  Status status = readStatements(node["sql"], names, declared, read);
  if (status.ok()) status = readMethods(node["methods"], read);
  if (!status.ok()) return status;
  return read;
}

}  // namespace roost::modules::mysql
