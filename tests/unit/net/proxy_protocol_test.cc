#include "net/proxy_protocol.h"

#include <catch2/catch.hpp>
#include <string>

#include "net/proxy_session.h"
#include "support/sim_loop.h"

namespace roost::net {
namespace {

using namespace std::string_literals;
using State = ProxyHeader::State;

const std::string kSignature = "\r\n\r\n\0\r\nQUIT\n"s;

std::string v2(const std::string& rest, char command = 0x21, char family = 0x11) {
  const auto size = static_cast<uint16_t>(rest.size());
  return kSignature + command + family + static_cast<char>(size >> 8) + static_cast<char>(size & 0xff) + rest;
}

const std::string kV4 = "\xc0\x00\x02\x07\xcb\x00\x71\x01\x10\xe1\x00\x50"s;

TEST_CASE("PROXY protocol: every prefix of a header needs more, and what follows is the client's") {
  const std::string headers[] = {"PROXY TCP4 192.0.2.7 203.0.113.1 4321 80\r\n", v2(kV4),
                                 v2(kV4 + "\x04\x00\x02xy"s)};
  for (const std::string& header : headers) {
    for (size_t size = 0; size < header.size(); ++size) {
      CHECK(parseProxyHeader({header.data(), size}).state == State::kNeedMore);
    }
    const std::string with_more = header + "GET / HTTP/1.1\r\n";
    const ProxyHeader read = parseProxyHeader(with_more);
    REQUIRE(read.state == State::kDone);
    CHECK(read.size == header.size());
    CHECK(read.client.toString() == "192.0.2.7:4321");
  }
}

TEST_CASE("PROXY protocol: a client that is not told has family 0") {
  for (const std::string& header : {"PROXY UNKNOWN\r\n"s, v2("", 0x20, 0), v2("", 0x21, 0), v2(kV4, 0x20)}) {
    const ProxyHeader read = parseProxyHeader(header);
    CHECK(read.state == State::kDone);
    CHECK(read.size == header.size());
    CHECK(read.client.family == 0);
  }
}

TEST_CASE("PROXY protocol: what differs from the first byte on is refused at once") {
  for (const std::string& bytes :
       {"G"s, "PO"s, "PROXZ"s, "\n"s, "\r\n\r\n\1"s, kSignature + "\x11"s + "\x11\0\0"s}) {
    CHECK(parseProxyHeader(bytes).state == State::kError);
  }
  CHECK(parseProxyHeader("PROXY " + std::string(101, 'x')).state == State::kError);
  CHECK(parseProxyHeader("PROXY " + std::string(100, 'x')).state == State::kNeedMore);
}

TEST_CASE("CRC-32C of what RFC 3720 gives") {
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43);
  CHECK(crc32c("123456789") == 0xe3069283);
  CHECK(crc32c("6789", crc32c("12345")) == 0xe3069283);
}

// Says what it got and from whom, then closes.
class Echo final : public Session, public SessionFactory {
 public:
  Session& sessionFor(Connection&) noexcept override { return *this; }
  void onConnected(Connection&) noexcept override { ++connected; }
  void onRead(Connection& connection, Chunk& in) noexcept override {
    connection.write(connection.peer().toString() + " " + std::string(in.data(), in.size()));
    in.consume(in.size());
    connection.closeAfterWrite(false);
  }
  int connected = 0;
};

TEST_CASE("PROXY session: the header is read, then the listener's own session goes on") {
  test::SimLoop net;
  Echo echo;
  const auto blocked = CidrSet::parse({"203.0.113.0/24"});
  const auto trusted = CidrSet::parse({"127.0.0.1"});
  ProxySession session(echo, {1000, &*trusted, &*blocked, nullptr});
  net.io().setFactory(0, session);

  SECTION("in one piece and in many") {
    for (const bool whole : {true, false}) {
      test::SimPeer peer = net.connect(0);
      const std::string bytes = v2(kV4) + "hello";
      if (whole) {
        peer.write(bytes);
      } else {
        for (const char c : v2(kV4)) {
          peer.write({&c, 1});
          REQUIRE(net.settle());
        }
        CHECK(echo.connected == 2);
        peer.write("hello");
      }
      REQUIRE(net.settle());
      CHECK(peer.read() == "192.0.2.7:4321 hello");
    }
  }
  SECTION("an unknown client keeps the peer's address") {
    test::SimPeer peer = net.connect(0);
    peer.write("PROXY UNKNOWN\r\nhello");
    REQUIRE(net.settle());
    CHECK(peer.read() == "127.0.0.1:40000 hello");
  }
  SECTION("closed: malformed, blocked, not trusted, silent, cut off") {
    test::SimPeer malformed = net.connect(0), blocked_peer = net.connect(0), silent = net.connect(0),
                  cut_off = net.connect(0), stranger = net.connect(0, "127.0.0.2");
    malformed.write("GET / HTTP/1.1\r\n\r\n");
    blocked_peer.write("PROXY TCP4 203.0.113.9 127.0.0.1 1 2\r\nhello");
    cut_off.write("PROXY ");
    cut_off.shutdownWrite();
    REQUIRE(net.settle());
    CHECK(net.io().size() == 1);
    REQUIRE(net.pass(2500));
    CHECK(net.io().size() == 0);
    for (test::SimPeer* peer : {&malformed, &blocked_peer, &silent, &cut_off, &stranger})
      CHECK(peer->read().empty());
    CHECK(echo.connected == 0);
  }
}

}  // namespace
}  // namespace roost::net
