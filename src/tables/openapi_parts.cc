#include "tables/openapi_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace roost::tables::openapi {
namespace {

constexpr std::string_view kProblemType = "application/problem+json";

struct Refusal {
  int status;
  std::string_view name;
  std::string_view description;
};
constexpr std::array<Refusal, 11> kRefusals = {{
    {400, "bad_request", "The request means nothing here: `code` and `detail` say why."},
    {404, "not_found", "There is no such table."},
    {405, "method_not_allowed", "An operation of the batch is one that its table does not allow."},
    {406, "not_acceptable", "None of the forms in Accept can be had, or there is not exactly one row."},
    {409, "conflict", "A key or a constraint of the database forbids it."},
    {412, "precondition_failed", "The row is not the one that If-Match names."},
    {413, "too_large", "The content, or the number of its rows, is beyond the limit."},
    {415, "unsupported_media_type", "The content is of a type that is not understood."},
    {416, "range_not_satisfiable", "There are no rows in that range."},
    {503, "unavailable", "The database cannot be reached, or too many requests wait for it."},
    {504, "too_slow", "The database took too long."},
}};

}  // namespace

Json refTo(std::string_view kind, std::string_view name) {
  return {{"$ref", fmt::format("#/components/{}/{}", kind, name)}};
}

std::string componentName(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    name += plain ? c : '-';
  }
  return name;
}

std::string pathSegment(std::string_view name) {
  std::string segment;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~!$&'()*+,;=:@").find(c) != std::string_view::npos;
    segment += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return segment;
}

Json parameter(std::string_view name, std::string_view in, std::string_view description, Json schema) {
  return {{"name", name}, {"in", in}, {"description", description}, {"schema", std::move(schema)}};
}

Json listParameter(std::string_view name, std::string_view description, uint32_t most, Json items) {
  Json made = parameter(name, "query", description,
                        {{"type", "array"},
                         {"minItems", 1},
                         {"maxItems", most},
                         {"uniqueItems", true},
                         {"items", std::move(items)}});
  made["style"] = "form";
  made["explode"] = false;
  return made;
}

Json commonParameters() {
  const Json rows{{"type", "integer"}, {"minimum", 0}, {"maximum", INT64_MAX}};
  Json made = Json::object();
  made["limit"] = parameter("limit", "query", "Most rows of the answer.", rows);
  made["offset"] = parameter("offset", "query", "Rows that are passed over.", rows);
  made["distinct"] = parameter("distinct", "query", "Each row that is selected comes once.",
                               {{"type", "string"}, {"enum", {"true", "false"}}});
  const auto header = [&made](const char* key, const char* name, const char* description,
                              std::initializer_list<const char*> examples) {
    made[key] = parameter(name, "header", description, {{"type", "string"}});
    for (const char* const example : examples)
      made[key]["examples"][fmt::format("e{}", made[key]["examples"].size() + 1)] = {{"value", example}};
  };
  header("prefer_read", "Prefer", "`count=exact` tells in Content-Range how many rows there are in all.",
         {"count=exact", "count=planned", "count=estimated", "handling=strict"});
  header("prefer_write", "Prefer",
         "What is answered (`return=representation`), and how many rows may be changed (`max-affected=1`).",
         {"return=representation", "return=minimal", "tx=rollback"});
  header("prefer_insert", "Prefer",
         "What is answered, what becomes of rows that are there already, and of columns that are not given.",
         {"return=representation", "resolution=merge-duplicates", "resolution=ignore-duplicates",
          "missing=default"});
  header("range", "Range", "Rows instead of `limit` and `offset`: `0-24`.", {"0-24"});
  header("if_none_match", "If-None-Match", "304 if the answer still has this ETag.", {"\"0\""});
  return made;
}

Json problemSchema() {
  const Json text{{"type", "string"}};
  const Json maybe{{"type", {"string", "null"}}};
  Json made{{"type", "object"}, {"description", "Why it is not done (RFC 9457)."}};
  made["required"] = {"type", "title", "status", "code", "message", "details", "hint"};
  made["properties"] = {{"type", text},
                        {"title", text},
                        {"status", {{"type", "integer"}, {"minimum", 400}, {"maximum", 599}}},
                        {"code", {{"type", {"string", "null"}}, {"description", "For programs."}}},
                        {"detail", {{"type", "string"}, {"description", "For people."}}},
                        {"message", text},
                        {"details", maybe},
                        {"hint", maybe},
                        {"sqlstate", {{"type", "string"}, {"minLength", 5}, {"maxLength", 5}}}};
  return made;
}

Json commonResponses() {
  Json made = Json::object();
  for (const Refusal& each : kRefusals) {
    Json& response = made[std::string(each.name)];
    response["description"] = each.description;
    response["content"][std::string(kProblemType)]["schema"] = refTo("schemas", "problem");
  }
  return made;
}

void addRefusals(Json& responses, std::initializer_list<int> statuses) {
  for (const Refusal& each : kRefusals) {
    if (std::find(statuses.begin(), statuses.end(), each.status) != statuses.end())
      responses[std::to_string(each.status)] = refTo("responses", each.name);
  }
}

Json header(std::string_view description, std::string_view pattern) {
  return {{"description", description}, {"schema", {{"type", "string"}, {"pattern", pattern}}}};
}

}  // namespace roost::tables::openapi
