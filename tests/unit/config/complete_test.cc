// What a checked configuration becomes: defaults, short forms, old spellings, absolute paths, the dump.
#include "config/complete.h"

#include <catch2/catch.hpp>

#include "unit/config/fixture.h"

using namespace roost::config;
using namespace roost::config::test;

namespace {

// Loads a text that must be correct and keeps it alive for the test.
struct Loaded {
  explicit Loaded(const std::string& text, const std::string& name = "/srv/site/conf/t.json")
      : result(World().load(text, name)) {
    INFO(result.errorText());
    REQUIRE(result.ok());
  }
  Node operator[](std::string_view key) const { return result.config->root()[key]; }
  LoadResult result;
};

}  // namespace

TEST_CASE("an empty object gives every default", "[config]") {
  const Loaded config("{}");
  CHECK(config["worker_processes"].asString() == "auto");
  CHECK(config["worker_connections"].asInt() == -1);
  CHECK(config["task_processes"].asInt() == 2);
  CHECK((config["cpu_affinity"].isBool() && !config["cpu_affinity"].asBool()));
  CHECK(config["accept"].asString() == "handoff");
  CHECK(config["http"]["max_body_size"].asInt() == 67108864);
  CHECK(config["http"]["file_cache"]["inotify"].asBool());
  CHECK(config["log"]["level"].asString() == "INFO");
  CHECK(config["mysql"]["unix_socket"].isNull());
  CHECK((config["blocks_ip"].isArray() && config["blocks_ip"].size() == 0));
  CHECK(config["log"]["level"].isDefault());
}

TEST_CASE("without listen, address and port make one listener", "[config]") {
  const Loaded defaults("{}");
  REQUIRE(defaults["listen"].size() == 1);
  CHECK(defaults["listen"].at(0)["address"].asString() == "127.0.0.1");
  CHECK(defaults["listen"].at(0)["port"].asInt() == 4507);
  CHECK(defaults["listen"].at(0)["backlog"].asInt() == 4096);
  const Loaded given("{\n \"port\": 80\n}");
  CHECK(given["listen"].at(0)["address"].asString() == "127.0.0.1");
  CHECK(given["listen"].at(0)["port"].asInt() == 80);
  CHECK(given["listen"].at(0)["port"].position().line == 2);
  CHECK(given["listen"].at(0).position().line == 2);
  CHECK_FALSE(given["port"].exists());
}

TEST_CASE("listen entries have defaults of their own", "[config]") {
  const Loaded config(R"({"listen": [{"port": 1}, {"address": "::1"}]})");
  CHECK(config["listen"].at(0)["address"].asString() == "0.0.0.0");
  CHECK(config["listen"].at(1)["port"].asInt() == 4507);
  CHECK(config["listen"].at(1)["tcp_nodelay"].asBool());
  CHECK_FALSE(config["port"].exists());
}

TEST_CASE("listen excludes address and port", "[config]") {
  CHECK(errorsOf(loadString("{\"listen\": [{}],\n \"port\": 80, \"address\": \"::\"}")) ==
        "t.json:2:2: error: \"port\" and \"listen\" (line 1) exclude each other: put the port into an entry "
        "of \"listen\"\n"
        "t.json:2:14: error: \"address\" and \"listen\" (line 1) exclude each other: put the address into an "
        "entry of "
        "\"listen\"\n");
}

TEST_CASE("a Unix-domain listener has no address and no port", "[config]") {
  const Loaded config(R"({"listen": [{"unix": "run/s.sock", "unix_mode": "0600"}]})");
  const Node entry = config["listen"].at(0);
  CHECK(entry["unix"].asString() == "/srv/site/run/s.sock");
  CHECK_FALSE(entry["port"].exists());
  CHECK_FALSE(entry["address"].exists());
  CHECK(errorsOf(loadString(R"({"listen": [{"unix": "a", "port": 1}]})")) ==
        "t.json:1:27: error: \"port\" and \"unix\" exclude each other\n");
  CHECK(errorsOf(loadString(R"({"listen": [{"unix": "a", "unix_mode": "0999"}]})"))
            .find("a file mode in octal") != std::string::npos);
  CHECK(Loaded(R"({"listen": [{"unix": null, "port": 1}]})")["listen"].at(0)["port"].asInt() == 1);
}

TEST_CASE("without sites there is one that serves root_path", "[config]") {
  const Loaded config(R"({"http": {"root_path": "pub/", "charset": "x"}})");
  const Node site = config["http"]["sites"].at(0);
  CHECK(config["http"]["sites"].size() == 1);
  CHECK(site["host"].at(0).asString() == "*");
  CHECK(site["routes"].at(0)["path"].asString() == "/");
  CHECK(site["routes"].at(0)["static"]["root"].asString() == "/srv/site/pub");
  CHECK(site["routes"].at(0)["static"]["charset"].asString() == "x");
  CHECK(site["routes"].at(0)["static"]["alias"].isNull());
}

