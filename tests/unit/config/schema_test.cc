#include "config/schema.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "config/schema_impl.h"
#include "unit/config/fixture.h"

using namespace roost;
using namespace roost::config;
using namespace roost::config::test;

namespace {

std::string assembleError(const std::string& core, const std::vector<SchemaFragment>& fragments = {}) {
  const auto schema = Schema::assemble(core, fragments);
  return schema.ok() ? "" : schema.status().message();
}

}  // namespace

TEST_CASE("numbers whose name ends in a unit say the same unit", "[config]") {
  const auto walk = [](const SchemaJson& schema, const auto& self) -> void {
    if (schema.contains("items")) self(schema["items"], self);
    if (!schema.contains("properties")) return;
    for (const auto& [key, member] : schema["properties"].items()) {
      const std::pair<std::string, std::string> units[] = {{"_ms", "ms"}, {"_s", "s"}, {"_bytes", "bytes"}};
      for (const auto& [ending, unit] : units) {
        const bool ends =
            key.size() > ending.size() && key.compare(key.size() - ending.size(), ending.size(), ending) == 0;
        INFO(key);
        if (ends) CHECK(textOf(member, "x-unit") == unit);
      }
      self(member, self);
    }
  };
  walk(fullSchema().impl().json, walk);
}

TEST_CASE("a schema that is no JSON is refused", "[config]") {
  CHECK(assembleError("{").find("not JSON") != std::string::npos);
  CHECK(assembleError("[]").find("not an object") != std::string::npos);
  CHECK(assembleError(std::string(coreSchemaText()), {{"x", "nope"}})
            .find("schema x: the module's schema is not JSON") == 0);
}

TEST_CASE("a word of JSON Schema that the reader does not know is refused", "[config]") {
  CHECK(assembleError(R"({"type": "object", "properties": {"a": {"type": "integer", "multipleOf": 3}}})") ==
        "schema /a: the word \"multipleOf\" is not known here");
  CHECK(assembleError(R"({"type": "array", "items": {"type": "string", "format": "date"}})") ==
        "schema /items: the word \"format\" is not known here");
  CHECK(assembleError(R"({"type": "object", "additionalProperties": {"not": {}}})") ==
        "schema /additionalProperties: the word \"not\" is not known here");
}

TEST_CASE("a schema without a type, or a pattern without a bound, is refused", "[config]") {
  CHECK(assembleError("{}") == "schema /: no type");
  CHECK(assembleError(R"({"type": "string", "pattern": "^a"})").find("a pattern needs a maxLength") !=
        std::string::npos);
}

TEST_CASE("a module's key must be new, and needs routes to stand in", "[config]") {
  const std::string core(coreSchemaText());
  const char* any = R"({"type": "object"})";
  CHECK(assembleError(core, {{"a", any}, {"a", any}}) == "schema a: two modules have this key");
  CHECK(assembleError(core, {{"path", any}}) == "schema path: two modules have this key");
  CHECK(assembleError(R"({"type": "object"})", {{"a", any}}).find("no routes") != std::string::npos);
}

TEST_CASE("an inherited key stands in routes, sites and http", "[config][regression]") {
  const auto schema = Schema::assemble(coreSchemaText(), {{"f", R"({"type": "object"})", false, true}});
  REQUIRE(schema.ok());
  const auto json = nlohmann::json::parse(schema->text());
  const auto& http = json["properties"]["http"]["properties"];
  const auto& site = http["sites"]["items"]["properties"];
  CHECK(http.contains("f"));
  CHECK(site.contains("f"));
  CHECK(site["routes"]["items"]["properties"].contains("f"));
  CHECK(http["f"]["type"].dump() == R"(["object","null"])");
}

TEST_CASE("a listener has at most one key that says who speaks there", "[config]") {
  const char* any = R"({"type": "object"})";
  CHECK(assembleError(std::string(coreSchemaText()), {{"port", any, false, false, true}}) ==
        "schema port: this key is taken");
  CHECK(assembleError(R"({"type": "object"})", {{"a", any, false, false, true}}) ==
        "schema a: no listeners to put a module's key in");

  const auto schema = Schema::assemble(
      coreSchemaText(), {{"a", any, false, false, true}, {"b", any, false, false, true}, {"static", any}});
  REQUIRE(schema.ok());
  const auto errors = [&](const std::string& listener) {
    return loadText(R"({"listen": [)" + listener + "]}", "/t.json", *schema, World().surroundings())
        .errorText();
  };
  CHECK(errors(R"({"port": 1}, {"port": 2, "a": {}}, {"port": 3, "b": {}})").empty());
  CHECK(errors(R"({"a": {}, "b": {}})") ==
        "/t.json:1:23: error: listen[0]: \"a\" and \"b\" exclude each other\n");
  CHECK(errors(R"({"static": {}})").find("unknown key") != std::string::npos);
}

TEST_CASE("the printed schema tells editors of include and of the one handler", "[config]") {
  const auto json = nlohmann::json::parse(fullSchema().text());
  CHECK(json["properties"]["include"]["$ref"] == "#/definitions/include");
  CHECK(json["definitions"].contains("include"));
  const auto& route =
      json["properties"]["http"]["properties"]["sites"]["items"]["properties"]["routes"]["items"];
  CHECK(route["oneOf"].size() == 1);
  CHECK(route["properties"].contains("static"));
}

TEST_CASE("the validating library finds what is wrong on its own", "[config]") {
  Value root;
  root.kind = Kind::kObject;
  Value port;
  port.key = "port";
  port.kind = Kind::kInt;
  port.integer = 70000;
  root.children.push_back(port);
  Errors errors;
  fullSchema().impl().validator->validate(root, errors);
  CHECK(errors.any());
  root.children[0].integer = 70;
  Errors none;
  fullSchema().impl().validator->validate(root, none);
  CHECK_FALSE(none.any());
}
