// Clients that keep a connection busy with next to nothing: named after what they do.
#include <catch2/catch.hpp>
#include <string>

#include "metrics/registry.h"
#include "unit/http/h1/session_fixture.h"

namespace roost::http {
namespace {

using test::parseAnswers;
using test::SimPeer;

struct RateFixture : SessionFixture {
  metrics::Registry registry;
  HttpCounters counters{registry};
  RateFixture() {
    server.options.min_body_bytes_per_s = 100;
    server.options.min_send_bytes_per_s = 100;
    server.options.min_rate_window_ms = 10'000;
    server.net.sys.setCapacity(10'000);
    file_bytes = test::patternOf(1'000'000);
    prepared_body = test::patternOf(1'000'000);
  }
  void start() {
    server.start();
    server.context().setCounters(&counters);
  }
  uint64_t slow(const std::string& what) {
    return registry.counterValue("roost_http_slow_" + what + "_total");
  }
  // Writes a piece each `step_ms` until the connection is gone or has an answer; how many seconds it lasted.
  int64_t feed(SimPeer& peer, const std::string& piece, int64_t step_ms, int64_t most_ms) {
    int64_t passed = 0;
    for (; passed < most_ms && !peer.gone() && peer.readable() == 0; passed += step_ms) {
      peer.write(piece);
      REQUIRE(server.net.pass(step_ms, 500));
    }
    return passed / 1000;
  }
};

constexpr const char* kChunkedPost =
    "POST /collect HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

TEST_CASE("slow body: a byte now and then is refused with 408", "[session]") {
  RateFixture f;
  f.start();
  SimPeer peer = f.server.connect();
  peer.write("POST /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
  const int64_t lasted = f.feed(peer, "x", 1000, 100'000);
  CHECK(lasted >= 10);
  CHECK(lasted <= 12);
  CHECK(parseAnswers(peer.read()).answers.at(0).status == 408);
  CHECK(f.fate.aborted == 1);
  CHECK(f.fate.reason == AbortReason::kTimeout);
  CHECK(f.slow("bodies") == 1);
}

TEST_CASE("slow body: one just fast enough, and short ones, are taken", "[session]") {
  RateFixture f;
  f.start();
  SimPeer peer = f.server.connect();
  peer.write("POST /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 8800\r\n\r\n");
  f.feed(peer, std::string(110, 'x'), 1000, 200'000);
  CHECK(parseAnswers(peer.read()).answers.at(0).body.size() == 8800);
  peer.write("POST /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n");
  f.feed(peer, "x", 1000, 200'000);
  CHECK(parseAnswers(peer.read()).answers.at(0).body == std::string(9, 'x'));
  // Pauses are made up for by what comes before and behind them.
  peer.write("POST /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 7500\r\n\r\n");
  f.feed(peer, std::string(2500, 'x'), 20'000, 300'000);
  CHECK(parseAnswers(peer.read()).answers.at(0).body.size() == 7500);
  CHECK(f.slow("bodies") == 0);
}

TEST_CASE("slow chunk extensions: they are no content", "[session]") {
  RateFixture f;
  f.start();
  SimPeer peer = f.server.connect();
  peer.write(kChunkedPost);
  const int64_t lasted = f.feed(peer, "1;" + std::string(900, 'e') + "\r\nx\r\n", 1000, 100'000);
  CHECK(lasted <= 12);
  CHECK(parseAnswers(peer.read()).answers.at(0).status == 408);
  CHECK(f.slow("bodies") == 1);
}

TEST_CASE("slow trailers: they are no content", "[session]") {
  RateFixture f;
  f.start();
  SimPeer peer = f.server.connect();
  peer.write(std::string(kChunkedPost) + "0\r\n");
  const int64_t lasted = f.feed(peer, "T: " + std::string(300, 't') + "\r\n", 1000, 100'000);
  CHECK(lasted <= 12);
  CHECK(parseAnswers(peer.read()).answers.at(0).status == 408);
}

TEST_CASE("slow body: the time in which the server does not read is not the client's", "[session]") {
  RateFixture f;
  f.start();
  SimPeer peer = f.server.connect();
  // The echo takes nothing while its answer is not read; the answer has begun, and both may last.
  peer.write("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n");
  for (int i = 0; i < 20; ++i) {
    peer.write("x");
    REQUIRE(f.server.net.pass(2000, 500));
  }
  CHECK(parseAnswers(peer.read()).answers.at(0).body == std::string(20, 'x'));
  CHECK(f.slow("bodies") == 0);
}

TEST_CASE("slow reader: a few bytes now and then do not keep a connection", "[session]") {
  for (const char* target : {"/file", "/stream", "/prepared"}) {
    CAPTURE(target);
    RateFixture f;
    f.server.options.send_timeout_ms = 5000;
    f.start();
    SimPeer peer = f.server.connect();
    peer.write(get(target));
    int seconds = 0;
    for (; seconds < 100 && !peer.gone(); ++seconds) {
      REQUIRE(f.server.net.pass(1000, 500));
      peer.read(10);
    }
    CHECK(peer.sawReset());
    CHECK(seconds >= 10);
    CHECK(seconds <= 21);
    CHECK(f.slow("readers") == 1);
    CHECK(f.server.net.io().size() == 0);
  }
}

TEST_CASE("slow reader: enough for the poller's notice is counted, too", "[session]") {
  RateFixture f;
  f.server.options.min_send_bytes_per_s = 1000;
  f.start();
  SimPeer peer = f.server.connect();
  peer.write(get("/file"));
  int seconds = 0;
  for (; seconds < 200 && !peer.gone(); seconds += 8) {
    REQUIRE(f.server.net.pass(8000, 500));
    peer.read(5000);  // half of the buffer: 625 bytes a second
  }
  CHECK(peer.sawReset());
  CHECK(seconds <= 32);
  CHECK(f.slow("readers") == 1);
}

TEST_CASE("slow reader: one just fast enough gets all of it", "[session]") {
  RateFixture f;
  f.file_bytes = test::patternOf(40'000);
  f.start();
  SimPeer peer = f.server.connect();
  peer.write(get("/file"));
  std::string got;
  for (int i = 0; i < 400 && got.size() < 40'000; ++i) {
    REQUIRE(f.server.net.pass(1000, 500));
    got += peer.read(150);
    REQUIRE_FALSE(peer.gone());
  }
  got += peer.read();
  CHECK(parseAnswers(got).answers.at(0).body == f.file_bytes);
  CHECK(f.slow("readers") == 0);
}

TEST_CASE("chunk overhead: it counts against the body's limit", "[session]") {
  RateFixture f;
  f.server.options.max_body_bytes = 50'000;
  f.start();
  SECTION("extensions of small chunks") {
    SimPeer peer = f.server.connect();
    peer.write(kChunkedPost);
    size_t sent = 0;
    const std::string chunk = "1;" + std::string(900, 'e') + "\r\nx\r\n";
    for (; sent < 1'000'000 && peer.readable() == 0; sent += chunk.size()) {
      peer.write(chunk);
      REQUIRE(f.server.settle());
    }
    CHECK(parseAnswers(peer.read()).answers.at(0).status == 413);
    CHECK(sent < 70'000);
  }
  SECTION("an honest body as large as the limit is taken, whatever its chunks") {
    for (const size_t size : {10, 1000, 50'000}) {
      SimPeer peer = f.server.connect();
      peer.write(kChunkedPost);
      char line[20];
      std::snprintf(line, sizeof line, "%zx\r\n", size);
      for (size_t sent = 0; sent < 50'000; sent += size) {
        peer.write(line + std::string(size, 'x') + "\r\n");
        REQUIRE(f.server.settle());
      }
      peer.write("0\r\n\r\n");
      REQUIRE(f.server.settle());
      std::string got;
      while (peer.readable() > 0) {
        got += peer.read();
        REQUIRE(f.server.settle());
      }
      CHECK(parseAnswers(got).answers.at(0).body.size() == 50'000);
    }
  }
}

}  // namespace
}  // namespace roost::http
