#include "http/host.h"

#include <catch2/catch.hpp>
#include <string>

namespace roost::http {
namespace {

std::string lowered(std::string_view host) {
  char out[kMaxHostBytes];
  return std::string(out, lowerHost(host, out));
}

TEST_CASE("Host: names (RFC 3986 3.2.2 reg-name)") {
  for (const char* name :
       {"example.org", "a", "xn--bcher-kva.example", "a_b.example", "1.2.3", "256.1.1.1", "1.2.3.4.5",
        "01.2.3.4", "a-b~c!d$e&f'g(h)i*j+k;l=m", "%41b%c3%A9", "localhost", ".a", "a..b"}) {
    const Authority authority = parseHost(name);
    INFO(name);
    CHECK(authority.kind == HostKind::kRegName);
    CHECK_FALSE(authority.has_port);
  }
  CHECK(parseHost("example.org").host == "example.org");
}

TEST_CASE("Host: ports (RFC 3986 3.2.3)") {
  const Authority with = parseHost("example.org:8080");
  CHECK(with.host == "example.org");
  CHECK(with.has_port);
  CHECK(with.port == 8080);
  const Authority empty = parseHost("example.org:");
  CHECK(empty.host == "example.org");
  CHECK(empty.ok());
  CHECK_FALSE(empty.has_port);
  CHECK(parseHost("a:0").port == 0);
  CHECK(parseHost("a:65535").port == 65535);
  CHECK(parseHost("a:00080").port == 80);
  for (const char* bad : {"a:65536", "a:8o", "a:-1", "a:+1", "a:80:80", "a::80", "a: 80", "a:80 ",
                          "a:99999999999999999999", "[::1]:x", "[::1]:65536"}) {
    INFO(bad);
    CHECK_FALSE(parseHost(bad).ok());
  }
}

TEST_CASE("Host: addresses") {
  CHECK(parseHost("192.0.2.1").kind == HostKind::kIpv4);
  CHECK(parseHost("0.0.0.0").kind == HostKind::kIpv4);
  CHECK(parseHost("255.255.255.255:1").kind == HostKind::kIpv4);
  for (const char* v6 :
       {"[::1]", "[::]", "[2001:db8::1]", "[1:2:3:4:5:6:7:8]", "[::ffff:192.0.2.1]", "[fe80::A]"}) {
    const Authority authority = parseHost(v6);
    INFO(v6);
    CHECK(authority.kind == HostKind::kIpv6);
    CHECK(authority.host == v6);
  }
  const Authority port = parseHost("[::1]:443");
  CHECK(port.host == "[::1]");
  CHECK(port.port == 443);
  CHECK(parseHost("[::1]:").ok());
  for (const char* bad : {"[",
                          "]",
                          "[]",
                          "[::1",
                          "::1]",
                          "[::1]x",
                          "[:::1]",
                          "[1.2.3.4]",
                          "[::g]",
                          "[fe80::1%25eth0]",
                          "[fe80::1%eth0]",
                          "[v1.x]",
                          "::1",
                          "2001:db8::1",
                          "[::1]]",
                          "[[::1]]",
                          "[ ::1]",
                          "a[::1]",
                          "[1:2:3:4:5:6:7:8:9]",
                          "[12345::]"}) {
    INFO(bad);
    CHECK_FALSE(parseHost(bad).ok());
  }
}

TEST_CASE("Host: what is refused") {
  for (const char* bad : {" ",
                          "a b",
                          " a",
                          "a ",
                          "a\t",
                          "user@example.org",
                          "user:pw@example.org",
                          "@",
                          "a,b",
                          "a, b",
                          "a/b",
                          "a?b",
                          "a#b",
                          "a\\b",
                          "http://a",
                          "a<b",
                          "a>b",
                          "a\"b",
                          "a{b}",
                          "a|b",
                          "a^b",
                          "a`b",
                          ":",
                          ":80",
                          "%",
                          "%4",
                          "%4g",
                          "a%",
                          "a%zz:80",
                          ".",
                          "..",
                          "a..",
                          ".:80",
                          "\x80",
                          "\xc3\xa9",
                          "a\x7f",
                          "a\r\nb",
                          "a\x01"}) {
    INFO(bad);
    CHECK_FALSE(parseHost(bad).ok());
  }
  CHECK_FALSE(parseHost(std::string("a\0b", 3)).ok());
  CHECK_FALSE(parseHost(std::string("[::1\0]", 6)).ok());
}

TEST_CASE("Host: an empty value (RFC 9112 3.2) is for the Host field only") {
  CHECK(parseHost("").kind == HostKind::kEmpty);
  CHECK(parseHost("").ok());
  CHECK(parseAuthority("").kind == HostKind::kInvalid);
  CHECK(parseAuthority("a:1").ok());
}

TEST_CASE("Host: the dot that may end a name does not count") {
  CHECK(parseHost("example.org.").host == "example.org");
  CHECK(parseHost("example.org.:80").host == "example.org");
  CHECK(parseHost("1.2.3.4.").kind == HostKind::kIpv4);
}

TEST_CASE("Host: length") {
  CHECK(parseHost(std::string(kMaxHostBytes, 'a')).ok());
  CHECK_FALSE(parseHost(std::string(kMaxHostBytes + 1, 'a')).ok());
  CHECK(parseHost(std::string(kMaxHostBytes, 'a') + ":80").ok());
}

TEST_CASE("Host: case") {
  CHECK(lowered("ExAMPLE.Org") == "example.org");
  CHECK(lowered("[FE80::1]") == "[fe80::1]");
}

}  // namespace
}  // namespace roost::http
