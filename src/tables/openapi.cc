#include "tables/openapi.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "tables/openapi_columns.h"
#include "tables/query_parser.h"

namespace roost::tables {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kProblemType = "application/problem+json";
constexpr std::string_view kJsonType = "application/json";

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

Json refTo(std::string_view kind, std::string_view name) {
  return {{"$ref", fmt::format("#/components/{}/{}", kind, name)}};
}

// What may be a key of `components`.
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

// What all tables have in common.
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

// One table's part of the document.
class TablePart {
 public:
  TablePart(const ExposedTable& table, const Exposure& exposure, std::string name, Json& document)
      : table_(table), exposure_(exposure), name_(std::move(name)), document_(document) {}

  void write() {
    addSchemas();
    addParameters();
    addResponses();
    Json path = Json::object();
    if (table_.allows(kRead)) path["get"] = readOperation();
    if (table_.allows(kInsert)) path["post"] = insertOperation();
    if (table_.allows(kUpdate)) path["patch"] = updateOperation();
    if (table_.allows(kUpsert) && table_.key() != nullptr) path["put"] = upsertOperation();
    if (table_.allows(kDelete)) path["delete"] = deleteOperation();
    if (!path.empty()) document_["paths"]["/" + pathSegment(table_.name)] = std::move(path);
  }

 private:
  template <class Fn>
  void forShown(Fn&& fn) const {
    for (const uint16_t at : table_.shown) fn(table_.table->columns[at]);
  }

  bool isKeyColumn(const Column& column) const noexcept {
    const Key* const key = table_.key();
    const auto at = static_cast<uint16_t>(&column - table_.table->columns.data());
    return key != nullptr && std::find(key->columns.begin(), key->columns.end(), at) != key->columns.end();
  }

  std::string part(std::string_view suffix) const { return fmt::format("{}.{}", name_, suffix); }

  // What a column's schema says beside its values.
  Json described(const Column& column, Direction direction) const {
    Json made = columnSchema(column, *exposure_.config, direction);
    std::string text = column.comment;
    const auto add = [&text](const std::string& sentence) {
      text += (text.empty() ? "" : "\n\n") + sentence;
    };
    if (isKeyColumn(column)) add("Part of the primary key.");
    const auto at = static_cast<uint16_t>(&column - table_.table->columns.data());
    for (const ForeignKey& key : table_.table->foreign_keys) {
      for (size_t i = 0; i < key.columns.size(); ++i)
        if (key.columns[i] == at) add(fmt::format("Refers to {}.{}.", key.table, key.targets[i]));
    }
    if (!text.empty()) made["description"] = text;
    if (direction == Direction::kAnswer && !table_.mayWrite(column)) made["readOnly"] = true;
    return made;
  }

  // The row whole; as it comes, where `select` may leave columns out and add others; as it is made; as it is
  // replaced; as it is changed.
  void addSchemas() {
    Json& schemas = document_["components"]["schemas"];
    Json read{{"type", "object"}}, all = Json::array();
    forShown([&](const Column& column) {
      all.push_back(column.name);
      read["properties"][column.name] = described(column, Direction::kAnswer);
    });
    schemas[name_] = {{"allOf", {refTo("schemas", part("selected"))}}, {"required", all}};
    if (!table_.table->comment.empty()) schemas[name_]["description"] = table_.table->comment;
    schemas[part("selected")] = std::move(read);
    if (table_.allows(kInsert)) schemas[part("new")] = writtenSchema(true, true);
    if (table_.allows(kUpsert) && table_.key() != nullptr) {
      schemas[part("replacement")] = writtenSchema(false, true);
      schemas[part("replacement")]["description"] = "The row without its key, which the query has.";
    }
    if (!table_.allows(kUpdate)) return;
    schemas[part("change")] = writtenSchema(true, false);
  }

  Json writtenSchema(bool with_key, bool whole) const {
    Json made{{"type", "object"}}, needed = Json::array();
    made["properties"] = Json::object();
    forShown([&](const Column& column) {
      if (!table_.mayWrite(column) || column.type == db::Type::kGeometry) return;
      if (!with_key && isKeyColumn(column)) return;
      made["properties"][column.name] = described(column, Direction::kRequest);
      if (whole && !column.has_default) needed.push_back(column.name);
    });
    if (!needed.empty()) made["required"] = needed;
    made["additionalProperties"] = false;
    return made;
  }

