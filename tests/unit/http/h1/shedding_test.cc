// Requests that come while the server is overloaded.
#include <catch2/catch.hpp>

#include "net/load_gate.h"
#include "support/h1_server.h"

using namespace roost;
using net::Load;

namespace {

struct Fixture {
  net::LoadGate gate{nullptr};
  test::H1Server server;
  int handled = 0;
  http::ExchangeHandle held;

  Fixture() {
    server.on("/", [this](http::Exchange& exchange) {
      ++handled;
      if (exchange.path() == "/wait") {
        held = exchange.handle();
      } else {
        http::ResponseHead head(200);
        exchange.reply(head, "fine");
      }
    });
    server.start();
    server.context().setGate(&gate);
  }
  ~Fixture() { server.shutDown(); }
};

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

}  // namespace

TEST_CASE("shedding: a new request is answered 503 and the connection ends", "[h1][overload]") {
  Fixture f;
  test::SimPeer idle = f.server.connect();
  idle.write(kGet);
  REQUIRE(f.server.settle());
  CHECK(test::parseAnswers(idle.read()).answers.at(0).status == 200);
  f.gate.setOwn(Load::kNoRequests);
  const int handled = f.handled;
  SECTION("on a connection that stands") {
    idle.write(kGet);
    REQUIRE(f.server.settle());
    const auto answers = test::parseAnswers(idle.read()).answers;
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].status == 503);
    CHECK(answers[0].complete);
    CHECK(answers[0].has("\r\nRetry-After: 5\r\n"));
    CHECK(answers[0].has("\r\nConnection: close\r\n"));
    CHECK(idle.sawEnd());
  }
  SECTION("HEAD has no content") {
    idle.write("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    REQUIRE(f.server.settle());
    const std::string all = idle.read();
    CHECK(all.find("HTTP/1.1 503 ") == 0);
    CHECK(all.substr(all.size() - 4) == "\r\n\r\n");
    CHECK(idle.sawEnd());
  }
  SECTION("requests behind it are not answered, a body is read away") {
    const std::string post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
    idle.write(post + std::string(kGet));
    REQUIRE(f.server.settle());
    CHECK(test::parseAnswers(idle.read()).answers.size() == 1);
    CHECK(idle.sawEnd());
    CHECK_FALSE(idle.sawReset());
  }
  SECTION("a body that has yet to come is not waited for") {
    idle.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    REQUIRE(f.server.settle());
    const auto parsed = test::parseAnswers(idle.read());
    CHECK(parsed.interim == 0);
    CHECK(parsed.answers.at(0).status == 503);
  }
  SECTION("what is no request is still told so") {
    idle.write("GET\r\n\r\n");
    REQUIRE(f.server.settle());
    CHECK(test::parseAnswers(idle.read()).answers.at(0).status == 400);
  }
  CHECK(f.handled == handled);
}

TEST_CASE("shedding: what is held goes on", "[h1][overload]") {
  Fixture f;
  test::SimPeer waits = f.server.connect();
  waits.write("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
  test::SimPeer idle = f.server.connect();
  REQUIRE(f.server.settle());
  f.gate.setOwn(Load::kNoRequests);
  REQUIRE(f.server.net.pass(2000));
  CHECK_FALSE(waits.gone());
  CHECK_FALSE(idle.gone());
  f.held.reply(std::make_unique<http::ResponseHead>(200), {});
  REQUIRE(f.server.settle());
  CHECK(test::parseAnswers(waits.read()).answers.at(0).status == 200);
  CHECK_FALSE(waits.gone());
  f.gate.setOwn(Load::kFine);
  idle.write(kGet);
  REQUIRE(f.server.settle());
  CHECK(test::parseAnswers(idle.read()).answers.at(0).status == 200);
}

TEST_CASE("shedding: without connections requests still have their answers", "[h1][overload]") {
  Fixture f;
  f.gate.setOwn(Load::kNoConnections);
  CHECK(test::parseAnswers(f.server.ask(kGet)).answers.at(0).status == 200);
}
