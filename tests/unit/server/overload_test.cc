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
  MemoryWatch watch{net.loop(), 100 * kMiB, load, nullptr, [] { return g_resident; }};

  MemoryFixture() {
    g_resident = 10 * kMiB;
    watch.start();
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

TEST_CASE("memory: the system tells how much there is", "[overload]") {
  CHECK(MemoryWatch::residentBytes() > kMiB);
  CHECK(usualMemoryCap() > 64 * kMiB);
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
