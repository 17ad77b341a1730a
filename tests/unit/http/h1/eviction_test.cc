// Which connections may go when room is wanted, and what each holds.
#include <catch2/catch.hpp>
#include <string>

#include "net/evictor.h"
#include "unit/http/h1/session_fixture.h"

namespace roost::http {
namespace {

using test::SimPeer;

struct Fixture : SessionFixture {
  Fixture() {
    server.net.sys.setCapacity(2000);
    server.options.head_timeout_ms = 20000;
    server.options.keep_alive_timeout_ms = 75000;
    server.options.max_body_bytes = 4 << 20;
    server.start();
  }
  // How many have gone.
  size_t evictAll() {
    net::Evictor evictor(server.net.io());
    size_t closed = 0;
    for (size_t more = 1; more > 0; closed += more) more = evictor.evictIdle().closed;
    REQUIRE(server.settle());
    return closed;
  }
  SimPeer asking(std::string_view text) {
    SimPeer peer = server.connect();
    peer.write(text);
    REQUIRE(server.settle());
    return peer;
  }
  uint64_t heldBytes() {
    uint64_t held = 0;
    server.net.io().forEach([&](net::Connection& c) { held += c.reclaimableBytes(); });
    return held;
  }
};

TEST_CASE("session: answered and silent is idle, everything else is not", "[session][evictor]") {
  Fixture f;
  f.prepared_body = test::patternOf(50000);
  SimPeer parked = f.asking(get("/park"));
  SimPeer waiting = f.asking(get("/later"));
  SimPeer blocked = f.asking(get("/prepared"));
  SimPeer uploading = f.asking("POST /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nfirst");
  SimPeer asking = f.asking("GET /hello HTTP/1.1\r\nHos");
  SimPeer upgraded =
      f.asking("GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
  REQUIRE(f.server.net.pass(2000));
  SimPeer answered = f.asking(get("/hello"));
  SimPeer fresh = f.asking("");
  CHECK_FALSE(answered.read().empty());
  CHECK(f.evictAll() == 1);
  CHECK(answered.sawEnd());
  SECTION("a new connection becomes idle when its request does not come") {
    REQUIRE(f.server.net.pass(2000));
    CHECK(f.evictAll() == 1);
    CHECK(fresh.sawEnd());
  }
  for (SimPeer* peer : {&parked, &waiting, &blocked, &uploading, &asking, &upgraded})
    CHECK_FALSE(peer->gone());
}

TEST_CASE("session: what a client has sent of a body counts as held", "[session][evictor]") {
  Fixture f;
  SimPeer peer = f.asking("POST /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
  const uint64_t before = f.heldBytes();
  peer.write(test::patternOf(500000));
  REQUIRE(f.server.settle());
  CHECK(f.heldBytes() >= before + 500000);
  peer.write(test::patternOf(500000));
  REQUIRE(f.server.settle());
  peer.read();
  REQUIRE(f.server.settle());
}

TEST_CASE("session: a parked exchange holds nothing to speak of", "[session][evictor]") {
  Fixture f;
  SimPeer peer = f.asking(get("/park"));
  CHECK(f.heldBytes() < 1000);
}

}  // namespace
}  // namespace roost::http
