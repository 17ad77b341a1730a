#include "config/node.h"

#include <catch2/catch.hpp>
#include <type_traits>

#include "unit/config/fixture.h"

using namespace roost::config;
using namespace roost::config::test;

static_assert(sizeof(Node) == sizeof(void*), "a node is passed by value");
static_assert(!std::is_copy_constructible_v<Config> && std::is_nothrow_move_constructible_v<Config>);

TEST_CASE("a node that does not exist answers everything with nothing", "[config]") {
  const Node none = Node()["a"]["b"].at(3);
  CHECK_FALSE(none.exists());
  CHECK_FALSE((none.isNull() || none.isObject() || none.isArray() || none.isString() || none.isInt() ||
               none.isBool()));
  CHECK(none.asString().empty());
  CHECK((none.asInt() == 0 && none.asDouble() == 0 && !none.asBool() && none.size() == 0));
  for (const Member member : none.members()) FAIL(std::string(member.key));
  CHECK(none.position().line == 0);
  CHECK(errorAt(none, "x").toString() == ": error: x");
}

TEST_CASE("a node of another type answers with nothing", "[config]") {
  const LoadResult result = loadString(R"({"port": 5})");
  const Node port = result.config->root()["listen"].at(0)["port"];
  CHECK(port.isNumber());
  CHECK(port.asDouble() == 5);
  CHECK(port.asString().empty());
  CHECK_FALSE(port["x"].exists());
  CHECK_FALSE(port.at(0).exists());
  CHECK_FALSE(result.config->root()["listen"].at(1).exists());
}

TEST_CASE("free keys are walked through in the file's order", "[config]") {
  const LoadResult result = loadString(R"({"http": {"mime_types": {"z": "a/z", "a": "a/a", "m": "a/m"}}})");
  std::string seen;
  for (const Member member : result.config->root()["http"]["mime_types"].members()) {
    seen += std::string(member.key) + "=" + member.value.asString() + " ";
  }
  CHECK(seen == "z=a/z a=a/a m=a/m ");
}

TEST_CASE("nodes survive the moves of their configuration", "[config]") {
  LoadResult result = loadString(R"({"task_processes": 7})");
  const Node node = result.config->root()["task_processes"];
  const Config moved = std::move(*result.config);
  result = LoadResult();
  CHECK(node.asInt() == 7);
  CHECK(node.position().file == "/srv/site/conf/t.json");
}

TEST_CASE("a later check reports at the value or at its key", "[config]") {
  const LoadResult result = loadString("{\n  \"blocks_ip\": [\"10.0.0.1\",\n    \"10.0.0.300\"]\n}");
  const Node list = result.config->root()["blocks_ip"];
  CHECK(errorAt(list.at(1), "not an address").toString() ==
        "/srv/site/conf/t.json:3:5: error: not an address");
  CHECK(list.keyPosition().column == 3);
  CHECK(list.position().column == 16);
  CHECK(list.at(1).keyPosition().line == 3);
}

TEST_CASE("a default stands where the object that lacks it stands", "[config]") {
  const LoadResult result = loadString("{\n  \"log\": {}\n}");
  const Node level = result.config->root()["log"]["level"];
  CHECK(level.isDefault());
  CHECK((level.position().line == 2 && level.position().column == 10));
}

TEST_CASE("a diagnostic without a line names the file alone", "[config]") {
  CHECK(Diagnostic{{"a.json", 0, 0}, "gone", ""}.toString() == "a.json: error: gone");
  CHECK(Diagnostic{{"a.json", 3, 4}, "odd", "x\n^"}.toString() == "a.json:3:4: error: odd\nx\n^");
}
