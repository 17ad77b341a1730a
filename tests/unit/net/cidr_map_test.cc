#include "net/cidr_map.h"

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
  auto result = CidrSet::parse(entries);
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

TEST_CASE("CidrSet: mapped networks, overlaps, neighbours, duplicates") {
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
    auto result = CidrSet::parse({"10.0.0.0/8", bad});
    INFO(bad);
    REQUIRE_FALSE(result.ok());
    CHECK(result.status().message().find("\"" + std::string(bad) + "\"") == 0);
  }
}

TEST_CASE("Cidr: bits right of the prefix are an error that names the network") {
  const std::pair<const char*, const char*> kCases[] = {{"192.0.2.7/24", "192.0.2.0/24"},
                                                        {"10.1.2.3/8", "10.0.0.0/8"},
                                                        {"1.0.0.0/0", "0.0.0.0/0"},
                                                        {"2001:db8::1/32", "2001:db8::/32"},
                                                        {"2001:db8::1/127", "2001:db8::/127"},
                                                        {"::ffff:192.0.2.7/120", "192.0.2.0/24"},
                                                        {"255.255.255.255/31", "255.255.255.254/31"}};
  for (const auto& [wrong, meant] : kCases) {
    const auto result = Cidr::parse(wrong);
    INFO(wrong);
    REQUIRE_FALSE(result.ok());
    CHECK(result.status().message().find("\"" + std::string(wrong) + "\" ") == 0);
    CHECK(result.status().message().find("write \"" + std::string(meant) + "\"") != std::string::npos);
    CHECK(Cidr::parse(meant).ok());
  }
}

TEST_CASE("Cidr: texts and back") {
  const std::pair<const char*, const char*> kCases[] = {{"192.0.2.7", "192.0.2.7"},
                                                        {"192.0.2.7/32", "192.0.2.7"},
                                                        {"0.0.0.0/0", "0.0.0.0/0"},
                                                        {"::/0", "::/0"},
                                                        {"2001:DB8::/32", "2001:db8::/32"},
                                                        {"::ffff:192.0.2.0/120", "192.0.2.0/24"},
                                                        {"unix", "unix"},
                                                        {"unix:", "unix"},
                                                        {"all", "all"}};
  for (const auto& [text, back] : kCases) {
    const auto result = Cidr::parse(text);
    INFO(text);
    REQUIRE(result.ok());
    CHECK(result->toString() == back);
  }
}

CidrMap<std::string> mapOf(const std::vector<std::string>& entries) {
  std::vector<std::pair<Cidr, std::string>> out;
  for (const std::string& entry : entries) out.emplace_back(Cidr::parse(entry).value(), entry);
  return CidrMap<std::string>(std::move(out));
}

TEST_CASE("CidrMap: the longest prefix counts, and of equal ones the first") {
  const CidrMap<std::string> map =
      mapOf({"0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.3", "10.1.2.128/25",
             "10.255.255.255", "2001:db8::/32", "2001:db8::/128", "unix"});
  const auto at = [&](const char* ip) {
    const std::string* found = map.find(peer(ip));
    return found == nullptr ? "none" : *found;
  };
  CHECK(at("9.255.255.255") == "0.0.0.0/0");
  CHECK(at("10.0.0.0") == "10.0.0.0/8");
  CHECK(at("10.1.0.0") == "10.1.0.0/16");
  CHECK(at("10.1.2.2") == "10.1.2.0/24");
  CHECK(at("10.1.2.3") == "10.1.2.3");
  CHECK(at("10.1.2.4") == "10.1.2.0/24");
  CHECK(at("10.1.2.128") == "10.1.2.128/25");
  CHECK(at("10.1.2.255") == "10.1.2.128/25");
  CHECK(at("10.1.3.0") == "10.1.0.0/16");
  CHECK(at("10.2.0.0") == "10.0.0.0/8");
  CHECK(at("10.255.255.254") == "10.0.0.0/8");
  CHECK(at("10.255.255.255") == "10.255.255.255");
  CHECK(at("11.0.0.0") == "0.0.0.0/0");
  CHECK(at("255.255.255.255") == "0.0.0.0/0");
  CHECK(at("2001:db8::") == "2001:db8::/128");
  CHECK(at("2001:db8::1") == "2001:db8::/32");
  CHECK(at("2001:db9::") == "none");
  CHECK(at("/run/x") == "unix");
  CHECK(map.find(PeerAddr{}) == nullptr);

  CidrMap<int> twice({{Cidr::parse("10.0.0.0/8").value(), 1}, {Cidr::parse("10.0.0.0/8").value(), 2}});
  CHECK(*twice.find(peer("10.0.0.1")) == 1);
}

TEST_CASE("CidrMap: all is shorter than every network") {
  const CidrMap<std::string> map = mapOf({"all", "10.0.0.0/8", "::/0"});
  CHECK(*map.find(peer("10.0.0.1")) == "10.0.0.0/8");
  CHECK(*map.find(peer("11.0.0.1")) == "all");
  CHECK(*map.find(peer("::1")) == "::/0");
  CHECK(*map.find(peer("/run/x")) == "all");
  CHECK(*map.find(PeerAddr{}) == "all");
  CHECK(CidrMap<int>().find(peer("1.2.3.4")) == nullptr);
}

TEST_CASE("CidrMap: agrees with trying every network in turn") {
  std::mt19937 random(11);  // NOLINT: the same cases every time
  struct Network {
    uint32_t first;
    uint32_t bits;
  };
  for (int round = 0; round < 40; ++round) {
    std::vector<Network> networks(random() % 200);
    std::vector<std::pair<Cidr, size_t>> entries;
    for (Network& network : networks) {
      network.bits = 14 + static_cast<uint32_t>(random() % 19);
      network.first = (uint32_t{10} << 24 | static_cast<uint32_t>(random() & 0x3ffff)) &
                      ~static_cast<uint32_t>((uint64_t{1} << (32 - network.bits)) - 1);
      Cidr cidr;
      cidr.family = AF_INET;
      cidr.prefix_bits = static_cast<uint8_t>(network.bits);
      const uint32_t wire = htonl(network.first);
      std::memcpy(cidr.ip, &wire, 4);
      entries.emplace_back(cidr, entries.size());
    }
    const CidrMap<size_t> map(std::move(entries));
    for (int probe = 0; probe < 500; ++probe) {
      const uint32_t key = (uint32_t{10} << 24 | static_cast<uint32_t>(random() & 0x3ffff)) - (probe == 0);
      size_t best = SIZE_MAX;
      for (size_t i = 0; i < networks.size(); ++i) {
        const bool inside = ((key ^ networks[i].first) >> (32 - networks[i].bits)) == 0;
        if (inside && (best == SIZE_MAX || networks[i].bits > networks[best].bits)) best = i;
      }
      const uint32_t wire = htonl(key);
      const size_t* found = map.find(PeerAddr::fromBytes(AF_INET, &wire, 0));
      REQUIRE((found == nullptr ? SIZE_MAX : *found) == best);
    }
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
      for (int bit = network.bits; bit < 128; ++bit) {
        network.ip[bit / 8] = static_cast<uint8_t>(network.ip[bit / 8] & ~(0x80 >> bit % 8));
      }
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
