#include "http/counters.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "unit/http/h1/session_fixture.h"

namespace roost::http {
namespace {

// A server that counts.
struct Counted {
  Counted() {
    f.server.options.body_timeout_ms = 5000;
    f.server.start();
    f.server.context().setCounters(&counters);
  }
  uint64_t value(const std::string& name) { return registry.counterValue("roost_http_" + name + "_total"); }
  uint64_t responses(const std::string& of_class) {
    return registry.counterValue("roost_http_responses_total", {{"class", of_class}});
  }
  metrics::Registry registry;
  const HttpCounters counters{registry};
  SessionFixture f;
};

TEST_CASE("http counters: requests and answers by class, as they happen", "[counters]") {
  Counted c;
  test::SimPeer peer = c.f.server.connect();
  peer.write(get("/hello") + get("/prepared") + get("/nowhere"));
  REQUIRE(c.f.server.settle());
  CHECK(c.value("requests") == 3);  // the connection stands
  CHECK(c.responses("2xx") == 2);
  CHECK(c.responses("4xx") == 1);
  c.f.ask("GET / HTTP/1.1\r\n\r\n");
  c.f.ask(get("/upgrade", "Connection: upgrade\r\nUpgrade: echo\r\n"));
  CHECK(c.value("requests") == 5);
  CHECK(c.responses("4xx") == 2);
  CHECK(c.responses("1xx") == 1);
  CHECK(c.responses("3xx") + c.responses("5xx") == 0);
  const auto times = c.registry.histogramValue("roost_http_answer_nanoseconds");
  REQUIRE(times != nullptr);
  CHECK(times->count() == 5);
  c.f.ask("\1\r\n\r\n");  // an answer to what is no request
  CHECK(c.value("requests") == 5);
  CHECK(c.responses("4xx") == 3);
  CHECK(c.registry.histogramValue("roost_http_answer_nanoseconds")->count() == 5);
  CHECK(c.value("timeouts") + c.value("aborted") == 0);
}

TEST_CASE("http counters: how long an answer took", "[counters]") {
  Counted c;
  test::SimPeer peer = c.f.server.connect();
  peer.write(get("/later"));
  REQUIRE(c.f.server.settle());
  REQUIRE(c.f.server.net.pass(3000));
  CHECK(c.registry.histogramValue("roost_http_answer_nanoseconds")->count() == 0);
  c.f.answerLater();
  REQUIRE(c.f.server.settle());
  const auto times = c.registry.histogramValue("roost_http_answer_nanoseconds");
  CHECK(times->count() == 1);
  CHECK(times->max() >= 2'900'000'000);
  CHECK(times->max() <= 3'100'000'000);
}

TEST_CASE("http counters: timeouts and aborted exchanges", "[counters]") {
  Counted c;
  test::SimPeer gone = c.f.server.connect();
  gone.write(get("/later"));
  REQUIRE(c.f.server.settle());
  gone.reset();
  REQUIRE(c.f.server.settle());
  CHECK(c.value("aborted") == 1);
  CHECK(c.value("timeouts") == 0);

  test::SimPeer slow = c.f.server.connect();
  slow.write("POST /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nx");
  REQUIRE(c.f.server.net.pass(6000));
  CHECK(c.value("aborted") == 2);
  CHECK(c.value("timeouts") == 1);
  CHECK(c.responses("4xx") == 1);

  test::SimPeer idle = c.f.server.connect();
  idle.write(get("/hello"));
  REQUIRE(c.f.server.net.pass(100000));
  CHECK_FALSE(idle.read().empty());
  CHECK(idle.gone());
  CHECK(c.value("aborted") == 2);  // silence after an answer is no fault
  CHECK(c.value("timeouts") == 1);
}

}  // namespace
}  // namespace roost::http