  void addParameters() {
    Json& parameters = document_["components"]["parameters"];
    Json names = Json::array();
    std::string any;
    forShown([&](const Column& column) {
      names.push_back(nameInList(column.name));
      if (column.type != db::Type::kGeometry && !column.is_json)
        any += (any.empty() ? "" : "|") + escapedForPattern(nameInList(column.name));
      parameters[columnParameter(column)] =
          parameter(parameterName(column.name), "query",
                    fmt::format("Rows by {}: an operator and a value, `eq.1`, `not.in.(1,2)`.", column.name),
                    {{"type", "string"}, {"pattern", filterPattern(*table_.table, column)}});
    });
    parameters[part("select")] = listParameter(
        "select",
        "Columns to answer; `alias:column`, places in JSON and tables that are referred to are possible too.",
        exposure_.config->limits.max_select, {{"type", "string"}, {"enum", names}});
    if (any.empty()) return;
    parameters[part("order")] =
        listParameter("order", "By which columns the rows are sorted.", kMaxOrderTerms,
                      {{"type", "string"},
                       {"pattern", fmt::format(R"(^({})(\.(asc|desc))?(\.(nullsfirst|nullslast))?$)", any)}});
    addLogic(parameters);
  }

  void addLogic(Json& parameters) {
    std::string any;
    forShown([&](const Column& column) {
      any += (any.empty() ? "" : "|") + escapedForPattern(nameInList(column.name));
    });
    const std::string pattern =
        fmt::format(R"(^\(({0})\.(not\.)?is\.null(,({0})\.(not\.)?is\.null){{0,3}}\)$)", any);
    for (const char* const word : {"and", "or"}) {
      parameters[part(word)] =
          parameter(word, "query", fmt::format("Conditions joined by {0}: `(a.eq.1,b.gt.2)`.", word),
                    {{"type", "string"}, {"pattern", pattern}});
    }
  }

  std::string columnParameter(const Column& column) const {
    const auto at = &column - table_.table->columns.data();
    const std::string plain = componentName(column.name);
    return plain.find('-') == std::string::npos ? part("column-" + plain)
                                                : part(fmt::format("column-{}-{}", plain, at));
  }

  Json common(std::initializer_list<std::string_view> names) const {
    Json list = Json::array();
    for (const std::string_view name : names) list.push_back(refTo("parameters", name));
    return list;
  }

  void addFilters(Json& list) const {
    forShown([&](const Column& column) { list.push_back(refTo("parameters", columnParameter(column))); });
    for (const char* const word : {"and", "or"}) {
      if (document_["components"]["parameters"].contains(part(word)))
        list.push_back(refTo("parameters", part(word)));
    }
  }

  // The rows that a change or a deletion is for: by the key where there is one, else by any column. Other
  // conditions would do as well; this one is asked for so that nobody changes all rows by mistake.
  void addTarget(Json& list, bool equal) const {
    const Column* const needed = targetColumn();
    forShown([&](const Column& column) {
      const bool of_key = isKeyColumn(column);
      if (&column == needed || (of_key && equal)) {
        list.push_back(targetParameter(column, equal));
      } else if (!equal) {
        list.push_back(refTo("parameters", columnParameter(column)));
      }
    });
  }

  Json targetParameter(const Column& column, bool equal) const {
    const std::string pattern =
        isKeyColumn(column) ? keyPattern(column, !equal) : filterPattern(*table_.table, column);
    Json made = parameter(parameterName(column.name), "query", "Which rows.",
                          {{"type", "string"}, {"pattern", pattern}});
    made["required"] = true;
    return made;
  }

  const Column* targetColumn() const noexcept {
    const auto& columns = table_.table->columns;
    return &columns[table_.key() != nullptr ? table_.key()->columns.front() : table_.shown.front()];
  }

  Json operation(std::string_view verb, std::string_view summary) const {
    Json made;
    made["operationId"] = fmt::format("{}_{}", verb, name_);
    made["tags"] = {table_.name};
    made["summary"] = summary;
    return made;
  }

  Json rows() const {
    Json array{{"type", "array"}, {"items", refTo("schemas", part("selected"))}};
    Json content;
    content[std::string(kJsonType)]["schema"] = array;
    content["application/vnd.pgrst.object+json"]["schema"] = refTo("schemas", part("selected"));
    content["application/x-ndjson"]["schema"] = {{"type", "string"}};
    content["text/csv"]["schema"] = {{"type", "string"}};
    return content;
  }

