#include "tables/openapi.h"

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tables/openapi_columns.h"
#include "unit/tables/hand_made.h"

namespace roost::tables {
namespace {

using Json = nlohmann::json;

std::shared_ptr<const Exposure> exposureOf(std::vector<TableConfig> tables,
                                           std::shared_ptr<Catalog> catalog = handMadeCatalog()) {
  auto config = std::make_shared<RestConfig>();
  config->tables = std::move(tables);
  std::vector<std::string> complaints;
  return expose(std::move(catalog), std::move(config), complaints);
}

Json documentOf(std::vector<TableConfig> tables) {
  return Json::parse(openApiDocument(*exposureOf(std::move(tables)), {"/data/", false}));
}

void forEachReference(const Json& value, const std::function<void(const std::string&)>& fn) {
  if (value.is_object() && value.contains("$ref")) fn(value["$ref"]);
  if (value.is_structured())
    for (const Json& member : value) forEachReference(member, fn);
}

TEST_CASE("a table is a path, with the methods that it allows", "[tables]") {
  const Json document = documentOf({shownTable("orders", kAllMethods), shownTable("customers")});
  CHECK(document["openapi"] == "3.1.0");
  CHECK(document["servers"][0]["url"] == "/data");
  CHECK(document["paths"].size() == 3);
  const Json& orders = document["paths"]["/orders"];
  for (const char* const method : {"get", "post", "patch", "put", "delete"}) CHECK(orders.contains(method));
  CHECK(orders["get"]["description"] == "what was bought");
  CHECK(document["paths"]["/customers"].size() == 1);
  std::set<std::string> operations;
  for (const auto& [path, operation] : document["paths"].items())
    for (const Json& each : operation) CHECK(operations.insert(each["operationId"]).second);
  forEachReference(document, [&](const std::string& reference) {
    CAPTURE(reference);
    CHECK(document.contains(Json::json_pointer(reference.substr(1))));
  });
}

TEST_CASE("schemas say what rows may be", "[tables]") {
  const Json document = documentOf({shownTable("orders", kAllMethods)});
  const Json& schemas = document["components"]["schemas"];
  const Json& read = schemas["orders.selected"]["properties"];
  CHECK(schemas["orders"]["required"] == Json({"id", "customer", "status", "tenant", "total", "sum"}));
  CHECK(read["id"]["type"] == "integer");
  CHECK(read["id"]["maximum"] == UINT64_MAX);
  CHECK(read["id"]["description"] == "Part of the primary key.");
  CHECK(read["customer"]["description"] == "Refers to customers.id.");
  CHECK(read["customer"]["minimum"] == INT32_MIN);
  CHECK(read["status"]["type"] == Json({"string", "null"}));
  CHECK(read["status"]["enum"] == Json({"open", "it's", nullptr}));
  CHECK(read["total"]["description"] == "with tax");
  CHECK(read["total"]["maximum"] == 99999999.99);
  CHECK(read["sum"]["readOnly"] == true);
  CHECK(!read.contains("secret"));
  const Json& made = schemas["orders.new"];
  CHECK(made["required"] == Json({"customer", "tenant", "total"}));
  CHECK(!made["properties"].contains("sum"));
  CHECK(made["additionalProperties"] == false);
  CHECK(!schemas["orders.change"].contains("required"));
}

TEST_CASE("the same exposure gives the same document", "[tables]") {
  const std::vector<TableConfig> tables = {shownTable("orders", kAllMethods), shownTable("customers")};
  const std::string once = openApiDocument(*exposureOf(tables), {"/data/", true});
  CHECK(once == openApiDocument(*exposureOf(tables), {"/data/", true}));
  auto catalog = handMadeCatalog();
  catalog->tables["orders"].columns[3].comment = "whose";
  CHECK(once != openApiDocument(*exposureOf(tables, catalog), {"/data/", true}));
}

TEST_CASE("names of any kind", "[tables]") {
  auto catalog = handMadeCatalog();
  Table odd;
  odd.name = "odd/na me\xc3\xa9";
  odd.columns = {handMadeColumn("a b", db::Type::kInt, "int"), handMadeColumn("a-b", db::Type::kInt, "int"),
                 handMadeColumn("select", db::Type::kInt, "int"),
                 handMadeColumn("q\"u\\o", db::Type::kInt, "int")};
  catalog->tables.emplace(odd.name, odd);
  odd.name = "odd-na me-";
  catalog->tables.emplace(odd.name, odd);
  std::vector<TableConfig> tables = {shownTable("odd/na me\xc3\xa9"), shownTable("odd-na me-")};
  tables[0].alias = "odd-na me\xc3\xa9";
  const Json document = Json::parse(openApiDocument(*exposureOf(tables, catalog), {"/", false}));
  CHECK(document["servers"][0]["url"] == "/");
  CHECK(document["paths"].contains("/odd-na%20me%C3%A9"));
  CHECK(document["paths"].contains("/odd-na%20me-"));
  const std::regex allowed("[a-zA-Z0-9._-]+");
  for (const auto& [kind, components] : document["components"].items())
    for (const auto& [name, component] : components.items()) CHECK(std::regex_match(name, allowed));
  std::set<std::string> names;
  forEachReference(document["paths"]["/odd-na%20me-"]["get"]["parameters"],
                   [&](const std::string& reference) {
                     const Json& parameter = document[Json::json_pointer(reference.substr(1))];
                     if (parameter["in"] == "query") CHECK(names.insert(parameter["name"]).second);
                   });
  for (const char* const name : {"\"a b\"", "\"a-b\"", "\"select\"", "\"q\\\"u\\\\o\"", "select"})
    CHECK(names.count(name) == 1);
}

TEST_CASE("filters that a pattern lets through", "[tables]") {
  auto catalog = handMadeCatalog();
  const Table& orders = catalog->tables["orders"];
  const auto fits = [&](size_t column, const char* filter) {
    return std::regex_search(filter, std::regex(filterPattern(orders, orders.columns[column])));
  };
  struct Case {
    size_t column;
    const char* filter;
    bool fits;
  };
  const Case cases[] = {
      {0, "eq.17", true},         {0, "eq.-17", false},     {1, "not.lt.-17", true},
      {1, "eq.x", false},         {1, "in.(1,2,3)", true},  {1, "in.()", false},
      {1, "gt(any).{1,2}", true}, {1, "is.null", true},     {1, "is.true", false},
      {1, "like.1*", false},      {2, "eq.it's", true},     {2, "eq.shut", false},
      {4, "gte.12.50", true},     {5, "ilike.*a_b%", true}, {5, "eq.", true},
      {5, "isdistinct.x", true},  {5, "fts.word", false},   {5, "nothing", false},
  };
  for (const Case& each : cases) {
    CAPTURE(each.column, each.filter);
    CHECK(fits(each.column, each.filter) == each.fits);
  }
}

}  // namespace
}  // namespace roost::tables