TEST_CASE("a route's own settings win over what it inherits", "[config]") {
  const Loaded config(
      R"({"http": {"sites": [{"routes": [{"path": "/a/", "static": {"root": "/a", "charset": ""}}]}]}})");
  const Node handler = config["http"]["sites"].at(0)["routes"].at(0)["static"];
  CHECK(handler["root"].asString() == "/a");
  CHECK(handler["charset"].asString().empty());
  CHECK(handler["index"].at(0).asString() == "index.html");
}

TEST_CASE("relative paths count from above conf, otherwise from the file's folder", "[config]") {
  CHECK(Loaded("{}", "/srv/site/conf/x.json")["http"]["root_path"].asString() == "/srv/site/html");
  CHECK(Loaded("{}", "/etc/roost/x.json")["http"]["root_path"].asString() == "/etc/roost/html");
  CHECK(Loaded("{}", "/x.json")["http"]["root_path"].asString() == "/html");
  CHECK(Loaded("{}", "/conf/x.json")["http"]["root_path"].asString() == "/html");
  CHECK(Loaded(R"({"http": {"root_path": "../a/./b/"}})")["http"]["root_path"].asString() == "/srv/a/b");
  CHECK(Loaded(R"({"http": {"root_path": "/"}})")["http"]["root_path"].asString() == "/");
  CHECK(Loaded("{}", "/srv/site/conf/x.json").result.config->baseDirectory() == "/srv/site");
}

TEST_CASE("a path that means none stays empty", "[config]") {
  const Loaded config(R"({"log": {"path": ""}})");
  CHECK(config["log"]["path"].asString().empty());
  CHECK(config["pid_file"].asString().empty());
}

TEST_CASE("old spellings move to their keys", "[config]") {
  const Loaded config(R"({"log": {"ansync_started": "off"}, "root_path": "pub"})");
  CHECK((config["log"]["async"].isBool() && !config["log"]["async"].asBool()));
  CHECK_FALSE(config["log"]["ansync_started"].exists());
  CHECK(config["http"]["root_path"].asString() == "/srv/site/pub");
  CHECK_FALSE(config["root_path"].exists());
  CHECK(Loaded(R"({"root_path": null})")["http"]["root_path"].asString() == "/srv/site/html");
}

TEST_CASE("an old spelling beside the new one is an error", "[config]") {
  CHECK(errorsOf(loadString(R"({"log": {"async": "on", "ansync_started": "off"}})")) ==
        "t.json:1:25: error: \"ansync_started\" is an old spelling of \"async\", which is given too: remove "
        "it\n");
}

TEST_CASE("switches become booleans and lists stay lists", "[config]") {
  CHECK(Loaded(R"({"cpu_affinity": "on"})")["cpu_affinity"].asBool());
  CHECK(Loaded(R"({"cpu_affinity": [3, 1]})")["cpu_affinity"].at(0).asInt() == 3);
  CHECK_FALSE(Loaded(R"({"http": {"system_mime_types": "off"}})")["http"]["system_mime_types"].asBool());
}

TEST_CASE("an editor's schema reference is ignored", "[config]") {
  CHECK_FALSE(Loaded(R"({"$schema": "./server.schema.json"})")["$schema"].exists());
}

TEST_CASE("a dump loads again to the same", "[config]") {
  const char* texts[] = {
      "{}", R"({"port": 1, "mysql": {"user": "$${x} $ ${N:v}"}})",
      R"({"listen": [{"unix": "s"}, {"address": "::", "port": 2}], "cpu_affinity": [1, 0]})",
      R"({"http": {"mime_types": {"z": "a/z", "b": "a/b"}, "sites": [{"host": ["a"]}]}, "log": {"ansync_started": "off"}})"};
  for (const char* text : texts) {
    const std::string dump = Loaded(text).result.config->dump();
    CHECK(Loaded(dump).result.config->dump() == dump);
  }
}

TEST_CASE("a dump masks secrets, shows paths resolved and follows the schema's order", "[config]") {
  const std::string dump =
      Loaded(R"({"mysql": {"password": "hunter2"}, "accept": "reuseport", "task_processes": 3})")
          .result.config->dump();
  CHECK(dump.find("hunter2") == std::string::npos);
  CHECK(dump.find("\"password\": \"********\"") != std::string::npos);
  CHECK(dump.find("\"root_path\": \"/srv/site/html\"") != std::string::npos);
  CHECK(dump.find("\"task_processes\"") < dump.find("\"accept\""));
  CHECK(Loaded("{}").result.config->dump().find("********") == std::string::npos);
}

TEST_CASE("a dump survives bytes that are no UTF-8", "[config]") {
  World world;
  world.variables["X"] = "\xff\xfe";
  const LoadResult result = world.load(R"({"mysql": {"user": "${X}"}})");
  REQUIRE(result.ok());
  CHECK(result.config->root()["mysql"]["user"].asString() == "\xff\xfe");
  CHECK(result.config->dump().find("\xEF\xBF\xBD") != std::string::npos);
}
