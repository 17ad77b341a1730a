#include "net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <type_traits>

namespace roost::net {
namespace {

SocketAddress make(const std::string& host, uint32_t port) {
  auto result = SocketAddress::parse(host, port);
  INFO(result.status().message());
  REQUIRE(result.ok());
  return *result;
}

std::string errorOf(const std::string& host, uint32_t port = 80) {
  auto result = SocketAddress::parse(host, port);
  REQUIRE_FALSE(result.ok());
  return result.status().message();
}

PeerAddr peer(const std::string& host, uint32_t port) {
  const SocketAddress address = make(host, port);
  return PeerAddr::from(address.get(), address.size());
}

TEST_CASE("SocketAddress: text to address and back") {
  CHECK(make("127.0.0.1", 80).toString() == "127.0.0.1:80");
  CHECK(make("0.0.0.0", 0).toString() == "0.0.0.0:0");
  CHECK(make("255.255.255.255", 65535).toString() == "255.255.255.255:65535");
  CHECK(make("::1", 8080).toString() == "[::1]:8080");
  CHECK(make("[::1]", 8080).toString() == "[::1]:8080");
  CHECK(make("[::]", 1).toString() == "[::]:1");
  CHECK(make("2001:DB8:0:0:0:0:0:1", 1).toString() == "[2001:db8::1]:1");
  CHECK(make("::ffff:1.2.3.4", 7).toString() == "[::ffff:1.2.3.4]:7");
  CHECK(make("fe80::1%1", 7).toString() == "[fe80::1%1]:7");
  CHECK(make("[fe80::1%1]", 7).toString() == "[fe80::1%1]:7");
  CHECK(make("fe80::1%lo", 7).toString() == "[fe80::1%1]:7");  // lo is interface 1 everywhere
  CHECK(make("/run/x.sock", 80).toString() == "unix:/run/x.sock");
  CHECK(make("./x.sock", 80).toString() == "unix:./x.sock");
  CHECK(make("unix:x.sock", 80).toString() == "unix:x.sock");
  CHECK(make("@name", 80).toString() == "unix:@name");
  CHECK(make("unix:@a/b", 80).toString() == "unix:@a/b");
}

TEST_CASE("SocketAddress: what the kernel gets") {
  const SocketAddress v4 = make("1.2.3.4", 513);
  const auto* in = reinterpret_cast<const sockaddr_in*>(v4.get());
  CHECK(v4.size() == sizeof(sockaddr_in));
  CHECK(in->sin_family == AF_INET);
  CHECK(in->sin_port == htons(513));
  CHECK(ntohl(in->sin_addr.s_addr) == 0x01020304);
  CHECK(v4.port() == 513);

  const SocketAddress v6 = make("fe80::1%7", 514);
  CHECK(v6.size() == sizeof(sockaddr_in6));
  CHECK(reinterpret_cast<const sockaddr_in6*>(v6.get())->sin6_scope_id == 7);
  CHECK(v6.port() == 514);

  const SocketAddress path = make("/a", 1);
  CHECK(path.family() == AF_UNIX);
  CHECK(path.size() == offsetof(sockaddr_un, sun_path) + 3);  // with its NUL
  CHECK(path.unixPath() == "/a");
  CHECK_FALSE(path.isAbstract());
  CHECK(path.port() == 0);

  const SocketAddress abstract = make("@ab", 1);
  CHECK(abstract.size() == offsetof(sockaddr_un, sun_path) + 3);  // a NUL in front, none behind
  CHECK(reinterpret_cast<const sockaddr_un*>(abstract.get())->sun_path[0] == '\0');
  CHECK(abstract.unixPath() == "ab");
  CHECK(abstract.isAbstract());
}

TEST_CASE("SocketAddress: errors name what is wrong") {
  for (const char* host :
       {"localhost", "1.2.3", "1.2.3.4.5", "01.2.3.4", "256.1.1.1", "1.2.3.4 ", "*", "0x7f.1"}) {
    INFO(host);
    CHECK(errorOf(host).find(host) != std::string::npos);
  }
  for (const char* host :
       {"[::1", "[]", "[1.2.3.4]", "::1::", "1:2:3:4:5:6:7:8:9", ":::", "[::1]]", "[[::1]"}) {
    INFO(host);
    CHECK(errorOf(host).find(host) != std::string::npos);
  }
  CHECK(errorOf("") == "the address is empty");
  CHECK(errorOf("fe80::1%nosuchif0").find("no such network interface") != std::string::npos);
  CHECK(errorOf("fe80::1%").find("no such network interface") != std::string::npos);
  CHECK(errorOf("1.2.3.4", 65536) == "port 65536 is above 65535");
  CHECK(errorOf("@").find("no socket path") != std::string::npos);
  CHECK(errorOf("unix:").find("no socket path") != std::string::npos);
  CHECK(errorOf(std::string("/a\0b", 4)).find("NUL") != std::string::npos);
  CHECK(errorOf(std::string("1.2.3.4\0x", 9)).find("not an IP address") != std::string::npos);
}

TEST_CASE("SocketAddress: the longest Unix path") {
  const std::string fits = "/" + std::string(106, 'x');
  CHECK(make(fits, 0).unixPath() == fits);
  CHECK(errorOf(fits + "x").find("108 bytes") != std::string::npos);
}

TEST_CASE("PeerAddr: text") {
  CHECK(peer("1.2.3.4", 80).toString() == "1.2.3.4:80");
  CHECK(peer("::1", 80).toString() == "[::1]:80");
  CHECK(peer("/a", 80).toString() == "unix");
  CHECK(PeerAddr{}.toString() == "none");
  const std::string longest = "1111:2222:3333:4444:5555:6666:7777:8888";
  CHECK(peer(longest, 65535).toString() == "[" + longest + "]:65535");
  char text[PeerAddr::kMaxText];
  CHECK(std::string(text, peer("1.2.3.4", 80).formatIp(text)) == "1.2.3.4");
  CHECK(std::string(text, peer("2001:db8::1", 80).formatIp(text)) == "2001:db8::1");
  CHECK(std::string(text, peer("/a", 80).formatIp(text)) == "unix");
}

TEST_CASE("PeerAddr: a mapped IPv4 address is IPv4") {
  const PeerAddr mapped = peer("::ffff:1.2.3.4", 80);
  CHECK(mapped.family == AF_INET);
  CHECK(mapped == peer("1.2.3.4", 80));
  CHECK(mapped != peer("1.2.3.4", 81));
  CHECK(mapped != peer("1.2.3.5", 80));
  CHECK(peer("::1.2.3.4", 80).family == AF_INET6);  // the old compatible form is not mapped
}

TEST_CASE("PeerAddr: addresses the kernel may leave short or strange") {
  static_assert(std::is_trivially_copyable_v<PeerAddr>);
  CHECK(PeerAddr::from(nullptr, 0).family == 0);
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  const auto* any = reinterpret_cast<const sockaddr*>(&v4);
  CHECK(PeerAddr::from(any, 0).family == 0);
  CHECK(PeerAddr::from(any, sizeof v4 - 1).family == 0);
  CHECK(PeerAddr::from(any, sizeof v4).family == AF_INET);
  v4.sin_family = AF_UNIX;  // an unnamed Unix peer is only the family
  CHECK(PeerAddr::from(any, sizeof(sa_family_t)).family == AF_UNIX);
  v4.sin_family = AF_NETLINK;
  CHECK(PeerAddr::from(any, sizeof v4).family == 0);
}

}  // namespace
}  // namespace roost::net
