// Connections while memory is out: the one that needs some ends, the others do not.
#include <catch2/catch.hpp>
#include <cerrno>
#include <functional>
#include <string>

#include "metrics/registry.h"
#include "net/counters.h"
#include "net/io_context.h"
#include "support/no_memory.h"
#include "support/sim_loop.h"

namespace roost::net {
namespace {

struct Talker final : Session, SessionFactory {
  std::function<void(Connection&, Chunk&)> on_read = [](Connection& c, Chunk& in) {
    c.write({in.data(), in.size()});
    in.consume(in.size());
  };
  int failures = 0;
  int last_errno = 0;
  int closed = 0;

  Session& sessionFor(Connection&) noexcept override { return *this; }
  void onRead(Connection& c, Chunk& in) noexcept override { on_read(c, in); }
  void onError(Connection&, int sys_errno) noexcept override {
    ++failures;
    last_errno = sys_errno;
  }
  void onClose(Connection&) noexcept override { ++closed; }
};

struct NoMemoryFixture {
  NoMemoryFixture() : counters(registry) {
    net.io().setFactory(0, talker);
    net.io().setCounters(&counters);
  }
  // It is served as ever.
  void checkServed(test::SimPeer& peer) {
    peer.write("hello");
    net.settle();
    CHECK(peer.read() == "hello");
  }
  metrics::Registry registry;
  IoCounters counters;
  Talker talker;
  test::SimLoop net;
};

TEST_CASE("no memory: a connection whose answer has no room fails, and sends no part of it", "[connection]") {
  NoMemoryFixture f;
  test::SimPeer large = f.net.connect();
  test::SimPeer other = f.net.connect();
  f.net.settle();
  bool is_dead_within = true;
  f.talker.on_read = [&](Connection& c, Chunk& in) {
    c.write("head ");
    c.write(std::string(200'000, 'x'));
    c.write("tail");
    is_dead_within = c.closed();
    in.consume(in.size());
  };
  {
    const test::NoMemory none(100'000);
    large.write("give");
    REQUIRE(f.net.settle());
  }
  CHECK_FALSE(is_dead_within);
  CHECK(large.read().empty());
  CHECK(f.talker.failures == 1);
  CHECK(f.talker.last_errno == ENOMEM);
  CHECK(f.talker.closed == 1);
  CHECK(f.counters.no_memory.value() == 1);
  f.talker.on_read = Talker().on_read;
  f.checkServed(other);
}

TEST_CASE("no memory: a connection whose input has no room fails", "[connection]") {
  NoMemoryFixture f;
  test::SimPeer keeps = f.net.connect();
  test::SimPeer other = f.net.connect();
  f.net.settle();
  f.talker.on_read = [](Connection&, Chunk&) {};  // it wants more first
  {
    const test::NoMemory none;
    keeps.write("half a line");
    REQUIRE(f.net.settle());
    CHECK(f.talker.failures == 1);
    CHECK(f.counters.no_memory.value() == 1);
  }
  test::SimPeer grows = f.net.connect();
  grows.write(std::string(60'000, 'x'));
  f.net.settle();
  {
    const test::NoMemory none;
    for (int i = 0; i < 4; ++i) {
      grows.write(std::string(60'000, 'x'));
      REQUIRE(f.net.settle());
    }
    CHECK(f.talker.failures == 2);
  }
  f.talker.on_read = Talker().on_read;
  f.checkServed(other);
}

}  // namespace
}  // namespace roost::net
