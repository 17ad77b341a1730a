// links: roost_net benchmark::benchmark
// Looking an address up among many networks: random addresses, so that neither caches nor branches are warm
// for them.
#include <arpa/inet.h>
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "net/cidr_set.h"

namespace {

using roost::net::CidrSet;
using roost::net::PeerAddr;

// In 2001::/28 for IPv6, anywhere for IPv4.
PeerAddr randomPeer(std::mt19937_64& random, uint8_t family) {
  PeerAddr peer{};
  peer.family = family;
  for (size_t i = 0; i < (family == AF_INET ? 4u : 16u); ++i) peer.ip[i] = static_cast<uint8_t>(random());
  if (family == AF_INET6) {
    peer.ip[0] = 0x20;
    peer.ip[1] = 0x01;
    peer.ip[2] = 0;
    peer.ip[3] &= 0x0f;
  }
  return peer;
}

void contains(benchmark::State& state, uint8_t family) {
  std::mt19937_64 random(1);  // NOLINT: the same set every time
  std::vector<std::string> entries;
  for (int64_t i = 0; i < state.range(0); ++i) {
    char ip[PeerAddr::kMaxText];
    const size_t len = randomPeer(random, family).formatIp(ip);
    const uint64_t prefix_bits = family == AF_INET ? 20 + random() % 13 : 40 + random() % 25;
    entries.push_back(std::string(ip, len) + "/" + std::to_string(prefix_bits));
  }
  auto set = CidrSet::build(entries);
  if (!set.ok()) return state.SkipWithError(set.status().message().c_str());
  std::vector<PeerAddr> peers(1 << 16);
  for (PeerAddr& peer : peers) peer = randomPeer(random, family);

  size_t at = 0;
  uint64_t hits = 0;
  for (auto _ : state) hits += set->contains(peers[at++ & (peers.size() - 1)]) ? 1 : 0;
  state.counters["inside"] =
      benchmark::Counter(static_cast<double>(hits), benchmark::Counter::kAvgIterations);
}
BENCHMARK_CAPTURE(contains, ipv4, AF_INET)->Arg(0)->Arg(10)->Arg(1000)->Arg(100000);
BENCHMARK_CAPTURE(contains, ipv6, AF_INET6)->Arg(10)->Arg(1000)->Arg(100000);

}  // namespace

BENCHMARK_MAIN();
