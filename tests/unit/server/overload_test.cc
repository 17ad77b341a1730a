#include "server/overload.h"

#include <catch2/catch.hpp>

#include "support/sim_loop.h"

using namespace roost;
using namespace roost::server;
using net::Load;

namespace {

constexpr uint64_t kMiB = 1 << 20;
uint64_t g_resident = 0;  // what the watch is told

struct MemoryFixture {
  test::SimLoop net;
  std::atomic<Load> load{Load::kFine};
  MemoryWatch watch{net.loop(), load, [](uint64_t) { return g_resident; }};
  uint64_t wanted = 0;  // of the loops, altogether
  int rounds = 0;
  uint64_t frees = 0;  // what the loops have to give in each round

  MemoryFixture() {
    g_resident = 10 * kMiB;
    watch.setLoops(2, [this](net::MemoryRelief& relief) {
      ++rounds;
      wanted += static_cast<uint64_t>(relief.wantedBytes());
      relief.freed(frees);
      g_resident -= frees;
      for (int i = 0; i < 2; ++i) relief.leave();
    });
    watch.start(100 * kMiB);
  }
  Load after(uint64_t mib) {
    g_resident = mib * kMiB;
    REQUIRE(net.pass(MemoryWatch::kStepMs * 2));
    return load;
  }
};

// A loop whose every turn takes `busy_ms` from now on.
struct LagFixture {
  test::SimLoop net;
  net::LoadGate gate{nullptr};
  LagWatch watch{net.loop(), 100, gate};

  LagFixture() { watch.start(); }
  Load after(int64_t busy_ms, int turns) {
    for (int i = 0; i < turns; ++i) {
      net.sys.advanceMs(busy_ms);
      net.loop().runOnce(0);
    }
    return gate.load();
  }
};

}  // namespace

TEST_CASE("memory: connections first, then requests, and back", "[overload]") {
  MemoryFixture f;
  CHECK(f.after(89) == Load::kFine);
  CHECK(f.after(91) == Load::kNoConnections);
  CHECK(f.after(86) == Load::kNoConnections);  // not at the first byte below
  CHECK(f.after(99) == Load::kNoConnections);
  CHECK(f.after(100) == Load::kNoRequests);
  CHECK(f.after(96) == Load::kNoRequests);
  CHECK(f.after(94) == Load::kNoConnections);
  CHECK(f.after(84) == Load::kFine);
  CHECK(f.after(200) == Load::kNoRequests);
  CHECK(f.after(10) == Load::kFine);
}

TEST_CASE("memory: while it is short, connections are to give back what is missing", "[overload]") {
  MemoryFixture f;
  f.after(89);
  CHECK(f.rounds == 0);
  SECTION("until new connections may come again") {
    f.frees = 4 * kMiB;
    CHECK(f.after(92) == Load::kFine);
    CHECK(f.rounds == 2);  // to 88, to 84
    CHECK(f.wanted == (12 + 8) * kMiB);
  }
  SECTION("less often where they have nothing to give") {
    f.after(92);
    const int at_first = f.rounds;
    CHECK(at_first < 6);
    REQUIRE(f.net.pass(10000));
    CHECK(f.rounds < at_first + 14);
    CHECK(f.rounds > at_first + 6);
    CHECK(f.load == Load::kNoConnections);
  }
}

// 900 clients took 470 MB in 26 ms, a tenth of the time between two looks.
TEST_CASE("memory: a loop that takes much is noticed at once", "[overload][regression]") {
  MemoryFixture f;
  REQUIRE(f.net.pass(300));
  g_resident = 95 * kMiB;
  f.watch.onGrowth();
  CHECK(f.load == Load::kNoConnections);
  CHECK(f.rounds == 0);
  g_resident = 120 * kMiB;
  f.watch.onGrowth();
  CHECK(f.load == Load::kNoRequests);
  REQUIRE(f.net.settle());  // no time passes
  CHECK(f.rounds == 1);
  g_resident = 10 * kMiB;
  f.watch.onGrowth();
  CHECK(f.load == Load::kNoRequests);  // it is for the main thread to say that it is over
  REQUIRE(f.net.pass(100));
  CHECK(f.load == Load::kFine);
}

TEST_CASE("memory: the system tells how much there is", "[overload]") {
  CHECK(MemoryWatch::residentBytes() > kMiB);
  const ProcessMemory now = readProcessMemory();
  CHECK(now.address_space_bytes > now.resident_bytes);
  CHECK(now.data_bytes > 0);
  CHECK(usualMemoryCap(readSystemFacts(), now) > 32 * kMiB);
}

TEST_CASE("memory: the least limit counts", "[overload]") {
  SystemFacts facts;
  const ProcessMemory now{500 * kMiB, 100 * kMiB, 250 * kMiB};
  CHECK(usualMemoryCap(facts, now) == 0);
  facts.memory_bytes = 4000 * kMiB;
  CHECK(usualMemoryCap(facts, now) == 3200 * kMiB);
  facts.memory_limit_bytes = 2000 * kMiB;
  CHECK(usualMemoryCap(facts, now) == 1600 * kMiB);
  SECTION("of address space, 400 MiB are never resident") {
    facts.address_space_limit_bytes = 1400 * kMiB;
    CHECK(usualMemoryCap(facts, now) == 800 * kMiB);
    facts.address_space_limit_bytes = 300 * kMiB;  // less than there is already
    CHECK(usualMemoryCap(facts, now) == 80 * kMiB);
  }
  SECTION("of private memory, 150 MiB") {
    facts.data_limit_bytes = 650 * kMiB;
    CHECK(usualMemoryCap(facts, now) == 400 * kMiB);
  }
}

TEST_CASE("lag: a loop that is on time admits everything", "[overload]") {
  LagFixture f;
  CHECK(f.after(LagWatch::kStepMs, 20) == Load::kFine);
  CHECK(f.watch.lagNs() == 0);
}

TEST_CASE("lag: one slow moment sheds nothing", "[overload]") {
  LagFixture f;
  CHECK(f.after(LagWatch::kStepMs + 199, 1) == Load::kFine);
  CHECK(f.after(LagWatch::kStepMs, 20) == Load::kFine);
}

TEST_CASE("lag: a loop that stays behind stops connections, then requests", "[overload]") {
  LagFixture f;
  CHECK(f.after(LagWatch::kStepMs + 80, 20) == Load::kNoConnections);
  CHECK(f.after(LagWatch::kStepMs + 300, 20) == Load::kNoRequests);
  CHECK_FALSE(f.gate.admitsRequests());
  CHECK(f.after(LagWatch::kStepMs + 60, 20) == Load::kNoRequests);  // half of the limit is not yet reached
  CHECK(f.after(LagWatch::kStepMs + 40, 20) == Load::kNoConnections);
  CHECK(f.after(LagWatch::kStepMs, 20) == Load::kFine);
  CHECK(f.gate.admitsConnections());
}

TEST_CASE("the gate says the worse of the process and the loop", "[overload]") {
  std::atomic<Load> process{Load::kFine};
  net::LoadGate gate(&process);
  CHECK(gate.admitsConnections());
  gate.setOwn(Load::kNoConnections);
  CHECK_FALSE(gate.admitsConnections());
  CHECK(gate.admitsRequests());
  process = Load::kNoRequests;
  CHECK_FALSE(gate.admitsRequests());
  gate.setOwn(Load::kFine);
  CHECK_FALSE(gate.admitsConnections());
}
