#include "modules/connection_limit/count_filter.h"

#include <catch2/catch.hpp>
#include <vector>

#include "support/h1_server.h"

using namespace roost;
using modules::connection_limit::CountFilter;
using modules::connection_limit::FilterOptions;
using modules::connection_limit::Zone;

namespace {

class Fixture {
 public:
  test::H1Server server;
  std::vector<http::ExchangeHandle> waiting;
  bool parks = false;

  explicit Fixture(FilterOptions options, std::string_view key = "{client}") {
    http::Route& route = server.on("/", [this](http::Exchange& exchange) {
      if (exchange.path() == "/now") {
        http::ResponseHead head(200);
        return exchange.reply(head, "now");
      }
      waiting.push_back(exchange.handle());
      if (parks) exchange.park();
    });
    auto zone = std::make_shared<Zone>(Zone{SipKey::random(), std::move(CountTable::create(1000)).value()});
    route.request_filters.push_back(std::make_shared<CountFilter>(
        std::move(zone), std::move(http::LimitKey::compile(key, 64)).value(), options));
    server.start();
  }
  test::SimPeer ask(std::string_view path, std::string_view ip = "192.0.2.1") {
    test::SimPeer peer = server.net.connect(0, ip);
    peer.write("GET " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    REQUIRE(server.settle());
    return peer;
  }
  static int status(test::SimPeer& peer) {
    const auto parsed = test::parseAnswers(peer.read());
    return parsed.answers.empty() ? 0 : parsed.answers[0].status;
  }
  void answer(size_t index) {
    waiting[index].reply(std::make_unique<http::ResponseHead>(200), {});
    REQUIRE(server.settle());
  }
};

FilterOptions most(uint32_t max) {
  FilterOptions options;
  options.max = max;
  return options;
}

}  // namespace

TEST_CASE("connection limit: so many at a time, parked ones too", "[connection_limit]") {
  Fixture f(most(2));
  f.parks = GENERATE(false, true);
  test::SimPeer first = f.ask("/a");
  test::SimPeer second = f.ask("/b");
  test::SimPeer third = f.ask("/c");
  const std::string refused = third.read();
  CHECK(refused.find("HTTP/1.1 503 ") == 0);
  CHECK(refused.find("\r\nRetry-After: 1\r\n") != std::string::npos);
  test::SimPeer other = f.ask("/d", "192.0.2.2");
  CHECK(other.read().empty());  // it waits: others have their own
  SECTION("an answer makes room") {
    f.answer(0);
    CHECK(Fixture::status(first) == 200);
    test::SimPeer next = f.ask("/now");
    CHECK(Fixture::status(next) == 200);
  }
  SECTION("a client that goes makes room") {
    second.reset();
    REQUIRE(f.server.settle());
    test::SimPeer next = f.ask("/now");
    CHECK(Fixture::status(next) == 200);
  }
  SECTION("without either there is none") {
    test::SimPeer next = f.ask("/now");
    CHECK(Fixture::status(next) == 503);
  }
  SECTION("the server may end meanwhile") {
    f.server.shutDown();
  }
}

TEST_CASE("connection limit: one request after another never reaches it", "[connection_limit]") {
  Fixture f(most(1));
  test::SimPeer peer = f.server.connect();
  for (int i = 0; i < 10; ++i) peer.write("GET /now HTTP/1.1\r\nHost: a\r\n\r\n");
  REQUIRE(f.server.settle());
  const auto parsed = test::parseAnswers(peer.read());
  REQUIRE(parsed.answers.size() == 10);
  for (const auto& answer : parsed.answers) CHECK(answer.status == 200);
}

TEST_CASE("connection limit: dry run, status and no Retry-After", "[connection_limit]") {
  FilterOptions options = most(1);
  SECTION("dry run") {
    options.dry_run = true;
    Fixture f(options);
    f.ask("/a");
    test::SimPeer next = f.ask("/now");
    CHECK(Fixture::status(next) == 200);
  }
  SECTION("status") {
    options.status = 429;
    options.retry_after_s = 0;
    Fixture f(options);
    test::SimPeer held = f.ask("/a");
    test::SimPeer next = f.ask("/now");
    const std::string refused = next.read();
    CHECK(refused.find("HTTP/1.1 429 ") == 0);
    CHECK(refused.find("Retry-After") == std::string::npos);
  }
}
