#include "server/server_config.h"

#include <catch2/catch.hpp>
#include <string>

#include "unit/module/tiny_module.h"

using namespace roost;
using namespace roost::server;

namespace {

// Reads configurations of a program whose only module is "static", of the tests.
class Fixture {
 public:
  Fixture() : registry_(modules()), schema_(registry_.schema()) {}

  ServerConfigResult read(const std::string& text) {
    loaded_ = config::loadText(text, "/t/conf/server.json", *schema_);
    INFO(loaded_.errorText());
    REQUIRE(loaded_.ok());
    return readServerConfig(loaded_.config->root(), registry_, {0, 2, 5});
  }
  ServerConfig good(const std::string& text) {
    ServerConfigResult result = read(text);
    REQUIRE(result.errors.empty());
    REQUIRE(result.config.has_value());
    return std::move(*result.config);
  }
  std::string errors(const std::string& text) {
    std::string out;
    const ServerConfigResult result = read(text);
    REQUIRE_FALSE(result.config.has_value());
    for (const config::Diagnostic& error : result.errors) {
      out += std::to_string(error.where.line) + ":" + std::to_string(error.where.column) + " " +
             error.message + "\n";
    }
    return out;
  }

 private:
  std::vector<std::unique_ptr<module::Module>> modules() {
    std::vector<std::unique_ptr<module::Module>> modules;
    modules.push_back(std::make_unique<module::test::TinyModule>("static", notes_));
    return modules;
  }
  module::test::Notes notes_;
  module::Registry registry_;
  Result<config::Schema> schema_;
  config::LoadResult loaded_;
};

}  // namespace

TEST_CASE("an empty configuration gives a server", "[server]") {
  Fixture fixture;
  const ServerConfig config = fixture.good("{}");
  REQUIRE(config.listeners.size() == 1);
  CHECK(config.listeners[0].address.toString() == "127.0.0.1:4507");
  CHECK(config.io_threads == 3);  // one for each processor
  CHECK(config.connection_limit == UINT64_MAX);
  CHECK(config.processors.empty());
  CHECK(config.accept == AcceptMode::kHandoff);
  CHECK(config.blocked.empty());
  CHECK_FALSE(config.mysql_wanted);
  CHECK(config.log.directory == "/t/logs");
  CHECK(config.service != nullptr);
}

TEST_CASE("listeners of every kind", "[server]") {
  Fixture fixture;
  const ServerConfig config = fixture.good(R"({"listen": [
    {"address": "0.0.0.0", "port": 80, "backlog": 5, "tcp_nodelay": "off", "defer_accept_s": 7},
    {"address": "::1", "port": 81, "ipv6_only": false}, {"unix": "run/x.sock", "unix_mode": "0600"}]})");
  REQUIRE(config.listeners.size() == 3);
  CHECK(config.listeners[0].address.toString() == "0.0.0.0:80");
  CHECK(config.listeners[0].backlog == 5);
  CHECK_FALSE(config.listeners[0].tcp_nodelay);
  CHECK(config.listeners[0].defer_accept_s == 7);
  CHECK(config.listeners[1].address.toString() == "[::1]:81");
  CHECK_FALSE(config.listeners[1].ipv6_only);
  CHECK(config.listeners[2].address.toString() == "unix:/t/run/x.sock");
  CHECK(config.listeners[2].unix_mode == 0600);
}

TEST_CASE("the same listener twice is told", "[server]") {
  Fixture fixture;
  CHECK(fixture.errors("{\"listen\": [{\"port\": 4801},\n {\"port\": 4801}]}") ==
        "2:2 listens twice on 0.0.0.0:4801, first at /t/conf/server.json:1\n");
  CHECK(fixture.errors(R"({"listen": [{"address": "::1"}, {"address": "[::1]", "port": 4507}]})")
            .find("listens twice on [::1]:4507") != std::string::npos);
  CHECK(fixture.errors(R"({"listen": [{"unix": "a"}, {"unix": "b"}, {"unix": "a"}]})")
            .find("listens twice on unix:/t/a") != std::string::npos);
  CHECK(fixture.good(R"({"listen": [{"port": 0}, {"port": 0}]})").listeners.size() == 2);
  CHECK(
      fixture.good(R"({"listen": [{"address": "127.0.0.1"}, {"address": "127.0.0.2"}]})").listeners.size() ==
      2);
}

TEST_CASE("threads, processors and limits", "[server]") {
  Fixture fixture;
  CHECK(fixture.good(R"({"worker_processes": 7})").io_threads == 7);
  CHECK(fixture.good(R"({"worker_connections": 9})").connection_limit == 9);
  CHECK(fixture.good(R"({"task_processes": 0})").task_threads == 0);
  CHECK(fixture.good(R"({"cpu_affinity": "on"})").processors == std::vector<int>{0, 2, 5});
  CHECK(fixture.good(R"({"cpu_affinity": [5, 0]})").processors == std::vector<int>{5, 0});
  CHECK(fixture.good(R"({"accept": "reuseport"})").accept == AcceptMode::kReusePort);
  CHECK(fixture.good(R"({"mysql": {"mysql_started": "on"}})").mysql_wanted);
}

TEST_CASE("what the schema cannot see is told where it stands", "[server]") {
  Fixture fixture;
  CHECK(fixture.errors("{\n \"address\": \"localhost\"\n}").find("2:13 \"localhost\" is not an IP address") ==
        0);
  const std::string text = R"({
  "blocks_ip": ["10.0.0.0/8", "10.0.0.0/33",
                "nonsense"],
  "worker_connections": 0,
  "cpu_affinity": [0, 1],
  "http": {"sites": [{"routes": [{"path": "/a//b", "static": {}}]}]}
})";
  const std::string errors = fixture.errors(text);
  INFO(errors);
  CHECK(errors.find("2:31 ") != std::string::npos);
  CHECK(errors.find("3:17 ") != std::string::npos);
  CHECK(errors.find("4:25 ") != std::string::npos);
  CHECK(errors.find("5:23 this process may not use processor 1, only 0, 2, 5") != std::string::npos);
  CHECK(errors.find("6:43 ") != std::string::npos);
}
