#include "modules/mysql/rest_config.h"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>

#include "config/config.h"
#include "config/schema.h"

namespace roost::embedded {
extern const std::string_view mysql_rest_schema;
}

namespace roost::modules::mysql {
namespace {

const config::Schema& schema() {
  static const config::Schema made = [] {
    auto result = config::Schema::assemble(config::coreSchemaText(),
                                           {{"mysql_rest", embedded::mysql_rest_schema, true}});
    REQUIRE(result.ok());
    return std::move(result).value();
  }();
  return made;
}

// What is loaded of a route's key; the errors' text where it is refused.
struct Read {
  explicit Read(const std::string& key)
      : loaded(config::loadText(
            R"({"http": {"sites": [{"routes": [{"path": "/data/", "mysql_rest": )" + key + "}]}]}}",
            "test.json", schema())) {
    if (!loaded.ok()) {
      error = loaded.errorText();
      return;
    }
    auto read = RestRouteConfig::fromConfig(
        loaded.config->root()["http"]["sites"].at(0)["routes"].at(0)["mysql_rest"], "/data/");
    if (read.ok()) {
      route = std::move(read).value();
    } else {
      error = read.status().message();
    }
  }
  config::LoadResult loaded;
  RestRouteConfig route;
  std::string error;
};

TEST_CASE("a name alone is a table that can be read", "[mysql]") {
  const Read read(R"({"tables": ["products"]})");
  REQUIRE(read.error.empty());
  REQUIRE(read.route.tables->tables.size() == 1);
  const tables::TableConfig& table = read.route.tables->tables[0];
  CHECK(table.name == "products");
  CHECK(table.alias.empty());
  CHECK(table.methods == tables::kRead);
  CHECK(table.max_rows == 1000);
  CHECK(read.route.openapi);
  CHECK(!read.route.batch);
  CHECK(read.route.max_body_bytes == 1u << 20);
  CHECK(read.route.tables->limits.max_filters == 64);
  CHECK(read.route.tables->bigint == tables::BigNumber::kNumber);
}

TEST_CASE("an object says everything of a table", "[mysql]") {
  const Read read(R"({"tables": [{"name": "orders", "alias": "bookings", "columns": ["id", "status"],
      "read_only": ["id"], "methods": ["GET", "POST", "PATCH", "PUT", "DELETE"], "max_rows": 100,
      "default_rows": 10, "where": "status=neq.hidden", "version": "changed_at", "publish": "news"},
      {"name": "orders"}], "bigint": "string", "decimal": "string", "openapi": "off", "batch": "on",
      "max_body_bytes": 99, "limits": {"max_list": 7, "max_batch": 3, "max_batch_bytes": 5000}})");
  REQUIRE(read.error.empty());
  const tables::TableConfig& table = read.route.tables->tables[0];
  CHECK(table.alias == "bookings");
  CHECK(table.columns == std::vector<std::string>{"id", "status"});
  CHECK(table.read_only == std::vector<std::string>{"id"});
  CHECK(table.methods == tables::kAllMethods);
  CHECK(table.max_rows == 100);
  CHECK(table.default_rows == 10);
  CHECK(table.where == "status=neq.hidden");
  CHECK(table.version == "changed_at");
  CHECK(table.publish == "news");
  CHECK(read.route.tables->tables[1].methods == tables::kRead);
  CHECK(read.route.tables->bigint == tables::BigNumber::kString);
  CHECK(read.route.tables->decimal == tables::BigNumber::kString);
  CHECK(!read.route.openapi);
  CHECK(read.route.batch);
  CHECK(read.route.max_body_bytes == 99);
  CHECK(read.route.tables->limits.max_list == 7);
  CHECK(read.route.tables->limits.max_batch == 3);
  CHECK(read.route.tables->limits.max_batch_bytes == 5000);
  CHECK(read.route.tables->limits.max_depth == 8);
}

TEST_CASE("what contradicts itself is refused by name", "[mysql]") {
  struct Case {
    const char* text;
    const char* says;
  };
  const Case cases[] = {
      {R"({})", "tables"},
      {R"({"tables": []})", "must not be empty"},
      {R"({"tables": [7]})", "must be a string or an object"},
      {R"({"tables": [{"alias": "a"}]})", "has no \"name\""},
      {R"({"tables": [{"name": "a", "methods": ["get"]}]})", "\"GET\""},
      {R"({"tables": [{"name": "a", "alias": "b/c"}]})", "without slashes"},
      {R"({"tables": ["b/c"]})", "tables[0]: a name with a slash"},
      {R"({"tables": ["a", {"name": "c", "alias": "a"}]})", "tables[1]: another table is \"a\""},
      {R"({"tables": ["batch"], "batch": "on"})", "tables[0]: \"batch\" is the path of batches"},
      {R"({"tables": [{"name": "a", "columns": ["x"], "read_only": ["y"]}]})", "names \"y\""},
      {R"({"tables": [{"name": "a", "max_rows": 5, "default_rows": 6}]})", "exceeds"},
      {R"({"tables": ["a"], "limits": {"max_filter": 1}})", "max_filters"},
      {R"({"tables": ["a", {"name": "b", "where": "x=nex.y"}]})", "tables[1].where: x, character 1: "},
      {R"({"tables": [{"name": "b", "where": "x"}]})", "tables[0].where: x"},
      {R"({"tables": [{"name": "b", "where": "x=eq.1&limit=1"}]})", "tables[0].where: only conditions"},
      {R"({"tables": [{"name": "b", "where": "select=id"}]})", "tables[0].where: only conditions"},
      {R"({"tables": [{"name": "b", "where": "x=eq.1&y=eq.2"}], "limits": {"max_filters": 1}})",
       "tables[0].where: "},
  };
  for (const Case& each : cases) {
    CAPTURE(each.text);
    const Read read(each.text);
    CAPTURE(read.error);
    CHECK(read.error.find(each.says) != std::string::npos);
  }
  CHECK(Read(R"({"tables": ["batch"]})").error.empty());
  CHECK(Read(R"({"tables": [{"name": "b/c", "alias": "c"}]})").error.empty());
  const Read nested(R"x({"tables": [{"name": "b", "where": "or=(x.eq.1,not.and(y.is.null,z.in.(2,3)))"}]})x");
  CHECK(nested.error.empty());
}

}  // namespace
}  // namespace roost::modules::mysql
