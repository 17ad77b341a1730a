#include <catch2/catch.hpp>

#include "unit/config/fixture.h"

using namespace roost::config;
using namespace roost::config::test;

namespace {

// What a string becomes, by way of a key that takes any text.
std::string expanded(const World& world, const std::string& text) {
  const LoadResult result = world.load("{\"mysql\": {\"user\": \"" + text + "\"}}");
  return result.ok() ? result.config->root()["mysql"]["user"].asString() : errorsOf(result);
}

const World kWorld{
    {{"NAME", "roost"}, {"EMPTY", ""}, {"_A1", "x"}, {"PORT", "8080"}, {"ON", "on"}, {"YES", "true"}}, {}};

}  // namespace

TEST_CASE("references are replaced anywhere in a string", "[config]") {
  CHECK(expanded(kWorld, "${NAME}") == "roost");
  CHECK(expanded(kWorld, "a ${NAME} b ${_A1}${_A1}") == "a roost b xx");
  CHECK(expanded(kWorld, "${EMPTY}") == "");
}

TEST_CASE("a default stands in for a variable that is not set, not for an empty one", "[config]") {
  CHECK(expanded(kWorld, "${NONE:x}") == "x");
  CHECK(expanded(kWorld, "${NONE:}") == "");
  CHECK(expanded(kWorld, "${NONE:a:b c}") == "a:b c");
  CHECK(expanded(kWorld, "${NAME:x}") == "roost");
  CHECK(expanded(kWorld, "${EMPTY:x}") == "");
}

TEST_CASE("a variable that is not set and has no default is an error, said once", "[config]") {
  const LoadResult result = kWorld.load("{\"port\": \"${NONE}\"}");
  CHECK(
      errorsOf(result) ==
      "t.json:1:10: error: the environment variable NONE is not set; ${NONE:...} would give it a default\n");
}

TEST_CASE("dollars that begin no reference stand for themselves", "[config]") {
  CHECK(expanded(kWorld, "$ $NAME 5$ $") == "$ $NAME 5$ $");
  CHECK(expanded(kWorld, "$${NAME}") == "${NAME}");
  CHECK(expanded(kWorld, "${NAME}$${NAME}") == "roost${NAME}");
}

TEST_CASE("malformed references are errors", "[config]") {
  CHECK(expanded(kWorld, "a${NAME").find("never closed") != std::string::npos);
  CHECK(expanded(kWorld, "${}").find("is not the name of an environment variable") != std::string::npos);
  CHECK(expanded(kWorld, "${1A}").find("is not the name") != std::string::npos);
  CHECK(expanded(kWorld, "${A B}").find("is not the name") != std::string::npos);
  CHECK(expanded(kWorld, "${A:${NAME}}").find("cannot stand within another") != std::string::npos);
}

TEST_CASE("a string of one reference becomes the number or switch the schema wants", "[config]") {
  const LoadResult result = kWorld.load(
      R"({"port": "${PORT}", "worker_processes": "${N:3}", "log": {"async": "${ON}"}, "cpu_affinity": "${YES}"})");
  REQUIRE(result.ok());
  const Node root = result.config->root();
  CHECK(root["listen"].at(0)["port"].asInt() == 8080);
  CHECK(root["worker_processes"].asInt() == 3);
  CHECK(root["log"]["async"].asBool());
  CHECK(root["cpu_affinity"].asBool());
}

TEST_CASE("a reference that may stay text stays text where it is no number", "[config]") {
  const LoadResult result =
      kWorld.load(R"({"worker_processes": "${N:auto}", "mysql": {"password": "${PORT}"}})");
  REQUIRE(result.ok());
  CHECK(result.config->root()["worker_processes"].asString() == "auto");
  CHECK(result.config->root()["mysql"]["password"].asString() == "8080");
}

TEST_CASE("only a string that is nothing but a reference is converted", "[config]") {
  CHECK(errorsOf(kWorld.load(R"({"port": "8${NONE:0}"})")).find("port must be an integer") !=
        std::string::npos);
  CHECK(errorsOf(kWorld.load(R"({"port": "${NAME}"})"))
            .find("port must be an integer, not a string (\"roost\")") != std::string::npos);
  CHECK(errorsOf(kWorld.load(R"({"port": "${NONE:99999}"})")).find("between 0 and 65535") !=
        std::string::npos);
}

TEST_CASE("keys are not expanded", "[config]") {
  CHECK(errorsOf(kWorld.load(R"({"${NAME}": 1})")).find("unknown key \"${NAME}\"") != std::string::npos);
}

TEST_CASE("without a lookup of its own the loader asks the environment", "[config]") {
  REQUIRE(::setenv("ROOST_CONFIG_TEST", "7", 1) == 0);
  const LoadResult result = loadText(R"({"task_processes": "${ROOST_CONFIG_TEST}"})", "t.json", fullSchema());
  ::unsetenv("ROOST_CONFIG_TEST");
  REQUIRE(result.ok());
  CHECK(result.config->root()["task_processes"].asInt() == 7);
}
