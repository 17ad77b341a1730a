// What the schema forbids, and how it is said.
#include "config/check.h"

#include <catch2/catch.hpp>

#include "config/foreign_words.h"
#include "unit/config/fixture.h"

using namespace roost::config;
using namespace roost::config::test;

namespace {

// The message alone, of a text with exactly one error.
std::string onlyError(const std::string& text) {
  const LoadResult result = loadString(text);
  INFO(text << "\n" << result.errorText());
  REQUIRE(result.errors.size() == 1);
  return result.errors[0].message;
}

std::string route(const std::string& members) {
  return "{\"http\": {\"sites\": [{\"routes\": [{" + members + "}]}]}}";
}

}  // namespace

TEST_CASE("an unknown key is told with the one that was meant", "[config]") {
  CHECK(onlyError(R"({"prot": 1})") == "unknown key \"prot\": did you mean \"port\"?");
  CHECK(onlyError(R"({"Port": 1})") == "unknown key \"Port\": did you mean \"port\"?");
  CHECK(onlyError(R"({"worker-processes": 1})") ==
        "unknown key \"worker-processes\": did you mean \"worker_processes\"?");
  CHECK(onlyError(R"({"log": {"levl": "INFO"}})") == "unknown key \"levl\" in log: did you mean \"level\"?");
  CHECK(onlyError(R"({"http": {"file_cache": {"max_byte": 1}}})") ==
        "unknown key \"max_byte\" in http.file_cache: did you mean \"max_bytes\"?");
}

TEST_CASE("an unknown key that belongs elsewhere is told where", "[config]") {
  CHECK(onlyError(R"({"max_body_size": 1})") == "unknown key \"max_body_size\": it belongs in \"http\"");
  CHECK(onlyError(R"({"http": {"task_processes": 1}})") ==
        "unknown key \"task_processes\" in http: it belongs in the outermost object");
}

TEST_CASE("a key of nginx's or Caddy's is told with the one that it is here", "[config][regression]") {
  CHECK(onlyError(R"({"http": {"server_name": "a"}})") ==
        "unknown key \"server_name\" in http: write \"host\" in an entry of http.sites");
  CHECK(onlyError(R"({"http": {"keepalive_timeout": 1}})") ==
        "unknown key \"keepalive_timeout\" in http: write http.keep_alive_timeout_ms");
  CHECK(onlyError(R"({"events": {}})").find("worker_connections") != std::string::npos);
  for (const char* proxies : {"proxy_pass", "upstream", "reverse_proxy"}) {
    const std::string error = onlyError(route(R"("path": "/", ")" + std::string(proxies) + R"(": "x")"));
    CHECK(error.find("forwards no requests") != std::string::npos);
  }
  CHECK(onlyError(R"({"ssl_certificate": "x"})").find("does not speak TLS yet") != std::string::npos);
  CHECK(onlyError(route(R"("path": "/", "file_server": {})")).find("write \"static\"") != std::string::npos);
}

TEST_CASE("no word of another server's is a key here", "[config]") {
  for (const char* word : {"server_name", "location", "proxy_pass", "encode", "handle", "header", "return",
                           "pid", "import", "bind", "tls", "ssl", "uri"}) {
    INFO(word);
    CHECK_FALSE(foreignHint(word).empty());
  }
  CHECK(foreignHint("listen").empty());
}

TEST_CASE("an unknown key that resembles nothing is told without a guess", "[config]") {
  CHECK(onlyError(R"({"zebra_crossing": 1})") == "unknown key \"zebra_crossing\"");
  CHECK(onlyError(R"({"": 1})") == "unknown key \"\"");
}

TEST_CASE("an old spelling is never suggested", "[config]") {
  CHECK(onlyError(R"({"log": {"ansync_starte": "on"}})").find("ansync_started") == std::string::npos);
}

TEST_CASE("a wrong type says what is wanted and what was found", "[config]") {
  CHECK(onlyError(R"({"port": true})") == "port must be an integer, not a boolean (true)");
  CHECK(onlyError(R"({"port": "80"})") ==
        "port must be an integer, not a string (\"80\"): write 80 without quotes");
  CHECK(onlyError(R"({"port": null})") == "port must be an integer, not null");
  CHECK(onlyError(R"({"port": 80.5})") == "port must be an integer, not a number (80.5)");
  CHECK(onlyError(R"({"port": [80]})") == "port must be an integer, not a list");
  CHECK(onlyError(R"({"http": []})") == "http must be an object, not a list");
  CHECK(onlyError(R"({"blocks_ip": "10.0.0.1"})") == "blocks_ip must be a list, not a string (\"10.0.0.1\")");
  CHECK(onlyError(R"({"blocks_ip": ["10.0.0.1", 7]})") ==
        "blocks_ip[1] must be a string, not an integer (7)");
  CHECK(onlyError(R"({"listen": {"port": 80}})") == "listen must be a list, not an object");
}

