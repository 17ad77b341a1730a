#include "net/evictor.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "net/connection.h"
#include "support/sim_loop.h"

namespace roost::net {
namespace {

using test::SimLoop;
using test::SimPeer;

// Idle since its last byte, or busy once it has read "busy"; answers "big" with more than the socket takes.
struct Talk final : Session, SessionFactory {
  static constexpr uint32_t kTimeoutMs = 60000;
  Session& sessionFor(Connection&) noexcept override { return *this; }
  void onConnected(Connection& c) noexcept override { c.setDeadline(kTimeoutMs); }
  void onRead(Connection& c, Chunk& in) noexcept override {
    const std::string_view said(in.data(), in.size());
    c.setDeadline(said == "busy" ? kTimeoutMs * 10 : kTimeoutMs);
    if (said.substr(0, 3) == "big") c.write(std::string(std::stoul(std::string(said.substr(3))), 'x'));
    in.consume(in.size());
  }
  uint32_t idleMs(const Connection& c) const noexcept override {
    const uint32_t left = c.deadlineLeftMs();
    return c.writing() || left > kTimeoutMs + 1000 ? kBusy : kTimeoutMs + 1000 - left;
  }
};

struct Fixture {
  Talk talk;
  SimLoop net;
  Evictor evictor{net.io()};

