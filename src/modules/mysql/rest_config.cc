#include "modules/mysql/rest_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tables/query.h"

namespace roost::modules::mysql {
namespace {

constexpr std::string_view kBatch = "batch";

uint32_t number(config::Node node) noexcept {
  return static_cast<uint32_t>(node.asInt());
}

std::vector<std::string> names(config::Node list) {
  std::vector<std::string> read;
  for (size_t i = 0; i < list.size(); ++i) read.push_back(list.at(i).asString());
  return read;
}

uint8_t methods(config::Node list) {
  uint8_t read = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string& method = list.at(i).asString();
    if (method == "GET") read |= tables::kRead;
    if (method == "POST") read |= tables::kInsert;
    if (method == "PATCH") read |= tables::kUpdate;
    if (method == "PUT") read |= tables::kUpsert;
    if (method == "DELETE") read |= tables::kDelete;
  }
  return read;
}

tables::TableConfig readTable(config::Node node) {
  tables::TableConfig table;
  if (node.isString()) {
    table.name = node.asString();
    return table;
  }
  table.name = node["name"].asString();
  table.alias = node["alias"].asString();
  table.columns = names(node["columns"]);
  table.read_only = names(node["read_only"]);
  table.client_ids = node["client_ids"].asBool();
  table.methods = methods(node["methods"]);
  table.max_rows = number(node["max_rows"]);
  table.default_rows = number(node["default_rows"]);
  table.where = node["where"].asString();
  table.version = node["version"].asString();
  table.publish = node["publish"].asString();
  return table;
}

tables::RestLimits readLimits(config::Node node) {
  tables::RestLimits limits;
  limits.max_filters = number(node["max_filters"]);
  limits.max_depth = number(node["max_depth"]);
  limits.max_list = number(node["max_list"]);
  limits.max_select = number(node["max_select"]);
  limits.max_body_rows = number(node["max_body_rows"]);
  limits.max_embed_rows = number(node["max_embed_rows"]);
  limits.max_batch = number(node["max_batch"]);
  limits.max_batch_bytes = number(node["max_batch_bytes"]);
  return limits;
}

tables::BigNumber bigNumber(config::Node node) {
  return node.asString() == "string" ? tables::BigNumber::kString : tables::BigNumber::kNumber;
}

const std::string& nameInPath(const tables::TableConfig& table) noexcept {
  return table.alias.empty() ? table.name : table.alias;
}

// What is wrong with one table by itself, from behind its number on; empty: nothing.
std::string mistakeIn(const tables::TableConfig& table, const tables::RestLimits& limits) {
  if (nameInPath(table).find('/') != std::string::npos)
    return ": a name with a slash needs an \"alias\" without";
  for (const std::string& column : table.read_only) {
    const auto& shown = table.columns;
    if (!shown.empty() && std::find(shown.begin(), shown.end(), column) == shown.end())
      return fmt::format(": \"read_only\" names \"{}\", which \"columns\" does not show", column);
  }
  if (table.max_rows != 0 && table.default_rows > table.max_rows)
    return fmt::format(": \"default_rows\" ({}) exceeds \"max_rows\" ({})", table.default_rows,
                       table.max_rows);
  tables::Query fixed;
  tables::Problem problem;
  if (!table.where.empty() && !tables::parseFixed(table.where, limits, fixed, problem))
    return fmt::format(".where: {}", problem.detail);
  return {};
}

}  // namespace

Result<RestRouteConfig> RestRouteConfig::fromConfig(config::Node node, std::string path) {
  auto rest = std::make_shared<tables::RestConfig>();
  RestRouteConfig read;
  read.path = std::move(path);
  read.openapi = node["openapi"].asBool();
  read.batch = node["batch"].asBool();
  read.max_body_bytes = number(node["max_body_bytes"]);
  rest->bigint = bigNumber(node["bigint"]);
  rest->decimal = bigNumber(node["decimal"]);
  rest->regex = node["regex"].asBool();
  rest->limits = readLimits(node["limits"]);
  const config::Node list = node["tables"];
  std::set<std::string_view> taken;
  rest->tables.reserve(list.size());  // `taken` refers to their names
  for (size_t i = 0; i < list.size(); ++i) {
    const tables::TableConfig& table = rest->tables.emplace_back(readTable(list.at(i)));
    const std::string& name = nameInPath(table);
    std::string mistake = mistakeIn(table, rest->limits);
    if (mistake.empty() && !taken.insert(name).second)
      mistake = fmt::format(": another table is \"{}\" in the path: give one an \"alias\"", name);
    if (mistake.empty() && read.batch && name == kBatch)
      mistake = ": \"batch\" is the path of batches: give the table an \"alias\"";
    if (!mistake.empty()) return Status::error(fmt::format("tables[{}]{}", i, mistake));
  }
  read.tables = std::move(rest);
  return read;
}

}  // namespace roost::modules::mysql
