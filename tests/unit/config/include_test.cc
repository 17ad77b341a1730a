#include <catch2/catch.hpp>

#include "unit/config/fixture.h"

using namespace roost::config;
using namespace roost::config::test;

namespace {

World worldOf(std::map<std::string, std::string> files) {
  return {{{"WHICH", "a"}}, std::move(files)};
}

std::vector<std::string> strings(Node list) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < list.size(); ++i) out.push_back(list.at(i).asString());
  return out;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("an included object is merged, and the including file wins", "[config]") {
  const World world = worldOf(
      {{"/srv/site/conf/a.json", R"({"task_processes": 5, "log": {"level": "WARN", "format": "json"}})"}});
  const LoadResult result = world.load(R"({"include": "a.json", "log": {"level": "ERROR"}})");
  REQUIRE(result.ok());
  const Node root = result.config->root();
  CHECK(root["task_processes"].asInt() == 5);
  CHECK(root["log"]["level"].asString() == "ERROR");
  CHECK(root["log"]["format"].asString() == "json");
  CHECK_FALSE(root["include"].exists());
  CHECK(result.config->files() == Strings{"/srv/site/conf/t.json", "/srv/site/conf/a.json"});
}

TEST_CASE("of a list of files the later wins", "[config]") {
  const World world = worldOf({{"/srv/site/conf/a.json", R"({"task_processes": 1, "accept": "reuseport"})"},
                               {"/srv/site/conf/b.json", R"({"task_processes": 2})"}});
  const LoadResult result = world.load(R"({"include": ["a.json", "b.json"]})");
  REQUIRE(result.ok());
  CHECK(result.config->root()["task_processes"].asInt() == 2);
  CHECK(result.config->root()["accept"].asString() == "reuseport");
}

TEST_CASE("lists that grow are put one after the other, own entries first", "[config]") {
  const World world = worldOf({{"/srv/site/conf/a.json", R"({"blocks_ip": ["10.0.0.2"]})"},
                               {"/srv/site/conf/b.json", R"({"blocks_ip": ["10.0.0.3"]})"}});
  const LoadResult result = world.load(R"({"include": ["a.json", "b.json"], "blocks_ip": ["10.0.0.1"]})");
  REQUIRE(result.ok());
  CHECK(strings(result.config->root()["blocks_ip"]) == Strings{"10.0.0.1", "10.0.0.2", "10.0.0.3"});
}

TEST_CASE("lists below the outermost object grow in the order of the files too", "[config][regression]") {
  const auto site = [](const std::string& host, const std::string& exempt) {
    return R"({"http": {"sites": [{"host": [")" + host + R"("]}]}, "limits": {"exempt": [")" + exempt +
           R"("]}})";
  };
  const World world = worldOf({{"/srv/site/conf/a.json", site("a", "10.0.0.2")},
                               {"/srv/site/conf/b.json", site("b", "10.0.0.3")},
                               {"/srv/site/conf/c.json", site("c", "10.0.0.4")}});
  const LoadResult result =
      world.load(R"({"include": ["a.json", "b.json", "c.json"], "http": {"sites": [{"host": ["own"]}]}})");
  REQUIRE(result.ok());
  const Node sites = result.config->root()["http"]["sites"];
  Strings hosts;
  for (std::size_t i = 0; i < sites.size(); ++i) hosts.push_back(sites.at(i)["host"].at(0).asString());
  CHECK(hosts == Strings{"own", "a", "b", "c"});
  CHECK(strings(result.config->root()["limits"]["exempt"]) == Strings{"10.0.0.2", "10.0.0.3", "10.0.0.4"});
}

TEST_CASE("other lists replace each other", "[config]") {
  const World world = worldOf({{"/srv/site/conf/a.json", R"({"cpu_affinity": [0, 1]})"}});
  const LoadResult result = world.load(R"({"include": "a.json", "cpu_affinity": [2]})");
  REQUIRE(result.ok());
  CHECK(result.config->root()["cpu_affinity"].size() == 1);
}

TEST_CASE("a site can be a file, and routes and sites grow", "[config]") {
  const World world = worldOf(
      {{"/srv/site/conf/sites/a.json", R"({"host": ["a.example"], "routes": [{"path": "/", "static": {}}]})"},
       {"/srv/site/conf/more.json", R"({"http": {"sites": [{"host": ["b.example"]}]}})"}});
  const LoadResult result = world.load(
      R"({"include": "more.json",
          "http": {"sites": [{"include": "sites/a.json", "routes": [{"path": "/x/", "static": {}}]}]}})");
  REQUIRE(result.ok());
  const Node sites = result.config->root()["http"]["sites"];
  REQUIRE(sites.size() == 2);
  REQUIRE(sites.at(0)["routes"].size() == 2);
  CHECK(sites.at(0)["routes"].at(0)["path"].asString() == "/x/");
  CHECK(strings(sites.at(0)["host"]) == Strings{"a.example"});
  CHECK(strings(sites.at(1)["host"]) == Strings{"b.example"});
}

