// The pages that a route names for its errors, as Exchange fetches them.
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "support/h1_server.h"

namespace roost::http {
namespace {

struct Refuse final : RequestFilter {
  Verdict onRequest(Exchange& e) const noexcept override {
    e.replyError(403);
    return Verdict::kReplied;
  }
};

void answerPage(Exchange& e) {
  ResponseHead head(200);
  head.add("Content-Type", "text/plain");
  head.add("ETag", "\"page\"");
  head.add("Cache-Control", "max-age=60");
  e.reply(head, "page of " + std::to_string(e.errorStatus()) + " for " + std::string(methodName(e.method())));
}

class Fixture {
 public:
  Fixture() {
    server.on("/page", answerPage).request_filters.push_back(std::make_shared<Refuse>());
    server.on("/bad-page", [](Exchange& e) { e.replyError(410); });
  }
  Route& failing(std::string path, int status, ErrorPage page) {
    Route& route = server.on(std::move(path), [status](Exchange& e) {
      ResponseHead extra(status);
      extra.add("Retry-After", "9");
      e.replyError(status, &extra);
    });
    route.error_pages[status] = std::move(page);
    return route;
  }
  test::ParsedAnswer ask(std::string_view method, std::string_view path, std::string_view body = {}) {
    const std::string bytes =
        server.ask(std::string(method) + " " + std::string(path) +
                   " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                   std::string(body));
    const test::ParsedAnswers parsed = test::parseAnswers(bytes, {method == "HEAD"});
    REQUIRE(parsed.ok);
    REQUIRE(parsed.answers.size() == 1);
    REQUIRE(parsed.answers[0].complete);
    return parsed.answers[0];
  }
  test::H1Server server;
};

TEST_CASE("error pages: another path's content, the error's status and fields", "[exchange]") {
  Fixture fixture;
  fixture.failing("/fails", 503, {"/page", 0});
  fixture.server.start();
  for (const char* method : {"GET", "POST", "DELETE"}) {
    const auto answer = fixture.ask(method, "/fails", "some body");
    CHECK(answer.status == 503);
    CHECK(answer.body == "page of 503 for GET");
    CHECK(answer.has("Retry-After: 9\r\n"));
    CHECK(answer.has("Content-Type: text/plain\r\n"));
    CHECK_FALSE(answer.has("ETag"));
    CHECK_FALSE(answer.has("Cache-Control"));
  }
  const auto head = fixture.ask("HEAD", "/fails");
  CHECK(head.status == 503);
  CHECK(head.has("Content-Length: 20\r\n"));
}

TEST_CASE("error pages: a status of their own", "[exchange]") {
  Fixture fixture;
  fixture.failing("/fails", 404, {"/page", 200});
  fixture.server.start();
  const auto answer = fixture.ask("GET", "/fails");
  CHECK(answer.status == 200);
  CHECK(answer.body == "page of 404 for GET");
  CHECK(answer.has("ETag: \"page\"\r\n"));
  CHECK_FALSE(answer.has("Retry-After"));
}

TEST_CASE("error pages: one that cannot be had is replaced by the built-in one", "[exchange]") {
  Fixture fixture;
  fixture.failing("/fails", 429, {"/bad-page", 200});
  fixture.failing("/lost", 429, {"/nowhere", 0});
  fixture.server.start();
  for (const char* path : {"/fails", "/lost"}) {
    const auto answer = fixture.ask("GET", path);
    CHECK(answer.status == 429);
    CHECK(answer.body.find("429") != std::string::npos);
    CHECK(answer.has("Retry-After: 9\r\n"));
  }
}

TEST_CASE("error pages: an error of the page's own route is not answered with a page again", "[exchange]") {
  Fixture fixture;
  Route& route = fixture.failing("/circle", 500, {"/circle", 0});
  route.error_pages[500] = {"/circle", 0};
  fixture.server.start();
  const auto answer = fixture.ask("GET", "/circle");
  CHECK(answer.status == 500);
  CHECK(answer.body.find("500") != std::string::npos);
}

}  // namespace
}  // namespace roost::http
