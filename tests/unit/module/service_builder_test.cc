#include "module/service_builder.h"

#include <catch2/catch.hpp>
#include <string>

#include "config/config.h"
#include "unit/module/tiny_module.h"

using namespace roost;
using namespace roost::module;
using namespace roost::module::test;

namespace {

// A registry of the handler "tiny" and the filter "sieve", and what buildService makes of a text.
class Fixture {
 public:
  Fixture() : registry_(modules()), schema_(registry_.schema()) {}

  ServiceResult build(const std::string& text) {
    loaded_ = config::loadText(text, "/t/site.json", *schema_);
    INFO(loaded_.errorText());
    REQUIRE(loaded_.ok());
    return buildService(loaded_.config->root(), registry_);
  }
  ServiceResult buildSites(const std::string& sites) {
    return build(R"({"http": {"sites": [)" + sites + "]}}");
  }
  // The errors as "line:column message", one per line.
  std::string errors(const std::string& text) {
    std::string out;
    for (const config::Diagnostic& error : build(text).errors) {
      REQUIRE(error.where.file == "/t/site.json");
      out += std::to_string(error.where.line) + ":" + std::to_string(error.where.column) + " " +
             error.message + "\n";
    }
    return out;
  }
  const Notes& notes() const { return notes_; }
  void letTinyUseTheDatabase() { dynamic_cast<TinyModule&>(*registry_.find("tiny")).uses_database = true; }

 private:
  std::vector<std::unique_ptr<Module>> modules() {
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::make_unique<TinyModule>("tiny", notes_));
    modules.push_back(std::make_unique<TinyModule>("sieve", notes_, false));
    return modules;
  }
  Notes notes_;
  Registry registry_;
  Result<config::Schema> schema_;
  config::LoadResult loaded_;
};

std::string routeOf(const ServiceResult& result, std::string_view host, std::string_view path) {
  http::RouteParams params;
  const http::Route& route = result.service->router().find(host, path, params);
  return &route == &route.site->fallback ? "none" : route.path;
}

}  // namespace

TEST_CASE("routes answer their path, or everything below it", "[module]") {
  Fixture fixture;
  const ServiceResult result = fixture.buildSites(
      R"({"routes": [{"path": "/a", "tiny": {}}, {"path": "/b/", "tiny": {}}, {"path": "/b/c/", "tiny": {}}]})");
  REQUIRE(result.ok());
  REQUIRE(result.errors.empty());
  CHECK(routeOf(result, "x", "/a") == "/a");
  CHECK(routeOf(result, "x", "/a/b") == "none");
  CHECK(routeOf(result, "x", "/b/") == "/b/");
  CHECK(routeOf(result, "x", "/b/x/y") == "/b/");
  CHECK(routeOf(result, "x", "/b/c/d") == "/b/c/");
  CHECK(routeOf(result, "x", "/b") == "none");
  CHECK(routeOf(result, "x", "/") == "none");
}

TEST_CASE("hosts match in any case", "[module]") {
  Fixture fixture;
  const ServiceResult result = fixture.buildSites(
      R"({"host": ["Example.ORG"], "routes": [{"path": "/exact", "tiny": {}}]},
         {"host": ["*.Example.org"], "routes": [{"path": "/below", "tiny": {}}]},
         {"host": ["[2001:DB8::1]", "*"], "routes": [{"path": "/other", "tiny": {}}]})");
  REQUIRE(result.ok());
  CHECK(routeOf(result, "example.org", "/exact") == "/exact");
  CHECK(routeOf(result, "EXAMPLE.org", "/exact") == "/exact");
  CHECK(routeOf(result, "www.example.org", "/below") == "/below");
  CHECK(routeOf(result, "[2001:db8::1]", "/other") == "/other");
  CHECK(routeOf(result, "elsewhere", "/other") == "/other");
  CHECK(routeOf(result, "elsewhere", "/exact") == "none");
}

TEST_CASE("limits and timeouts come from the configuration", "[module]") {
  Fixture fixture;
  const ServiceResult result = fixture.build(R"({"http": {
    "max_body_size": 0, "max_discard_body_bytes": 1, "head_timeout_ms": 2, "body_timeout_ms": 3,
    "keep_alive_timeout_ms": 4, "send_timeout_ms": 5, "max_requests_per_connection": 4294967295, "max_fields": 7,
    "max_head_size_bytes": 2048, "max_target_size_bytes": 99, "server_header": "",
    "sites": [{"routes": [{"path": "/", "tiny": {}}]}]}})");
  REQUIRE(result.ok());
  const http::ServiceOptions& options = result.service->options();
  CHECK(options.max_body_bytes == 0);
  CHECK(options.max_discard_body_bytes == 1);
  CHECK(options.head_timeout_ms == 2);
  CHECK(options.body_timeout_ms == 3);
  CHECK(options.keep_alive_timeout_ms == 4);
  CHECK(options.send_timeout_ms == 5);
  CHECK(options.max_requests_per_connection == UINT32_MAX);
  CHECK(options.head_limits.max_fields == 7);
  CHECK(options.head_limits.max_head_bytes == 2048);
  CHECK(options.head_limits.max_target_bytes == 99);
  CHECK(options.server_header.empty());
}

TEST_CASE("a filter stands beside a handler", "[module]") {
  Fixture fixture;
  REQUIRE(fixture.buildSites(R"({"routes": [{"path": "/", "sieve": {}, "tiny": {}}]})").ok());
  REQUIRE(fixture.notes().size() == 2);
}

