#include "modules/rate_limit/rate_filter.h"

#include <catch2/catch.hpp>

#include "support/h1_server.h"

using namespace roost;
using modules::rate_limit::FilterOptions;
using modules::rate_limit::RateFilter;
using modules::rate_limit::Zone;

namespace {

std::shared_ptr<Zone> zone(const RateLimit& limit) {
  return std::make_shared<Zone>(Zone{SipKey::random(), std::move(RateTable::create(limit, 1000)).value()});
}

class Fixture {
 public:
  test::H1Server server;

  http::Route& route(const std::string& path) {
    return server.on(path, [this](http::Exchange& exchange) {
      http::ResponseHead head(200);
      if (exchange.path() == "/old") {
        exchange.reroute("/new");
      } else {
        ++answered;
        exchange.reply(head, "fine");
      }
    });
  }
  void limit(http::Route& route, const std::shared_ptr<Zone>& zone, const FilterOptions& options = {},
             std::string_view key = "{client}") {
    route.request_filters.push_back(
        std::make_shared<RateFilter>(zone, std::move(http::LimitKey::compile(key, 64)).value(), options));
  }
  // The status of one request, 0 where there is no answer yet.
  int ask(std::string_view path, std::string_view ip = "192.0.2.1", std::string_view field = "") {
    test::SimPeer peer = server.net.connect(0, ip);
    peer.write("GET " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n" + std::string(field) + "\r\n");
    REQUIRE(server.settle());
    const auto parsed = test::parseAnswers(peer.read());
    last = parsed.answers.empty() ? test::ParsedAnswer{} : parsed.answers[0];
    return last.status;
  }

  test::ParsedAnswer last;
  int answered = 0;
};

}  // namespace

TEST_CASE("rate limit: 429 with the whole seconds to wait", "[rate_limit]") {
  Fixture f;
  f.limit(f.route("/"), zone({2, 5, 2}));
  f.server.start();
  CHECK(f.ask("/") == 200);
  CHECK(f.ask("/x") == 200);
  CHECK(f.ask("/") == 429);
  CHECK(f.last.has("\r\nRetry-After: 3\r\n"));  // 2.5, rounded up
  CHECK(f.answered == 2);
  CHECK(f.ask("/", "192.0.2.2") == 200);
  f.server.net.pass(2600);
  CHECK(f.ask("/") == 200);
  CHECK(f.ask("/") == 429);
}

TEST_CASE("rate limit: places that share a zone count together", "[rate_limit]") {
  Fixture f;
  const auto shared = zone({1, 60, 2});
  f.limit(f.route("/a"), shared);
  f.limit(f.route("/b"), shared);
  f.route("/c");
  f.server.start();
  CHECK(f.ask("/a") == 200);
  CHECK(f.ask("/b") == 200);
  CHECK(f.ask("/a") == 429);
  CHECK(f.ask("/b") == 429);
  CHECK(f.ask("/c") == 200);
}

TEST_CASE("rate limit: a request that is sent on counts once", "[rate_limit]") {
  Fixture f;
  const auto shared = zone({1, 60, 2});
  http::Route& old_route = f.route("/old");
  f.limit(old_route, shared);
  f.route("/new").request_filters = old_route.request_filters;
  f.server.start();
  CHECK(f.ask("/old") == 200);
  CHECK(f.ask("/old") == 200);
  CHECK(f.ask("/old") == 429);
}

TEST_CASE("rate limit: any text is a key, an empty one is not counted", "[rate_limit]") {
  Fixture f;
  f.limit(f.route("/"), zone({1, 60, 1}), {}, "{header.x-key}");
  f.server.start();
  for (int i = 0; i < 5; ++i) CHECK(f.ask("/") == 200);
  CHECK(f.ask("/", "192.0.2.1", "X-Key: a\r\n") == 200);
  CHECK(f.ask("/", "192.0.2.2", "X-Key: a\r\n") == 429);
  CHECK(f.ask("/", "192.0.2.2", "X-Key: b\r\n") == 200);
}

TEST_CASE("rate limit: an IPv6 network is one client", "[rate_limit]") {
  Fixture f;
  f.limit(f.route("/"), zone({1, 60, 1}));
  f.server.start();
  CHECK(f.ask("/", "2001:db8::1") == 200);
  CHECK(f.ask("/", "2001:db8::2") == 429);
  CHECK(f.ask("/", "2001:db8:0:1::1") == 200);
}

TEST_CASE("rate limit: a dry run refuses nobody, another status is taken", "[rate_limit]") {
  Fixture f;
  FilterOptions dry;
  dry.dry_run = true;
  f.limit(f.route("/dry"), zone({1, 60, 1}), dry);
  FilterOptions other;
  other.status = 503;
  f.limit(f.route("/other"), zone({1, 60, 1}), other);
  f.server.start();
  for (int i = 0; i < 5; ++i) CHECK(f.ask("/dry") == 200);
  CHECK(f.ask("/other") == 200);
  CHECK(f.ask("/other") == 503);
  CHECK(f.last.has("\r\nRetry-After: 60\r\n"));
}

TEST_CASE("rate limit: beyond delay_after requests wait for their turn", "[rate_limit]") {
  Fixture f;
  FilterOptions options;
  options.delay_after = 2;
  f.limit(f.route("/"), zone({1, 1, 4}), options);
  f.server.start();
  std::vector<test::SimPeer> peers;
  for (int i = 0; i < 5; ++i) {
    peers.push_back(f.server.connect());
    peers.back().write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  }
  REQUIRE(f.server.settle());
  CHECK(f.answered == 2);
  CHECK(peers[4].read().find("429") != std::string::npos);
  SECTION("one after the other") {
    f.server.net.pass(1100);
    CHECK(f.answered == 3);
    f.server.net.pass(1000);
    CHECK(f.answered == 4);
    for (size_t i = 0; i < 4; ++i) CHECK(peers[i].read().find("200 OK") != std::string::npos);
  }
  SECTION("a client that goes away does not wait on") {
    peers[2].reset();
    f.server.net.pass(3000);
    CHECK(f.answered == 3);
  }
  SECTION("the server may end meanwhile") {
    f.server.shutDown();
  }
}
