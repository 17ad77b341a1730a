#include "modules/mysql/query_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/form_text.h"
#include "base/utf8.h"
#include "http/ascii.h"
#include "http/exchange.h"
#include "http/query.h"
#include "tables/body.h"
#include "tables/read.h"

namespace roost::modules::mysql {
namespace {

using From = QueryParameter::From;

bool refuse(tables::Problem& problem, std::string_view code, std::string detail, int status = 400) {
  problem = {};
  problem.status = status;
  problem.code = code;
  problem.detail = std::move(detail);
  return false;
}

// Names a parameter where it is a column that is spoken of: what reads both knows columns only.
bool ofParameter(const QueryParameter& parameter, tables::Problem& problem) {
  const std::string column = parameter.name + ": ";
  if (problem.detail.compare(0, column.size(), column) == 0) problem.detail.erase(0, column.size());
  problem.detail = fmt::format("parameter \"{}\": {}", parameter.name, problem.detail);
  return false;
}

std::string_view mediaType(const http::Exchange& exchange) noexcept {
  const std::string_view field = exchange.request().get(http::FieldId::kContentType);
  std::string_view type = field.substr(0, field.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  return type;
}

}  // namespace

QueryArguments::QueryArguments(const QueryRouteConfig& config) : config_(config) {
  for (const QueryParameter& parameter : config.parameters) {
    row_.shown.push_back(static_cast<uint16_t>(table_.columns.size()));
    table_.columns.push_back(parameter.column);
    row_.writable.push_back(parameter.from == From::kBody || parameter.from == From::kQueryOrBody);
  }
  row_.table = &table_;
  row_.name = "the body";
  row_.config = &table_config_;
  row_.rest = &rest_;
}

bool QueryArguments::read(const http::Exchange& exchange, std::string_view body,
                          std::vector<db::Value>& values, tables::Problem& problem) const {
  values.assign(config_.parameters.size(), db::Value());
  Reading reading{values, std::vector<bool>(values.size()), problem};
  return readPath(exchange, reading) && readForm(exchange.query(), From::kQuery, reading) &&
         (body.empty() || readBody(exchange, body, reading)) && fillIn(reading);
}

bool QueryArguments::readPath(const http::Exchange& exchange, Reading& reading) const {
  for (size_t i = 0; i < config_.parameters.size(); ++i) {
    const QueryParameter& parameter = config_.parameters[i];
    if (parameter.from == From::kPath && !readText(i, exchange.param(parameter.name), reading)) return false;
  }
  return true;
}

// A query, or a body in the form of one.
bool QueryArguments::readForm(std::string_view text, From only, Reading& reading) const {
  std::string name;
  std::string value;
  for (http::QueryArgument argument; http::nextArgument(text, argument);) {
    if (argument.name.empty() && !argument.has_value) continue;
    name.clear();
    value.clear();
    if (!appendFormDecoded(argument.name, name) || !appendFormDecoded(argument.value, value))
      return refuse(reading.problem, "bad_encoding", "a '%' without two hexadecimal digits behind it");
    const auto found = std::find_if(
        config_.parameters.begin(), config_.parameters.end(), [&](const QueryParameter& parameter) {
          return parameter.name == name && (parameter.from == only || parameter.from == From::kQueryOrBody);
        });
    if (found == config_.parameters.end())
      return refuse(reading.problem, "unknown_parameter", fmt::format("there is no parameter \"{}\"", name));
    const auto index = static_cast<size_t>(found - config_.parameters.begin());
    if (!readText(index, value, reading)) return false;
  }
  return true;
}

bool QueryArguments::readBody(const http::Exchange& exchange, std::string_view body, Reading& reading) const {
  const std::string_view type = mediaType(exchange);
  if (http::equalsToken(type, "application/json")) return readJson(body, reading);
  if (http::equalsToken(type, "application/x-www-form-urlencoded"))
    return readForm(body, From::kBody, reading);
  return refuse(reading.problem, "unsupported_media_type",
                "a body is application/json or application/x-www-form-urlencoded", 415);
}

bool QueryArguments::readJson(std::string_view text, Reading& reading) const {
  tables::BodyOptions options;
  options.max_rows = 1;
  tables::Body body;
  if (!tables::readBody(text, tables::BodyFormat::kJson, row_, options, body, reading.problem)) {
    if (reading.problem.code == "unknown_column" || reading.problem.code == "read_only_column") {
      reading.problem.code = "unknown_parameter";
      reading.problem.hint.clear();
    }
    return false;
  }
  if (body.is_list) return refuse(reading.problem, "bad_body", "an object is needed, not an array");
  tables::BodyRow& row = body.rows.front();
  for (size_t i = 0; i < row.columns.size(); ++i)
    if (!set(row.columns[i], std::move(row.values[i]), reading)) return false;
  return true;
}

bool QueryArguments::readText(size_t index, std::string_view text, Reading& reading) const {
  const QueryParameter& parameter = config_.parameters[index];
  if (!isUtf8(text)) {
    refuse(reading.problem, "bad_encoding", "is no UTF-8");
    return ofParameter(parameter, reading.problem);
  }
  db::Value value;
  if (!tables::convertText(parameter.column, text, "+00:00", value, reading.problem))
    return ofParameter(parameter, reading.problem);
  return set(index, std::move(value), reading);
}

bool QueryArguments::set(size_t index, db::Value value, Reading& reading) const {
  const QueryParameter& parameter = config_.parameters[index];
  std::string why;
  if (reading.given[index]) {
    refuse(reading.problem, "repeated_parameter", "stands twice");
    return ofParameter(parameter, reading.problem);
  }
  if (value.isNull() && !parameter.nullable) why = "may not be null";
  if (!why.empty() || !parameter.admits(value, why)) {
    refuse(reading.problem, "bad_value", std::move(why));
    return ofParameter(parameter, reading.problem);
  }
  reading.given[index] = true;
  reading.values[index] = std::move(value);
  return true;
}

bool QueryArguments::fillIn(Reading& reading) const {
  for (size_t i = 0; i < config_.parameters.size(); ++i) {
    const QueryParameter& parameter = config_.parameters[i];
    if (reading.given[i]) continue;
    if (parameter.required) {
      refuse(reading.problem, "missing_parameter", "is missing");
      return ofParameter(parameter, reading.problem);
    }
    if (!parameter.fallback_is_null && !readText(i, parameter.fallback, reading)) return false;
  }
  return true;
}

}  // namespace roost::modules::mysql
