#include "http/origin_rule.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "http/exchange.h"
#include "metrics/registry.h"
#include "support/h1_server.h"

namespace roost::http {
namespace {

std::shared_ptr<const OriginSet> originsOf(const std::vector<std::string>& texts) {
  return std::make_shared<const OriginSet>(OriginSet::compile(texts).value());
}

// A server whose routes answer 204, or 403 with the sentence.
struct OriginFixture {
  OriginFixture() {
    const auto write = [](Exchange& e) {
      const std::string why = refusedOrigin(e);
      ResponseHead head(why.empty() ? 204 : 403);
      if (why.empty()) return e.begin(head, true);
      e.reply(head, why);
    };
    server.on("/own", write);
    server.on("/named", write).cors = originsOf({"https://app.example", "https://*.app.example"});
    server.on("/all", write).cors = originsOf({"*"});
    server.on("/null", write).cors = originsOf({"null"});
    server.start();
  }
  test::ParsedAnswer ask(const std::string& path, const std::string& fields) {
    const auto got =
        test::parseAnswers(server.ask("POST " + path + " HTTP/1.1\r\nHost: here:8080\r\n" + fields + "\r\n"));
    REQUIRE(got.answers.size() == 1);
    return got.answers[0];
  }
  test::H1Server server;
};

TEST_CASE("origin rule: which page may write", "[origins]") {
  struct Row {
    const char* path;
    const char* fields;
    int status;
  };
  const std::vector<Row> rows = {
      // Programs.
      {"/own", "", 204},
      {"/own", "Authorization: Basic YTpi\r\n", 204},
      // Browsers that say where the page is from.
      {"/own", "Sec-Fetch-Site: same-origin\r\nOrigin: http://here:8080\r\n", 204},
      {"/own", "Sec-Fetch-Site: same-origin\r\nOrigin: https://public.example\r\n", 204},
      {"/own", "Sec-Fetch-Site: same-origin\r\nOrigin: null\r\n", 204},
      {"/own", "Sec-Fetch-Site: none\r\n", 204},
      {"/own", "Sec-Fetch-Site: same-site\r\nOrigin: http://here:3000\r\n", 403},
      {"/own", "Sec-Fetch-Site: cross-site\r\nOrigin: https://evil.example\r\n", 403},
      {"/own", "Sec-Fetch-Site: cross-site\r\nOrigin: http://here:8080\r\n", 403},
      {"/own", "Sec-Fetch-Site: cross-site\r\nOrigin: null\r\n", 403},
      {"/own", "Sec-Fetch-Site: cross-site\r\n", 403},
      {"/own", "Sec-Fetch-Site: same-site\r\n", 403},
      {"/own", "Sec-Fetch-Site: SAME-ORIGIN\r\n", 403},
      // Those that do not.
      {"/own", "Origin: http://here:8080\r\n", 204},
      {"/own", "Origin: http://HERE:8080\r\n", 204},
      {"/own", "Origin: https://here:8080\r\n", 204},
      {"/own", "Origin: http://here\r\n", 403},
      {"/own", "Origin: http://here:80\r\n", 403},
      {"/own", "Origin: http://evil.example\r\n", 403},
      {"/own", "Origin: null\r\n", 403},
      {"/own", "Origin:\r\n", 403},
      {"/own", "Origin: http://here:8080\r\nOrigin: http://here:8080\r\n", 403},
      {"/own", "Origin: http://here:8080 http://evil.example\r\n", 403},
      {"/own", "Origin: chrome-extension://abc\r\n", 403},
      // What cors names.
      {"/named", "Origin: https://app.example\r\n", 204},
      {"/named", "Origin: https://a.app.example\r\n", 204},
      {"/named", "Sec-Fetch-Site: cross-site\r\nOrigin: https://app.example\r\n", 204},
      {"/named", "Origin: https://app.example\r\nCookie: a=b\r\n", 204},
      {"/named", "Origin: https://app.example\r\nOrigin: https://app.example\r\n", 403},
      {"/named", "Origin: http://app.example\r\n", 403},
      {"/named", "Origin: http://here:8080\r\n", 204},
      {"/named", "Origin: null\r\n", 403},
      {"/null", "Origin: null\r\n", 204},
      // Everybody's, but not in a user's name.
      {"/all", "Sec-Fetch-Site: cross-site\r\nOrigin: https://evil.example\r\n", 204},
      {"/all", "Origin: null\r\n", 204},
      {"/all", "Origin: https://evil.example\r\nAuthorization: Bearer t\r\n", 204},
      {"/all", "Origin: https://evil.example\r\nAuthorization: Basic YTpi\r\n", 403},
      {"/all", "Origin: https://evil.example\r\nAuthorization: NEGOTIATE x\r\n", 403},
      {"/all", "Origin: https://evil.example\r\nCookie: a=b\r\n", 403},
      {"/all", "Origin: http://here:8080\r\nCookie: a=b\r\n", 204},
      {"/all", "Sec-Fetch-Site: cross-site\r\n", 403},
  };
  OriginFixture f;
  for (const Row& row : rows) {
    INFO(row.path << " " << row.fields);
    CHECK(f.ask(row.path, row.fields).status == row.status);
  }
}

TEST_CASE("origin rule: a refusal says whose page it was, and which key lets it in", "[origins]") {
  metrics::Registry registry;
  const HttpCounters counters(registry);
  OriginFixture f;
  f.server.context().setCounters(&counters);
  const auto told = [&](const std::string& path, const std::string& fields, OriginFault fault) {
    CHECK(counters.foreign_origins[static_cast<size_t>(fault)]->value() == 0);
    const std::string body = f.ask(path, fields).body;
    CHECK(counters.foreign_origins[static_cast<size_t>(fault)]->value() == 1);
    return body;
  };
  CHECK(told("/own", "Origin: https://evil.example\r\n", OriginFault::kForeign) ==
        "a page of the origin https://evil.example may not write here; to let it in, add its origin to "
        "\"origins\" in the \"cors\" of this route");
  CHECK(told("/own", "Origin: null\r\n", OriginFault::kOpaque).find("the origin null may not") !=
        std::string::npos);
  CHECK(told("/own", "Origin: a\r\nOrigin: b\r\n", OriginFault::kRepeated) ==
        "the request has more than one Origin field");
  CHECK(told("/own", "Sec-Fetch-Site: cross-site\r\n", OriginFault::kUnnamed).find("no Origin field") !=
        std::string::npos);
  CHECK(told("/all", "Origin: https://a.example\r\nCookie: a=b\r\n", OriginFault::kCredentials)
            .find("\"*\" does not count") != std::string::npos);
  // What stands there is not passed on as it comes.
  const std::string odd = f.ask("/own", "Origin: <b>\xff \t</b>\r\n").body;
  CHECK(odd.find("<b>") == std::string::npos);
  CHECK(odd.find("(malformed)") != std::string::npos);
  CHECK(f.ask("/own", "Origin: https://" + std::string(3000, 'a') + "\r\n").body.size() < 300);
}

TEST_CASE("origin rule: the list of a WebSocket's route", "[origins]") {
  CHECK(OriginPolicy::compile({"same", "https://A.example", "https://*.b.example", "null"}).ok());
  CHECK_FALSE(OriginPolicy::compile({"example.org"}).ok());
  CHECK_FALSE(OriginPolicy::compile({"https://example.org/"}).ok());
  CHECK_FALSE(OriginPolicy::compile({"https://example.org:443"}).ok());
}

}  // namespace
}  // namespace roost::http