  Json readOperation() const {
    Json made = operation("read", "Rows of " + table_.name);
    if (!table_.table->comment.empty()) made["description"] = table_.table->comment;
    Json list = common({part("select"), part("order"), "limit", "offset", "distinct", "prefer_read", "range",
                        "if_none_match"});
    if (!document_["components"]["parameters"].contains(part("order"))) list.erase(1);
    addFilters(list);
    made["parameters"] = std::move(list);
    made["responses"]["200"] = refTo("responses", part("rows"));
    made["responses"]["206"] = refTo("responses", part("rows"));
    made["responses"]["304"] = {{"description", "The answer still has the ETag in If-None-Match."}};
    addRefusals(made["responses"], {400, 404, 406, 416, 503, 504});
    return made;
  }

  Json body(Json schema) const {
    Json made{{"required", true}};
    made["content"][std::string(kJsonType)]["schema"] = std::move(schema);
    return made;
  }

  void addResponses() {
    Json answer{{"description", "The rows; of a write with `return=representation` alone."}};
    answer["headers"]["Content-Range"] =
        header("Which rows, and how many there are: `0-24/3573`, `*` where it is not known.",
               R"(^([0-9]+-[0-9]+|\*)\/([0-9]+|\*)$)");
    answer["headers"]["ETag"] = header("Of this answer.", R"(^(W\/)?".*"$)");
    answer["content"] = rows();
    Json& responses = document_["components"]["responses"];
    responses[part("rows")] = answer;
    if (!table_.allows(kInsert) && !table_.allows(kUpsert)) return;
    // `content` would promise that there is some.
    answer["description"] = "Done: 201 where a row was made. With `return=representation` the rows.";
    answer.erase("content");
    answer["headers"]["Location"] = header("Of the row, where it is one and its key is known.", "^[^ ]+$");
    responses[part("made")] = std::move(answer);
  }

  void addWritten(Json& responses, std::initializer_list<std::string_view> statuses,
                  bool rows_at_200 = true) const {
    for (const std::string_view status : statuses) {
      if (status == "204") {
        responses["204"] = {{"description", "Done."}};
      } else {
        responses[std::string(status)] =
            refTo("responses", part(rows_at_200 && status == "200" ? "rows" : "made"));
      }
    }
    addRefusals(responses, {400, 404, 406, 409, 412, 413, 415, 503, 504});
  }

  Json insertOperation() const {
    Json made = operation("insert", "New rows of " + table_.name);
    made["description"] =
        "One row or a list of them, as JSON; lines of JSON (`application/x-ndjson`) and CSV are taken too.";
    made["parameters"] = common({part("select"), "prefer_insert"});
    const Json row = refTo("schemas", part("new"));
    made["requestBody"] = body({{"oneOf", {row, {{"type", "array"}, {"items", row}}}}});
    addWritten(made["responses"], {"200", "201"}, false);
    return made;
  }

  Json updateOperation() const {
    Json made = operation("update", "Changed rows of " + table_.name);
    made["description"] =
        "All rows that the conditions choose; without any it is refused. For one row by its key `If-Match` "
        "may have the ETag that it was seen with.";
    Json list = common({part("select"), "prefer_write"});
    addTarget(list, false);
    made["parameters"] = std::move(list);
    made["requestBody"] = body(refTo("schemas", part("change")));
    addWritten(made["responses"], {"200", "204"});
    return made;
  }

  Json upsertOperation() const {
    Json made = operation("put", "One row of " + table_.name + ", made or replaced");
    made["description"] = "The row whose key the query says. With `If-Match: *` it is there already.";
    Json list = common({part("select"), "prefer_write"});
    addTarget(list, true);
    made["parameters"] = std::move(list);
    made["requestBody"] = body(refTo("schemas", part("replacement")));
    addWritten(made["responses"], {"200", "201", "204"});
    return made;
  }

  Json deleteOperation() const {
    Json made = operation("delete", "Deleted rows of " + table_.name);
    made["description"] =
        "All rows that the conditions choose; without any it is refused. `If-Match` is as with PATCH.";
    Json list = common({part("select"), "prefer_write"});
    addTarget(list, false);
    made["parameters"] = std::move(list);
    addWritten(made["responses"], {"200", "204"});
    return made;
  }

  const ExposedTable& table_;
  const Exposure& exposure_;
  const std::string name_;
  Json& document_;
};

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
  for (const auto& [name, table] : exposure.tables) paths.push_back(pathSegment(name));
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
  document["components"]["schemas"]["problem"] = problemSchema();
  document["components"]["parameters"] = commonParameters();
  document["components"]["responses"] = commonResponses();
  std::set<std::string> taken = {"problem"};
  for (const auto& [name, table] : exposure.tables) {
    std::string component = componentName(name);
    while (!taken.insert(component).second) component += '_';
    TablePart(table, exposure, std::move(component), document).write();
  }
  if (options.batch) document["paths"]["/batch"] = batchPath(exposure);
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace roost::tables
