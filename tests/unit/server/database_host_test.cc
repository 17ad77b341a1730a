#ifdef ROOST_HAS_DATABASE
#include "server/database_host.h"

#include <catch2/catch.hpp>
#include <string>

#include "config/config.h"
#include "db/options.h"
#include "module/registry.h"
#include "server/builtin_modules.h"

using namespace roost;
using namespace roost::server;

namespace {

class Fixture {
 public:
  config::Node load(const std::string& text) {
    static const auto schema = module::Registry(makeBuiltinModules()).schema();
    loaded_ = config::loadText(text, "/t/conf/server.json", schema.value());
    INFO(loaded_.errorText());
    REQUIRE(loaded_.ok());
    return loaded_.config->root();
  }
  std::string errors(const std::string& text) {
    std::vector<config::Diagnostic> found;
    DatabaseHost::check(load(text), found);
    std::string out;
    for (const config::Diagnostic& error : found)
      out += std::to_string(error.where.line) + ":" + std::to_string(error.where.column) + " " +
             error.message.substr(0, 20) + "\n";
    return out;
  }

 private:
  config::LoadResult loaded_;
};

}  // namespace

TEST_CASE("what the configuration says of the database is read", "[server]") {
  Fixture fixture;
  const db::Options usual = DatabaseHost::optionsOf(fixture.load(R"({"mysql": {"port": 0}})"));
  CHECK(usual.primary.host == "127.0.0.1");
  CHECK(usual.primary.port == 3306);
  CHECK(usual.primary.unix_socket.empty());
  CHECK(usual.replicas.empty());
  CHECK(usual.driver == db::Driver::kAuto);
  CHECK(usual.tls.mode == db::TlsMode::kOff);
  const db::Options built_in;  // the schema's defaults are those of the structure
  CHECK(usual.max_connections == built_in.max_connections);
  CHECK(usual.max_waiting == built_in.max_waiting);
  CHECK(usual.queue_timeout_ms == built_in.queue_timeout_ms);
  CHECK(usual.connect_timeout_ms == built_in.connect_timeout_ms);
  CHECK(usual.query_timeout_ms == built_in.query_timeout_ms);
  CHECK(usual.stream_timeout_ms == built_in.stream_timeout_ms);
  CHECK(usual.slow_reader_ms == built_in.slow_reader_ms);
  CHECK(usual.idle_timeout_s == built_in.idle_timeout_s);
  CHECK(usual.lifetime_s == built_in.lifetime_s);
  CHECK(usual.leak_report_s == built_in.leak_report_s);
  CHECK(usual.max_statements == built_in.max_statements);
  CHECK(usual.time_zone == built_in.time_zone);

  const db::Options all = DatabaseHost::optionsOf(fixture.load(R"({"mysql": {
    "address": "db", "port": 3307, "unix_socket": "run/m.sock", "user": "u", "password": "p",
    "database_name": "d", "client_flag": 65536, "driver": "threads", "time_zone": "-03:30",
    "max_connections": 2, "max_waiting": 3, "queue_timeout_ms": 4, "connect_timeout_ms": 5,
    "query_timeout_ms": 6, "stream_timeout_ms": 7, "idle_timeout_s": 8, "lifetime_s": 9,
    "leak_report_s": 10, "max_statements": 11, "slow_reader_ms": 12,
    "tls": {"mode": "verify_ca", "ca": "conf/ca.pem", "certificate": "conf/c.pem", "key": "conf/c.key"},
    "replicas": [{"address": "r1"}, {"unix_socket": "/run/r.sock", "port": 1}]}})"));
  CHECK(all.primary.host == "db");
  CHECK(all.primary.port == 3307);
  CHECK(all.primary.unix_socket == "/t/run/m.sock");
  CHECK(all.user == "u");
  CHECK(all.password == "p");
  CHECK(all.database == "d");
  CHECK(all.client_flags == 65536);
  CHECK(all.driver == db::Driver::kThreads);
  CHECK(all.time_zone == "-03:30");
  CHECK(all.max_connections == 2);
  CHECK(all.max_waiting == 3);
  CHECK(all.queue_timeout_ms == 4);
  CHECK(all.connect_timeout_ms == 5);
  CHECK(all.query_timeout_ms == 6);
  CHECK(all.stream_timeout_ms == 7);
  CHECK(all.slow_reader_ms == 12);
  CHECK(all.idle_timeout_s == 8);
  CHECK(all.lifetime_s == 9);
  CHECK(all.leak_report_s == 10);
  CHECK(all.max_statements == 11);
  CHECK(all.tls.mode == db::TlsMode::kVerifyCa);
  CHECK(all.tls.ca_file == "/t/conf/ca.pem");
  CHECK(all.tls.cert_file == "/t/conf/c.pem");
  CHECK(all.tls.key_file == "/t/conf/c.key");
  REQUIRE(all.replicas.size() == 2);
  CHECK(all.replicas[0].host == "r1");
  CHECK(all.replicas[0].port == 3306);
  CHECK(all.replicas[1].unix_socket == "/run/r.sock");
}

TEST_CASE("with a table of descriptors per thread the driver is threads", "[server]") {
  Fixture fixture;
  CHECK(DatabaseHost::optionsOf(fixture.load(R"({"fd_table": "per_thread"})")).driver ==
        db::Driver::kThreads);
  CHECK(fixture.errors(R"({"fd_table": "per_thread"})").empty());
  CHECK(fixture.errors("{\"fd_table\": \"per_thread\", \"mysql\": {\n\"driver\": \"loop\"}}") ==
        "2:11 \"loop\" cannot be wit\n");
}

TEST_CASE("of TLS with the database, what belongs together is there together", "[server]") {
  Fixture fixture;
  CHECK(fixture.errors("{\"mysql\": {\"tls\": {\n\"mode\": \"verify_name\"}}}") ==
        "2:9 a certificate can be\n");
  CHECK(fixture.errors("{\"mysql\": {\"tls\":\n{\"key\": \"k\"}}}") == "2:1 \"certificate\" and \"k\n");
  CHECK(fixture.errors(R"({"mysql": {"tls": {"mode": "required"}}})").empty());
}
#endif
