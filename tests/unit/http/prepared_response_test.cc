#include "http/prepared_response.h"

#include <catch2/catch.hpp>
#include <string>

#include "http/date_cache.h"
#include "support/sim_loop.h"

namespace roost::http {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

TEST_CASE("date cache: right to the second, one clock call per second", "[date_cache]") {
  test::SimLoop net;
  net.sys.setRealtimeNs(784111777 * kSecondNs + 400'000'000);
  DateCache date(net.loop());
  CHECK(date.text() == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(date.seconds() == 784111777);
  const auto after = [&](int64_t ms) {
    net.sys.advanceMs(ms);
    net.loop().runOnce(0);
    return std::string(date.text());
  };
  CHECK(after(599) == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(after(1) == "Sun, 06 Nov 1994 08:49:38 GMT");
  CHECK(after(999) == "Sun, 06 Nov 1994 08:49:38 GMT");
  CHECK(after(1) == "Sun, 06 Nov 1994 08:49:39 GMT");
  CHECK(after(3600 * 1000) == "Sun, 06 Nov 1994 09:49:39 GMT");
}

TEST_CASE("prepared response: the whole answer with the current date", "[prepared]") {
  test::SimLoop net;
  net.sys.setRealtimeNs(784111777 * kSecondNs);
  DateCache date(net.loop());
  ResponseHead head(200);
  head.add("Content-Type", "text/plain");
  PreparedResponse made(head, "the body", "roost");
  REQUIRE(made);
  CHECK(made.status() == 200);
  const std::string expected =
      "HTTP/1.1 200 OK\r\nServer: roost\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: "
      "text/plain\r\n"
      "Content-Length: 8\r\n\r\n";
  CHECK(made.bytes(date) == expected + "the body");
  CHECK(made.block().view().substr(0, made.headSize()) == expected);
  CHECK(made.openHead() == expected.substr(0, expected.size() - 2));
  CHECK(made.body() == "the body");
  CHECK(made.size() == expected.size() + 8);
  net.sys.advanceMs(1000);
  net.loop().runOnce(0);
  CHECK(made.bytes(date).find("08:49:38 GMT") != std::string::npos);
  CHECK(made.body() == "the body");
}

TEST_CASE("prepared response: a body written in place, an empty one, no Server", "[prepared]") {
  test::SimLoop net;
  DateCache date(net.loop());
  ResponseHead head(404);
  PreparedResponse made(head, 4, "");
  std::memcpy(made.mutableBody(), "body", 4);
  CHECK(made.bytes(date).find("Server") == std::string::npos);
  CHECK(made.body() == "body");
  ResponseHead none(200);
  PreparedResponse empty(none, "", "roost");
  CHECK(empty.bytes(date).find("\r\nContent-Length: 0\r\n") != std::string::npos);
  CHECK(empty.body().empty());
  CHECK_FALSE(PreparedResponse());
}

}  // namespace
}  // namespace roost::http
