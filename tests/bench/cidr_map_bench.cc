// links: roost_net benchmark::benchmark
// Looking an address up among many networks: random addresses, so that neither caches nor branches are warm
// for them.
#include <arpa/inet.h>
#include <benchmark/benchmark.h>

#include <random>
#include <utility>
#include <vector>

#include "net/cidr_map.h"

namespace {

using roost::net::Cidr;
using roost::net::CidrMap;
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

Cidr randomNetwork(std::mt19937_64& random, uint8_t family) {
  const PeerAddr peer = randomPeer(random, family);
  Cidr network;
  network.family = family;
  network.prefix_bits = static_cast<uint8_t>(family == AF_INET ? 20 + random() % 13 : 40 + random() % 25);
  for (unsigned bit = 0; bit < network.prefix_bits; ++bit) {
    network.ip[bit / 8] = static_cast<uint8_t>(network.ip[bit / 8] | (peer.ip[bit / 8] & (0x80 >> bit % 8)));
  }
  return network;
}

void find(benchmark::State& state, uint8_t family) {
  std::mt19937_64 random(1);  // NOLINT: the same map every time
  std::vector<std::pair<Cidr, uint32_t>> entries;
  for (uint32_t i = 0; i < state.range(0); ++i) entries.emplace_back(randomNetwork(random, family), i);
  const CidrMap<uint32_t> map(std::move(entries));
  std::vector<PeerAddr> peers(1 << 16);
  for (PeerAddr& peer : peers) peer = randomPeer(random, family);

  size_t at = 0;
  uint64_t hits = 0;
  for (auto _ : state) hits += map.find(peers[at++ & (peers.size() - 1)]) != nullptr ? 1 : 0;
  state.counters["covered"] =
      benchmark::Counter(static_cast<double>(hits), benchmark::Counter::kAvgIterations);
}
BENCHMARK_CAPTURE(find, ipv4, AF_INET)->Arg(0)->Arg(10)->Arg(1000)->Arg(100000);
BENCHMARK_CAPTURE(find, ipv6, AF_INET6)->Arg(10)->Arg(1000)->Arg(100000);

}  // namespace

BENCHMARK_MAIN();