  Fixture() {
    net.sys.setCapacity(1000);
    net.io().setFactory(0, talk);
  }
  ~Fixture() { net.io().closeAll(); }
  std::vector<SimPeer> connect(int count) {
    std::vector<SimPeer> peers;
    for (int i = 0; i < count; ++i) peers.push_back(net.connect());
    return peers;
  }
  void say(SimPeer& peer, std::string_view text) {
    peer.write(text);
    REQUIRE(net.settle());
  }
  size_t relieve(uint64_t wanted) {
    const size_t before = net.io().size();
    MemoryRelief relief;
    relief.begin(wanted, 1);
    evictor.relieve(relief);
    REQUIRE(net.pass(100, 1));
    CHECK(relief.over());
    return before - net.io().size();
  }
};

size_t goneOf(const std::vector<SimPeer>& peers) {
  size_t gone = 0;
  for (const SimPeer& peer : peers) gone += peer.gone() ? 1 : 0;
  return gone;
}

TEST_CASE("evictor: who has been idle longest goes first", "[evictor]") {
  Fixture f;
  std::vector<SimPeer> peers = f.connect(10);
  for (size_t i : {3U, 7U, 1U, 9U, 0U, 2U, 4U, 5U, 6U, 8U}) {
    REQUIRE(f.net.pass(1000));
    f.say(peers[i], "x");
  }
  f.say(peers[7], "busy");
  std::vector<size_t> order;
  while (true) {
    const size_t closed = f.evictor.evictIdle().closed;
    REQUIRE(f.net.settle());
    if (closed == 0) break;
    CHECK(closed == 1);  // of so few
    for (size_t i = 0; i < peers.size(); ++i) {
      if (peers[i].gone() && std::find(order.begin(), order.end(), i) == order.end()) order.push_back(i);
    }
  }
  CHECK(order == std::vector<size_t>{3, 1, 9, 0, 2, 4, 5, 6, 8});
  CHECK_FALSE(peers[7].gone());
  CHECK(f.evictor.evictedCount() == 9);
}

TEST_CASE("evictor: who has spoken since it was looked at stays", "[evictor]") {
  Fixture f;
  std::vector<SimPeer> peers = f.connect(3);
  REQUIRE(f.net.pass(5000));
  f.say(peers[2], "x");
  CHECK(f.evictor.evictIdle().closed == 1);
  const size_t next = peers[0].gone() ? 1 : 0;
  REQUIRE(f.net.pass(5000));
  f.say(peers[next], "x");
  CHECK(f.evictor.evictIdle().closed == 1);
  CHECK_FALSE(peers[next].gone());
  CHECK(peers[2].gone());
}

TEST_CASE("evictor: very many connections are looked at in turns", "[evictor]") {
  Fixture f;
  std::vector<SimPeer> peers = f.connect(static_cast<int>(Evictor::kTurnSlots) * 2);
  REQUIRE(f.net.pass(1000, 1000));
  for (size_t i = 10; i < peers.size(); ++i) peers[i].write("x");
  REQUIRE(f.net.settle());
  const Evictor::Evicted first = f.evictor.evictIdle();
  CHECK(first.closed == 0);
  CHECK(first.more_may_follow);
  REQUIRE(f.net.pass(10, 1));
  CHECK(goneOf(peers) == Evictor::kMostIdle);
  for (size_t i = 0; i < 10; ++i) CHECK(peers[i].gone());
}

TEST_CASE("evictor: while nobody is idle, asking costs no walk each time", "[evictor]") {
  Fixture f;
  std::vector<SimPeer> peers = f.connect(2);
  for (SimPeer& peer : peers) f.say(peer, "busy");
  CHECK(f.evictor.evictIdle().closed == 0);
  peers.push_back(f.net.connect());
  REQUIRE(f.net.pass(50));
  CHECK(f.evictor.evictIdle().closed == 0);
  REQUIRE(f.net.pass(100));
  CHECK(f.evictor.evictIdle().closed == 1);
  CHECK(peers[2].gone());
}

TEST_CASE("evictor: for memory those go that hold most, and no more than it takes", "[evictor]") {
  Fixture f;
  std::vector<SimPeer> peers = f.connect(9);
  for (size_t i = 0; i < 6; ++i) f.say(peers[i], "big" + std::to_string(20000 * (i + 1)));
  f.say(peers[6], "busy");
  f.say(peers[7], "big1500");  // little waits for it
  SECTION("the dearest") {
    CHECK(f.relieve(200000) == 2);
    CHECK(peers[5].sawReset());
    CHECK(peers[4].sawReset());
  }
  SECTION("all that are dear") {
    CHECK(f.relieve(100 << 20) == 0);  // somebody else holds it: nobody would gain
    CHECK(f.relieve(1 << 20) == 6);
    for (size_t i = 6; i < peers.size(); ++i) CHECK_FALSE(peers[i].gone());
  }
  SECTION("nobody, when nothing is wanted any more") {
    CHECK(f.relieve(0) == 0);
  }
}

TEST_CASE("evictor: where idle connections hold more than the others, they go", "[evictor]") {
  Fixture f;
  std::vector<SimPeer> peers = f.connect(300);
  REQUIRE(f.net.pass(2000));
  f.say(peers[5], "big5000");
  f.say(peers[6], "busy");
  CHECK(f.relieve(128 * 100) == 128);  // two turns
  CHECK_FALSE(peers[5].gone());
  CHECK_FALSE(peers[6].gone());
}

TEST_CASE("evictor: the dearest of all loops go, whichever loop they are on", "[evictor]") {
  Fixture a;
  Fixture b;
  std::vector<SimPeer> dear = a.connect(2);
  std::vector<SimPeer> cheap = b.connect(2);
  for (SimPeer& peer : dear) a.say(peer, "big900000");
  for (SimPeer& peer : cheap) b.say(peer, "big30000");
  MemoryRelief relief;
  relief.begin(200000, 2);
  b.evictor.relieve(relief);
  REQUIRE(b.net.pass(5, 1));
  SECTION("once all have said what theirs hold") {
    CHECK(goneOf(cheap) == 0);
    a.evictor.relieve(relief);
    REQUIRE(a.net.pass(5, 1));
    REQUIRE(b.net.pass(5, 1));
    CHECK(relief.over());
    CHECK(goneOf(dear) == 1);
    CHECK(goneOf(cheap) == 0);
  }
  SECTION("but a loop that is stuck is not waited for without end") {
    REQUIRE(b.net.pass(100, 1));
    CHECK(goneOf(cheap) == 2);
  }
}

}  // namespace
}  // namespace roost::net