TEST_CASE("a value of several types names them all", "[config]") {
  CHECK(onlyError(R"({"worker_processes": "four"})") ==
        "worker_processes must be an integer or \"auto\", not \"four\"");
  CHECK(onlyError(R"({"worker_processes": "4"})") ==
        "worker_processes must be an integer or \"auto\", not \"4\": write 4 without quotes");
  CHECK(onlyError(R"({"worker_processes": 0})") ==
        "worker_processes must be between 1 and 1024 or \"auto\", not 0");
  CHECK(onlyError(R"({"cpu_affinity": "yes"})") ==
        "cpu_affinity must be \"on\" or \"off\" or a list, not \"yes\"");
}

TEST_CASE("a number out of range says the range, its unit and the number", "[config]") {
  CHECK(onlyError(R"({"port": 65536})") == "port must be between 0 and 65535, not 65536");
  CHECK(onlyError(R"({"port": -1})") == "port must be between 0 and 65535, not -1");
  CHECK(onlyError(R"({"http": {"head_timeout_ms": 0}})") ==
        "http.head_timeout_ms must be between 1 and 86400000 ms, not 0");
  CHECK(onlyError(R"({"http": {"max_fields": 129}})") ==
        "http.max_fields must be between 1 and 128 fields, not 129");
}

TEST_CASE("numbers beyond 64 bits are too large, not wrapped", "[config]") {
  CHECK(onlyError(R"({"port": 18446744073709551617})") == "port is too large a number");
  CHECK(onlyError(R"({"port": 18446744073709551615})") == "port is too large a number");
  CHECK(onlyError(R"({"port": -9223372036854775809})") == "port is too large a number");
  CHECK(onlyError(R"({"port": 9223372036854775807})") ==
        "port must be between 0 and 65535, not 9223372036854775807");
  CHECK(onlyError(R"({"port": 1e30})") == "port is too large a number");
}

TEST_CASE("a whole number may be written with a point or an exponent", "[config]") {
  const LoadResult result = loadString(R"({"port": 80.0, "http": {"max_body_size": 1e6}})");
  REQUIRE(result.ok());
  CHECK(result.config->root()["listen"].at(0)["port"].asInt() == 80);
  CHECK(result.config->root()["http"]["max_body_size"].asInt() == 1000000);
}

TEST_CASE("limits themselves are allowed", "[config]") {
  for (const char* text :
       {R"({"port": 0})", R"({"port": 65535})", R"({"worker_connections": -1})", R"({"worker_processes": 1})",
        R"({"task_processes": 0})", R"({"http": {"max_fields": 128}})"}) {
    CHECK(loadString(text).ok());
  }
}

TEST_CASE("a word that is not in the list is told with the list and a guess", "[config]") {
  CHECK(onlyError(R"({"log": {"level": "info"}})") ==
        "log.level must be \"DEBUG\", \"INFO\", \"WARN\" or \"ERROR\", not \"info\": did you mean \"INFO\"?");
  CHECK(onlyError(R"({"accept": "x"})") == "accept must be \"handoff\" or \"reuseport\", not \"x\"");
}

TEST_CASE("switches are on and off, true and false, and nothing else", "[config]") {
  for (const char* text : {"\"on\"", "\"off\"", "true", "false"}) {
    CHECK(loadString(std::string("{\"log\": {\"async\": ") + text + "}}").ok());
  }
  CHECK(onlyError(R"({"log": {"async": "yes"}})") == "log.async must be \"on\" or \"off\", not \"yes\"");
  CHECK(onlyError(R"({"log": {"async": 1}})") == "log.async must be \"on\" or \"off\", not an integer (1)");
  CHECK(onlyError(R"({"log": {"async": null}})") == "log.async must be \"on\" or \"off\", not null");
}

TEST_CASE("text that would break a response is refused", "[config]") {
  CHECK(onlyError(R"({"http": {"server_header": "a\r\nb"}})") ==
        "http.server_header must be visible ASCII characters, not \"a\\x0d\\x0ab\"");
  CHECK(onlyError(R"({"http": {"mime_types": {"x": "text/plain\r\nA: b"}}})").find("must be a media type") !=
        std::string::npos);
  CHECK(onlyError(route(R"("path": "/", "static": {"cache_control": "a\nb"})")).find("visible ASCII") !=
        std::string::npos);
}

TEST_CASE("lengths are counted in characters", "[config]") {
  CHECK(onlyError(R"({"address": ""})") == "address must not be empty");
  CHECK(onlyError(R"({"blocks_ip": ["1"]})") == "blocks_ip[0] must be at least 2 characters long");
  std::string umlauts;
  for (int i = 0; i < 255; ++i) umlauts += "\xC3\xA4";
  CHECK(loadString("{\"mysql\": {\"user\": \"" + umlauts + "\"}}").ok());
  CHECK(onlyError("{\"mysql\": {\"user\": \"" + umlauts + "a\"}}") ==
        "mysql.user must be at most 255 characters long, not 256");
}