TEST_CASE("names count from the including file, paths from the first", "[config]") {
  const World world = worldOf({{"/srv/site/conf/d/a.json", R"({"include": "../e/b.json"})"},
                               {"/srv/site/conf/e/b.json", R"({"http": {"root_path": "pub"}})"},
                               {"/etc/c.json", R"({"task_processes": 9})"}});
  const LoadResult result = world.load(R"({"include": ["d/a.json", "/etc/c.json"]})");
  REQUIRE(result.ok());
  CHECK(result.config->root()["http"]["root_path"].asString() == "/srv/site/pub");
  CHECK(result.config->root()["task_processes"].asInt() == 9);
}

TEST_CASE("a file name may come from the environment", "[config]") {
  const World world = worldOf({{"/srv/site/conf/a.json", R"({"task_processes": 4})"}});
  const LoadResult result = world.load(R"({"include": "${WHICH}.json"})");
  REQUIRE(result.ok());
  CHECK(result.config->root()["task_processes"].asInt() == 4);
}

TEST_CASE("errors and positions name the included file", "[config]") {
  const World world = worldOf({{"/srv/site/conf/a.json", "{\n  \"prot\": 1,\n  \"log\": {\"level\": 3}}"}});
  CHECK(errorsOf(world.load(R"({"include": "a.json", "x": 1})")) ==
        "t.json:1:23: error: unknown key \"x\"\n"
        "a.json:2:3: error: unknown key \"prot\": did you mean \"port\"?\n"
        "a.json:3:20: error: log.level must be a string, not an integer (3)\n");
}

TEST_CASE("a syntax error in an included file leaves the rest to be checked", "[config]") {
  const World world = worldOf({{"/srv/site/conf/a.json", "{\"port\" 1}"}});
  const std::string errors = errorsOf(world.load(R"({"include": "a.json", "prot": 1})"));
  CHECK(errors.find("a.json:1:9: error: unexpected number") != std::string::npos);
  CHECK(errors.find("t.json:1:23: error: unknown key \"prot\"") != std::string::npos);
}

TEST_CASE("a file that is missing, empty or no object is an error", "[config]") {
  const World world = worldOf({{"/srv/site/conf/empty.json", ""}, {"/srv/site/conf/list.json", "[]"}});
  CHECK(errorsOf(world.load(R"({"include": "none.json"})")) ==
        "t.json:1:13: error: cannot include \"none.json\": the file does not exist\n");
  CHECK(errorsOf(world.load(R"({"include": "empty.json"})")).find("empty.json: error: the file is empty") ==
        0);
  CHECK(errorsOf(world.load(R"({"include": "list.json"})")) ==
        "list.json:1:1: error: an included file must hold an object, { ... }\n");
}

TEST_CASE("files that include each other in a circle are an error", "[config]") {
  const World world = worldOf({{"/srv/site/conf/a.json", R"({"include": "b.json"})"},
                               {"/srv/site/conf/b.json", R"({"include": "../conf/a.json"})"}});
  CHECK(errorsOf(world.load(R"({"include": "a.json"})")) ==
        "b.json:1:13: error: cannot include \"a.json\": the file includes itself\n");
  CHECK(errorsOf(world.load(R"({"include": "t.json"})")).find("includes itself") != std::string::npos);
}

TEST_CASE("the same file twice, side by side, is no circle", "[config]") {
  const World world = worldOf({{"/srv/site/conf/a.json", R"({"task_processes": 4})"}});
  CHECK(world.load(R"({"include": ["a.json", "a.json"]})").ok());
}

TEST_CASE("depth and number of files are bounded", "[config]") {
  std::map<std::string, std::string> chain;
  for (int i = 0; i < 20; ++i) {
    chain["/srv/site/conf/" + std::to_string(i)] = "{\"include\": \"" + std::to_string(i + 1) + "\"}";
  }
  CHECK(errorsOf(worldOf(chain).load(R"({"include": "0"})")).find("more than 8 levels deep") !=
        std::string::npos);
  std::map<std::string, std::string> tree{{"/srv/site/conf/6", "{}"}};
  for (int i = 0; i < 6; ++i) {
    const std::string next = "\"" + std::to_string(i + 1) + "\"";
    tree["/srv/site/conf/" + std::to_string(i)] = "{\"include\": [" + next + ", " + next + ", " + next + "]}";
  }
  CHECK(errorsOf(worldOf(tree).load(R"({"include": "0"})")).find("more than 256 files") != std::string::npos);
}

TEST_CASE("include must be a name or a list of names", "[config]") {
  for (const char* text :
       {R"({"include": 3})", R"({"include": {}})", R"({"include": ["a", 3]})", R"({"include": null})"}) {
    CHECK(errorsOf(loadString(text)).find("must be a file name or a list of file names") !=
          std::string::npos);
  }
}
