#include "tables/openapi.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "tables/openapi_parts.h"
#include "tables/openapi_table.h"

namespace roost::tables {
namespace {

using openapi::addRefusals;
using openapi::Json;
using openapi::kJsonType;

Json describePath() {
  Json made{{"operationId", "describe"}, {"summary", "This document"}};
  Json& answer = made["responses"]["200"];
  answer["description"] = "An OpenAPI 3.1 document.";
  answer["content"][std::string(kJsonType)]["schema"] = {{"type", "object"},
                                                         {"required", {"openapi", "paths"}}};
  answer["content"]["text/html"]["schema"] = {{"type", "string"}};
  made["responses"]["304"] = {{"description", "The document still has the ETag in If-None-Match."}};
  addRefusals(made["responses"], {503});
  return {{"get", std::move(made)}};
}

// Several operations of all of the tables.
Json batchPath(const Exposure& exposure) {
  const Json text{{"type", "string"}};
  Json paths = Json::array();
  for (const auto& [name, table] : exposure.tables) paths.push_back(openapi::pathSegment(name));
  Json one{{"type", "object"}, {"required", {"method", "path"}}, {"additionalProperties", false}};
  one["properties"] = {
      {"method", {{"type", "string"}, {"enum", {"GET", "POST", "PATCH", "PUT", "DELETE"}}}},
      {"path", {{"type", "string"}, {"enum", paths}}},
      {"query", text},
      {"headers", {{"type", "object"}, {"description", "Prefer, Accept, If-Match, If-None-Match."}}},
      {"body", {{"type", {"object", "array"}}}}};
  Json result{{"type", "object"}, {"required", {"status"}}};
  result["properties"] = {
      {"status", {{"type", "integer"}}}, {"headers", {{"type", "object"}}}, {"body", true}};
  Json made{{"operationId", "batch"}, {"summary", "Several operations: all of them, or none"}};
  made["requestBody"] = {{"required", true}};
  made["requestBody"]["content"][std::string(kJsonType)]["schema"] = {{"type", "array"}, {"items", one}};
  Json& answer = made["responses"]["200"];
  answer["description"] = "What each of them was answered.";
  answer["content"][std::string(kJsonType)]["schema"] = {{"type", "array"}, {"items", result}};
  addRefusals(made["responses"], {400, 404, 405, 406, 409, 412, 413, 415, 416, 503, 504});
  return {{"post", std::move(made)}};
}

std::string serverUrl(std::string_view base) {
  while (base.size() > 1 && base.back() == '/') base.remove_suffix(1);
  return base.empty() ? "/" : std::string(base);
}

}  // namespace

std::string openApiDocument(const Exposure& exposure, const OpenApiOptions& options) {
  Json document;
  document["openapi"] = "3.1.0";
  document["info"] = {{"title", "Tables"}, {"version", "1"}};
  document["servers"] = Json::array({{{"url", serverUrl(options.base)}}});
  document["paths"]["/"] = describePath();
  document["components"]["schemas"]["problem"] = openapi::problemSchema();
  document["components"]["parameters"] = openapi::commonParameters();
  document["components"]["responses"] = openapi::commonResponses();
  std::set<std::string> taken = {"problem"};
  for (const auto& [name, table] : exposure.tables) {
    std::string component = openapi::componentName(name);
    while (!taken.insert(component).second) component += '_';
    openapi::describeTable(table, exposure, std::move(component), document);
  }
  if (options.batch) document["paths"]["/batch"] = batchPath(exposure);
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace roost::tables
