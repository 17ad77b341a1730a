// The schema of the whole program: what editors use, and what every key says of itself.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "config/config.h"
#include "config/schema_impl.h"
#include "module/registry.h"
#include "server/builtin_modules.h"

using namespace roost;
using namespace roost::config;

namespace {

const Schema& wholeSchema() {
  static const module::Registry registry(server::makeBuiltinModules());
  static const Result<Schema> schema = registry.schema();
  return schema.value();
}

// A key has a type, a meaning, and either a default or a reason to have none.
void checkKeys(const SchemaJson& schema, const std::string& path) {
  INFO(path);
  CHECK(schema.contains("type"));
  CHECK(schema.contains("description"));
  if (schema.contains("properties")) {
    CHECK(schema.contains("additionalProperties"));
    for (const auto& [key, member] : schema["properties"].items()) {
      INFO(key);
      const bool is_required = schema.contains("required") &&
                               schema["required"].dump().find("\"" + key + "\"") != std::string::npos;
      const bool has_default = member.contains("default") || is_required || flagOf(member, "x-handler") ||
                               flagOf(member, "x-inherited") || flagOf(member, "x-speaker") ||
                               member.contains("x-default-text");
      CHECK(has_default);
      checkKeys(member, path + "/" + key);
    }
  }
  const auto others = schema.find("additionalProperties");
  if (others != schema.end() && others->is_object()) checkKeys(*others, path + "/*");
  // An item that is an object is described by the list it stands in.
  if (schema.contains("items")) {
    SchemaJson items = schema["items"];
    if (items.contains("properties")) items["description"] = "";
    checkKeys(items, path + "[]");
  }
}

}  // namespace

TEST_CASE("conf/server.schema.json is what --print-schema prints", "[schema]") {
  std::ifstream in("conf/server.schema.json", std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(in), {}};
#ifdef ROOST_HAS_DATABASE
  REQUIRE(file == wholeSchema().text());  // otherwise: ./build.sh generate
#else
  SchemaJson known = SchemaJson::parse(file);
  SchemaJson& route =
      known["properties"]["http"]["properties"]["sites"]["items"]["properties"]["routes"]["items"];
  for (const std::string key : {"mysql_rest", "mysql_query"}) {
    CHECK(route["properties"].erase(key) == 1);
    SchemaJson& handlers = route["oneOf"];
    for (size_t i = 0; i < handlers.size(); ++i) {
      if (handlers[i]["required"][0] == key) handlers.erase(i);
    }
  }
  REQUIRE(known == SchemaJson::parse(wholeSchema().text()));
#endif
}

TEST_CASE("every key of the schema has a type, a meaning and a default", "[schema]") {
  checkKeys(wholeSchema().impl().json, "");
}

TEST_CASE("conf/server.json serves html/ on 127.0.0.1:4507", "[config]") {
  const LoadResult result = load("conf/server.json", wholeSchema());
  INFO(result.errorText());
  REQUIRE(result.ok());
  const Node root = result.config->root();
  CHECK(root["listen"].at(0)["address"].asString() == "127.0.0.1");
  CHECK(root["listen"].at(0)["port"].asInt() == 4507);
  CHECK(root["http"]["root_path"].asString() == std::filesystem::current_path().string() + "/html");
}

TEST_CASE("conf/push.json is good", "[config]") {
  const LoadResult result = load("conf/push.json", wholeSchema());
  INFO(result.errorText());
  CHECK(result.ok());
}
