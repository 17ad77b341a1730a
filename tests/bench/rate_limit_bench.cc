// links: roost_net benchmark::benchmark
// What a check of a rate limit or of a connection limit costs, and what a million keys take in memory.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <random>
#include <vector>

#include "base/count_table.h"
#include "base/rate_table.h"
#include "base/sip_hash.h"
#include "net/address_hash.h"

namespace {

using roost::CountTable;
using roost::RateTable;
using roost::SipKey;
using roost::net::AddressHash;
using roost::net::PeerAddr;

constexpr uint32_t kKeys = 1'000'000;
const SipKey kSecret{1, 2};

PeerAddr peer(uint32_t number) {
  PeerAddr made{};
  made.family = AF_INET;
  std::memcpy(made.ip, &number, sizeof number);
  return made;
}

// Addresses in no order, so that neither caches nor branches are warm for them.
const std::vector<PeerAddr>& peers() {
  static const std::vector<PeerAddr> all = [] {
    std::mt19937 random(1);  // NOLINT: the same every time
    std::vector<PeerAddr> made;
    for (int i = 0; i < 1 << 16; ++i) made.push_back(peer(static_cast<uint32_t>(random() % kKeys)));
    return made;
  }();
  return all;
}

RateTable& rates() {
  static const auto table = std::move(RateTable::create({1'000'000, 1, 1'000'000}, kKeys)).value();
  return *table;
}

double residentMiB() {
  std::ifstream statm("/proc/self/statm");
  double total = 0;
  double resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

void addressHash(benchmark::State& state) {
  const AddressHash hash(kSecret, 64);
  size_t at = 0;
  for (auto _ : state) benchmark::DoNotOptimize(hash(peers()[at++ & 0xffff]));
}
BENCHMARK(addressHash);

// Hash and check; all threads with one address, which is the worst there is, or each with many.
void rateCheck(benchmark::State& state, bool one_address) {
  const AddressHash hash(kSecret, 64);
  size_t at = static_cast<size_t>(state.thread_index()) * 7919;
  int64_t now = 1'000'000'000'000;
  for (auto _ : state) {
    const PeerAddr& client = one_address ? peers()[0] : peers()[at++ & 0xffff];
    benchmark::DoNotOptimize(rates().take(hash(client), now));
    now += 1000;
  }
}
BENCHMARK_CAPTURE(rateCheck, one_address, true)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK_CAPTURE(rateCheck, many_addresses, false)->ThreadRange(1, 2)->UseRealTime();

void rateRefused(benchmark::State& state) {
  const auto table = std::move(RateTable::create({1, 3600, 1}, 1000)).value();
  const AddressHash hash(kSecret, 64);
  for (auto _ : state) benchmark::DoNotOptimize(table->take(hash(peers()[0]), 1'000'000'000'000));
}
BENCHMARK(rateRefused);

void countInAndOut(benchmark::State& state, bool one_address) {
  static const auto table = std::move(CountTable::create(kKeys)).value();
  const AddressHash hash(kSecret, 64);
  size_t at = static_cast<size_t>(state.thread_index()) * 7919;
  for (auto _ : state) {
    const uint64_t key = hash(one_address ? peers()[0] : peers()[at++ & 0xffff]);
    if (table->enter(key, 1000) == CountTable::Entry::kCounted) table->leave(key);
  }
}
BENCHMARK_CAPTURE(countInAndOut, one_address, true)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK_CAPTURE(countInAndOut, many_addresses, false)->ThreadRange(1, 2)->UseRealTime();

// One request of each of a million addresses, all of which stay in debt.
void millionAddresses(benchmark::State& state) {
  const AddressHash hash(kSecret, 64);
  for (auto _ : state) {
    const double before = residentMiB();
    const auto table = std::move(RateTable::create({1, 3600, 1}, kKeys)).value();
    for (uint32_t i = 0; i < kKeys; ++i) table->take(hash(peer(i)), 1'000'000'000'000);
    state.counters["MiB"] = residentMiB() - before;
    uint64_t forgiven = 0;
    for (uint32_t i = 0; i < kKeys; ++i) {
      forgiven += table->take(hash(peer(i)), 1'000'000'000'000).admitted ? 1 : 0;
    }
    state.counters["forgotten"] = static_cast<double>(table->forgotten());
    state.counters["admitted_again"] = static_cast<double>(forgiven);
  }
}
BENCHMARK(millionAddresses)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