TEST_CASE("a path that no request can have is refused", "[module]") {
  const auto build = [](const std::string& path) {
    Fixture fixture;
    const ServiceResult result =
        fixture.buildSites(R"({"routes": [{"path": ")" + path + R"(", "tiny": {}}]})");
    REQUIRE(result.ok() == result.errors.empty());
    return result.ok() ? "" : result.errors.front().message;
  };
  CHECK(build("/a//b").find("write \"/a/b\"") != std::string::npos);
  CHECK(build("/a/../b").find("write \"/b\"") != std::string::npos);
  CHECK(build("/a/.").find("write \"/a/\"") != std::string::npos);
  CHECK(build("/..").find("no request can have this path") != std::string::npos);
  CHECK(build("/a?b").find("neither query nor fragment") != std::string::npos);
  CHECK(build("/a#b").find("neither query nor fragment") != std::string::npos);
  CHECK(build("/a\\u0001").find("no request can have this path") != std::string::npos);
  CHECK(build("/100%").empty());
  CHECK(build("/50%off").empty());
  CHECK(build("/a%20b/").find("written decoded, without escapes: write \"/a b/\"") != std::string::npos);
  CHECK(build("/%2541").find("written decoded") != std::string::npos);
  CHECK(build("/%2541").find("/%41") == std::string::npos);  // that would not be taken either
  CHECK(build("/%00").find("written decoded") != std::string::npos);
  CHECK(build("/with space/\\u00fc.html").empty());
}

TEST_CASE("a text that is no host is refused", "[module]") {
  const auto build = [](const std::string& host) {
    Fixture fixture;
    const ServiceResult result =
        fixture.buildSites(R"({"host": [")" + host + R"("], "routes": [{"path": "/", "tiny": {}}]})");
    REQUIRE(result.ok() == result.errors.empty());
    return result.ok() ? "" : result.errors.front().message;
  };
  CHECK(build("example.org:80") == "\"example.org:80\": a host is named without its port");
  CHECK(build("example.org:") == "\"example.org:\": a host is named without its port");
  for (const char* host :
       {"a/b", "http://example.org", "a b", "*.", "**", "*.*.org", "a.*", "*.[::1]", "[::1"}) {
    CAPTURE(host);
    CHECK(build(host).find("is not a host") != std::string::npos);
  }
  CHECK(build("example.org").empty());
  CHECK(build("*.example.org").empty());
  CHECK(build("192.0.2.1").empty());
}

TEST_CASE("everything that is wrong is told at once, where it stands", "[module]") {
  Fixture fixture;
  const std::string text = R"({ "http": { "sites": [
  { "host": ["a.org", "A.org"], "routes": [
    { "path": "/x//y", "tiny": {} },
    { "path": "/z", "tiny": { "refuse": "not today" } },
    { "path": "/w", "tiny": {} },
    { "path": "/w", "tiny": {} } ] },
  { "host": ["a.org"], "routes": [ { "path": "/", "tiny": {} } ] } ] } })";
  REQUIRE(fixture.errors(text) ==
          "2:23 host \"a.org\" is named twice, first at /t/site.json:2\n"
          "3:15 path \"/x//y\": no request can have this path: write \"/x/y\"\n"
          "4:29 not today\n"
          "6:15 path \"/w\" is routed twice, first at /t/site.json:5\n"
          "7:14 host \"a.org\" is named twice, first at /t/site.json:2\n");
}

TEST_CASE("routes have names in their paths, or an expression", "[module]") {
  Fixture fixture;
  const ServiceResult result = fixture.buildSites(
      R"({"routes": [{"path": "/user/{id}/", "tiny": {}}, {"regex": "^/x/(?P<slug>.*)$", "tiny": {}}, {"path": "/a{{b", "tiny": {}}]})");
  REQUIRE(result.ok());
  CHECK(routeOf(result, "x", "/user/5/posts") == "/user/{id}/");
  CHECK(routeOf(result, "x", "/x/y") == "^/x/(?P<slug>.*)$");
  CHECK(routeOf(result, "x", "/a{b") == "/a{{b");
  CHECK(fixture.notes() ==
        Notes{"tiny build /user/{id}/", "tiny build ^/x/(?P<slug>.*)$", "tiny build /a{b"});
}

TEST_CASE("two routes for the same requests are told with both places", "[module]") {
  Fixture fixture;
  const std::string text = R"({ "http": { "sites": [ { "routes": [
    { "path": "/a/{x}", "tiny": {} },
    { "path": "/a/{y}", "tiny": {} },
    { "regex": "^/b", "tiny": {} },
    { "regex": "^/b", "tiny": {} },
    { "regex": "(", "tiny": {} },
    { "path": "/", "regex": "a", "tiny": {} },
    { "tiny": {} } ] } ] } })";
  REQUIRE(fixture.errors(text) ==
          "3:15 path \"/a/{y}\" fits the same requests as \"/a/{x}\" at /t/site.json:2\n"
          "5:16 regex \"^/b\" is routed twice, first at /t/site.json:4\n"
          "6:16 \"(\" is not a regular expression: missing ): (\n"
          "7:29 \"path\" and \"regex\" exclude each other\n"
          "8:5 a route needs a \"path\" or a \"regex\"\n");
}

TEST_CASE("a route that needs the database is refused while that is off", "[module]") {
  Fixture fixture;
  const std::string text = R"({"http": {"sites": [{"routes": [
    {"path": "/a", "tiny": {}}]}]}})";
  CHECK(fixture.build(text).ok());
  fixture.letTinyUseTheDatabase();
  CHECK(fixture.errors(text) ==
        "2:28 \"tiny\" needs the database, and \"mysql.mysql_started\" is off: turn it on\n");
  CHECK(fixture
            .build(R"({"mysql": {"mysql_started": "on"}, "http": {"sites": [{"routes": [
    {"path": "/a", "tiny": {}}]}]}})")
            .ok());
}