TEST_CASE("lists have bounds", "[config]") {
  CHECK(onlyError(R"({"listen": []})") == "listen must not be empty");
  CHECK(onlyError(R"({"http": {"sites": []}})") == "http.sites must not be empty");
  CHECK(
      onlyError(
          route(
              R"("path": "/", "static": {"index": ["1","2","3","4","5","6","7","8","9","10","11","12","13","14","15","16","17"]})"))
          .find("must have at most 16 entries, not 17") != std::string::npos);
}

TEST_CASE("a long or odd value is quoted shortly and safely", "[config]") {
  const std::string message = onlyError("{\"accept\": \"\\u001b[31m" + std::string(3000, 'x') + "\"}");
  CHECK(message.size() < 250);
  CHECK(message.find("\\x1b[31mxxx") != std::string::npos);
  CHECK(message.find("...\"") != std::string::npos);
}

TEST_CASE("a route has a path or an expression", "[config]") {
  CHECK(loadString(route(R"("regex": "^/a", "static": {})")).ok());
  CHECK(onlyError(route(R"("path": "x", "static": {})")) ==
        "http.sites[0].routes[0].path must be a path that begins with \"/\" or null, not \"x\"");
}

TEST_CASE("a route must have exactly one handler", "[config]") {
  CHECK(onlyError(route(R"("path": "/")")) == "http.sites[0].routes[0] has no handler: one of \"static\"");
  CHECK(onlyError(route(R"("path": "/", "statc": {})")) ==
        "unknown key \"statc\" in http.sites[0].routes[0]: did you mean \"static\"?");
  const char* other = R"({"type": "object", "additionalProperties": false, "properties": {}})";
  const std::string own = fileText("src/modules/static_files/schema.json");
  const auto schema =
      Schema::assemble(coreSchemaText(), {{"static", own}, {"proxy", other}, {"limit", other, false}});
  REQUIRE(schema.ok());
  const auto load = [&schema](const std::string& text) { return loadText(text, "t.json", schema.value()); };
  CHECK(load(route(R"("path": "/", "static": {}, "limit": {})")).ok());
  CHECK(load(route(R"("path": "/", "proxy": {})")).ok());
  CHECK(load(route(R"("path": "/", "limit": {})"))
            .errorText()
            .find("has no handler: one of \"static\", \"proxy\"") != std::string::npos);
  CHECK(load(route(R"("path": "/", "static": {}, "proxy": {})")).errorText() ==
        "t.json:1:61: error: http.sites[0].routes[0] has two handlers: static, proxy\n");
}

TEST_CASE("no more byte ranges may be asked for than a response can hold", "[config]") {
  CHECK(loadString(route(R"("path": "/", "static": {"max_ranges": 32})")).ok());
  CHECK(onlyError(route(R"("path": "/", "static": {"max_ranges": 33})")) ==
        "http.sites[0].routes[0].static.max_ranges must be between 0 and 32 ranges, not 33");
}

TEST_CASE("everything that is wrong is told at once, in the order of the file", "[config]") {
  const LoadResult result = loadString(
      "{\n\"prot\": 1,\n\"log\": {\"level\": \"X\", \"flush_second\": 0},\n\"http\": {\"charset\": "
      "3},\n\"accept\": 1\n}");
  std::vector<int> lines;
  for (const Diagnostic& error : result.errors) lines.push_back(error.where.line);
  CHECK(lines == std::vector<int>{2, 3, 3, 4, 5});
}

TEST_CASE("a book of errors ends after a hundred, counted", "[config]") {
  std::string text = "{";
  for (int i = 0; i < 5000; ++i) text += "\"port" + std::to_string(i) + "\": 1,";
  const LoadResult result = loadString(text + "}");
  REQUIRE(result.errors.size() == kMaxErrors + 1);
  CHECK(result.errors.back().message == "and 4900 more errors");
}

TEST_CASE("a secret is never shown in an error", "[config]") {
  for (const char* text :
       {R"({"mysql": {"password": 987654321}})", R"({"mysql": {"password": ["987654321"]}})"}) {
    CHECK(loadString(text).errorText().find("987654321") == std::string::npos);
  }
}

TEST_CASE("suggestions: near words only, exchanges count once", "[config]") {
  const std::vector<std::string_view> words{"address", "port", "accept", "log"};
  CHECK(nearest("adress", words) == "address");
  CHECK(nearest("prot", words) == "port");
  CHECK(nearest("ADDRESS", words) == "address");
  CHECK(nearest("lgo", words) == "log");
  CHECK(nearest("x", words).empty());
  CHECK(nearest("", words).empty());
  CHECK(nearest("completely", words).empty());
  CHECK(nearest(std::string(5000, 'a'), words).empty());
  CHECK(nearest("port", {}).empty());
}
