#include "tables/openapi_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "tables/openapi_columns.h"
#include "tables/openapi_parts.h"
#include "tables/query_parser.h"

namespace roost::tables::openapi {
namespace {

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

}  // namespace

void describeTable(const ExposedTable& table, const Exposure& exposure, std::string name, Json& document) {
  TablePart(table, exposure, std::move(name), document).write();
}

}  // namespace roost::tables::openapi
