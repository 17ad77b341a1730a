#include "modules/hold/hold_handler.h"

#include <catch2/catch.hpp>

#include "support/h1_server.h"

using namespace roost;
using modules::hold::HoldHandler;
using modules::hold::HoldOptions;

namespace {

class Fixture {
 public:
  test::H1Server server;

  explicit Fixture(HoldOptions options) {
    server.on("/", [handler = std::make_shared<HoldHandler>(std::move(options))](http::Exchange& exchange) {
      handler->handle(exchange);
      if (exchange.active()) CHECK(exchange.parked());
    });
    server.start();
  }
  test::SimPeer ask(const std::string& request) {
    test::SimPeer peer = server.connect();
    peer.write(request);
    REQUIRE(server.settle());
    return peer;
  }
  static std::string get(const std::string& target) {
    return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n";
  }
};

HoldOptions between(uint32_t min_ms, uint32_t max_ms) {
  HoldOptions options;
  options.min_ms = min_ms;
  options.max_ms = max_ms;
  options.query_key = "ms";
  options.body = BufferRef::copyOf("held");
  return options;
}

}  // namespace

TEST_CASE("hold: a time asked for", "[hold]") {
  CHECK(HoldHandler::askedMs("", "ms", 10) == HoldHandler::kNotAsked);
  CHECK(HoldHandler::askedMs("ms", "ms", 10) == HoldHandler::kNotAsked);
  CHECK(HoldHandler::askedMs("xms=1&msx=2", "ms", 10) == HoldHandler::kNotAsked);
  CHECK(HoldHandler::askedMs("a=1&ms=7&ms=8", "ms", 10) == 7);
  CHECK(HoldHandler::askedMs("ms=0", "ms", 10) == 0);
  CHECK(HoldHandler::askedMs("ms=10", "ms", 10) == 10);
  for (const char* query : {"ms=", "ms=11", "ms=-1", "ms=1.5", "ms=7x", "ms=99999999999999"}) {
    CHECK(HoldHandler::askedMs(query, "ms", 10) == HoldHandler::kMalformed);
  }
}

TEST_CASE("hold: answers between the two bounds, not before", "[hold]") {
  Fixture f(between(1000, 2000));
  std::vector<test::SimPeer> peers;
  for (int i = 0; i < 200; ++i) peers.push_back(f.ask(f.get("/")));
  const auto answered = [&] {
    size_t count = 0;
    for (test::SimPeer& peer : peers) count += peer.read().empty() ? 0 : 1;
    return count;
  };
  REQUIRE(f.server.net.pass(950));
  CHECK(answered() == 0);
  REQUIRE(f.server.net.pass(550));
  const size_t halfway = answered();
  CHECK(halfway > 50);
  CHECK(halfway < 150);
  REQUIRE(f.server.net.pass(550));
  CHECK(answered() == 200 - halfway);
}

TEST_CASE("hold: the client's own time, and what follows on the connection", "[hold]") {
  Fixture f(between(5000, 5000));
  test::SimPeer peer = f.ask(f.get("/?ms=100") + f.get("/?ms=200"));
  REQUIRE(f.server.net.pass(150));
  auto first = test::parseAnswers(peer.read());
  REQUIRE(first.answers.size() == 1);
  CHECK(first.answers[0].status == 200);
  CHECK(first.answers[0].body == "held");
  REQUIRE(f.server.net.pass(200));
  CHECK(test::parseAnswers(peer.read()).answers.at(0).complete);

  CHECK(test::parseAnswers(f.ask(f.get("/?ms=5001")).read()).answers.at(0).status == 400);
}

TEST_CASE("hold: content is read away, and HEAD has none", "[hold]") {
  Fixture f(between(100, 100));
  test::SimPeer peer = f.ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");
  REQUIRE(f.server.net.pass(150));  // answered before the content is complete
  CHECK(test::parseAnswers(peer.read()).answers.at(0).body == "held");
  peer.write("cde" + f.get("/"));
  REQUIRE(f.server.net.pass(200));
  CHECK(test::parseAnswers(peer.read()).answers.at(0).body == "held");

  test::SimPeer head = f.ask("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
  REQUIRE(f.server.net.pass(150));
  const auto answers = test::parseAnswers(head.read(), {true});
  CHECK(answers.answers.at(0).has("Content-Length: 4"));
  CHECK(answers.rest.empty());
}

TEST_CASE("hold: a client that goes away takes its timer along", "[hold]") {
  Fixture f(between(1000, 1000));
  {
    test::SimPeer gone = f.ask(f.get("/"));
    test::SimPeer half = f.ask(f.get("/"));
    test::SimPeer stays = f.ask(f.get("/"));
    REQUIRE(f.server.net.pass(500));
    gone.close();
    half.shutdownWrite();
    REQUIRE(f.server.settle());
    CHECK(f.server.net.io().size() == 1);
    REQUIRE(f.server.net.pass(600));
    CHECK(test::parseAnswers(stays.read()).answers.at(0).status == 200);
  }
  test::SimPeer last = f.ask(f.get("/"));
  f.server.shutDown();  // with one that is held
}

TEST_CASE("hold: at the server's end who is due soon is answered, all others are told to ask again",
          "[hold][regression]") {
  Fixture f(between(60'000, 60'000));
  test::SimPeer soon = f.ask(f.get("/?ms=400"));
  test::SimPeer late = f.ask(f.get("/"));
  net::IoContext& io = f.server.net.io();
  const int64_t until_ns = f.server.net.loop().nowNs() + 1'000'000'000;
  io.forEach([until_ns](net::Connection& c) { c.session()->onShutdown(c, until_ns); });
  const auto refused = test::parseAnswers(late.read());
  REQUIRE(refused.answers.size() == 1);
  CHECK(refused.answers[0].status == 503);
  CHECK(refused.answers[0].has("Retry-After: 1"));
  CHECK(refused.answers[0].has("Connection: close"));
  size_t owed = 0;
  io.forEach([&owed](net::Connection& c) { owed += !c.closed() && c.session()->owesAnswer() ? 1 : 0; });
  CHECK(owed == 1);
  REQUIRE(f.server.net.pass(450));
  CHECK(test::parseAnswers(soon.read()).answers.at(0).status == 200);
  CHECK(soon.sawEnd());
}
