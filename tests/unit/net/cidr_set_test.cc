#include "net/cidr_set.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace roost::net {
namespace {

CidrSet make(const std::vector<std::string>& entries) {
  auto result = CidrSet::build(entries);
  INFO(result.status().message());
  REQUIRE(result.ok());
  return std::move(result).value();
}

PeerAddr peer(const std::string& host) {
  auto address = SocketAddress::parse(host, 1);
  REQUIRE(address.ok());
  return PeerAddr::from(address->get(), address->size());
}

TEST_CASE("CidrSet: empty") {
  const CidrSet none;
  CHECK(none.empty());
  CHECK_FALSE(none.contains(peer("1.2.3.4")));
  CHECK(make({}).empty());
}

TEST_CASE("CidrSet: single addresses and networks") {
  const CidrSet set = make({"192.0.2.7", "10.0.0.0/8", "2001:db8::/32", "::1", "198.51.100.128/25"});
  CHECK_FALSE(set.empty());
  for (const char* in : {"192.0.2.7", "10.0.0.0", "10.255.255.255", "2001:db8::", "2001:db8:ffff::1", "::1",
                         "198.51.100.128", "198.51.100.255", "::ffff:10.1.2.3"}) {
    INFO(in);
    CHECK(set.contains(peer(in)));
  }
  for (const char* out : {"192.0.2.6", "192.0.2.8", "9.255.255.255", "11.0.0.0", "2001:db7:ffff::",
                          "2001:db9::", "::", "::2", "198.51.100.127", "198.51.101.0", "/run/x", "0.0.0.1"}) {
    INFO(out);
    CHECK_FALSE(set.contains(peer(out)));
  }
  CHECK_FALSE(set.contains(PeerAddr{}));
}

TEST_CASE("CidrSet: everything, nothing, and the ends of the address space") {
  const CidrSet all4 = make({"0.0.0.0/0"});
  CHECK(all4.contains(peer("0.0.0.0")));
  CHECK(all4.contains(peer("255.255.255.255")));
  CHECK_FALSE(all4.contains(peer("::1")));
  const CidrSet all6 = make({"::/0"});
  CHECK(all6.contains(peer("::")));
  CHECK(all6.contains(peer("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")));
  CHECK_FALSE(all6.contains(peer("1.2.3.4")));
  const CidrSet ends = make({"255.255.255.255", "0.0.0.0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"});
  CHECK(ends.contains(peer("255.255.255.255")));
  CHECK(ends.contains(peer("0.0.0.0")));
  CHECK_FALSE(ends.contains(peer("255.255.255.254")));
  CHECK_FALSE(ends.contains(peer("0.0.0.1")));
  CHECK(ends.contains(peer("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")));
  CHECK_FALSE(ends.contains(peer("ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe")));
}

TEST_CASE("CidrSet: host bits, mapped networks, overlaps, neighbours, duplicates") {
  CHECK(make({"10.1.2.3/8"}).contains(peer("10.200.0.1")));
  CHECK(make({"::ffff:192.0.2.0/120"}).contains(peer("192.0.2.9")));
  CHECK_FALSE(make({"::ffff:192.0.2.0/120"}).contains(peer("192.0.3.9")));
  CHECK_FALSE(make({"::/1"}).contains(peer("192.0.2.9")));
  const CidrSet set =
      make({"10.0.0.0/9", "10.128.0.0/9", "10.3.0.0/16", "10.3.0.0/16", "11.0.0.0/32", "11.0.0.1"});
  CHECK(set.contains(peer("10.127.255.255")));
  CHECK(set.contains(peer("10.128.0.0")));
  CHECK(set.contains(peer("11.0.0.1")));
  CHECK_FALSE(set.contains(peer("11.0.0.2")));
  const CidrSet v6 = make({"2001:db8::/64", "2001:db8:0:1::/64", "2001:db8::5/128"});
  CHECK(v6.contains(peer("2001:db8:0:0:ffff:ffff:ffff:ffff")));
  CHECK(v6.contains(peer("2001:db8:0:1::")));
  CHECK_FALSE(v6.contains(peer("2001:db8:0:2::")));
}

TEST_CASE("CidrSet: unix") {
  CHECK(make({"unix"}).contains(peer("/run/x")));
  CHECK_FALSE(make({"unix"}).contains(peer("127.0.0.1")));
}

TEST_CASE("CidrSet: the error names the entry") {
  for (const char* bad :
       {"", "x", "1.2.3", "1.2.3.4/", "1.2.3.4/33", "1.2.3.4/-1", "1.2.3.4/8x", "1.2.3.4/ 8", "::/129",
        "[::1]", "1.2.3.4/8/8", "fe80::1%lo", " 1.2.3.4", "1.2.3.4/999999999999"}) {
    auto result = CidrSet::build({"10.0.0.0/8", bad});
    INFO(bad);
    REQUIRE_FALSE(result.ok());
    CHECK(result.status().message().find("\"" + std::string(bad) + "\"") == 0);
  }
}

TEST_CASE("CidrSet: agrees with checking every network in turn") {
  std::mt19937 random(7);  // NOLINT: the same cases every time
  struct Network {
    uint32_t first;
    uint32_t last;
  };
  for (int round = 0; round < 40; ++round) {
    std::vector<Network> networks;
    std::vector<std::string> entries;
    const size_t count = random() % 300;
    for (size_t i = 0; i < count; ++i) {
      const uint32_t bits = 15 + static_cast<uint32_t>(random() % 18);
      const uint32_t host = bits == 32 ? 0 : (uint32_t{1} << (32 - bits)) - 1;
      const uint32_t first = (uint32_t{10} << 24 | static_cast<uint32_t>(random() & 0x3ffff)) & ~host;
      const in_addr in{htonl(first)};
      entries.push_back(std::string(::inet_ntoa(in)) + "/" + std::to_string(bits));
      networks.push_back({first, first | host});
    }
    const CidrSet set = make(entries);
    for (int probe = 0; probe < 500; ++probe) {
      uint32_t key = uint32_t{10} << 24 | static_cast<uint32_t>(random() & 0x3ffff);
      if (!networks.empty() && probe % 2 == 0) {  // the edges are where mistakes live
        const Network& near = networks[random() % networks.size()];
        key = (probe % 4 == 0 ? near.first : near.last) + static_cast<uint32_t>(random() % 3) - 1;
      }
      const bool expected = std::any_of(networks.begin(), networks.end(),
                                        [&](const Network& n) { return n.first <= key && key <= n.last; });
      PeerAddr address{};
      address.family = AF_INET;
      const uint32_t wire = htonl(key);
      std::memcpy(address.ip, &wire, 4);
      REQUIRE(set.contains(address) == expected);
    }
  }
}

TEST_CASE("CidrSet: IPv6 agrees with checking every network in turn") {
  std::mt19937_64 random(9);  // NOLINT
  struct Network {
    uint8_t ip[16];
    int bits;
  };
  for (int round = 0; round < 40; ++round) {
    std::vector<Network> networks(random() % 200);
    std::vector<std::string> entries;
    for (Network& network : networks) {
      std::memset(network.ip, 0, sizeof network.ip);
      network.ip[0] = 0x20;
      for (int i : {6, 7, 8, 9, 15}) network.ip[i] = static_cast<uint8_t>(random() & 3);
      network.bits = static_cast<int>(48 + random() % 81);
      char text[INET6_ADDRSTRLEN];
      ::inet_ntop(AF_INET6, network.ip, text, sizeof text);
      entries.push_back(std::string(text) + "/" + std::to_string(network.bits));
    }
    const CidrSet set = make(entries);
    for (int probe = 0; probe < 300; ++probe) {
      PeerAddr address{};
      address.family = AF_INET6;
      address.ip[0] = 0x20;
      for (int i : {6, 7, 8, 9, 15}) address.ip[i] = static_cast<uint8_t>(random() & 3);
      const bool expected = std::any_of(networks.begin(), networks.end(), [&](const Network& n) {
        for (int bit = 0; bit < n.bits; ++bit) {
          if (((n.ip[bit / 8] ^ address.ip[bit / 8]) >> (7 - bit % 8) & 1) != 0) return false;
        }
        return true;
      });
      REQUIRE(set.contains(address) == expected);
    }
  }
}

}  // namespace
}  // namespace roost::net
