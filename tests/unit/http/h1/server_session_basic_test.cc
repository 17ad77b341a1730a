// Requests and answers: splits, pipelining, persistence, HEAD, framing of answers.
#include <catch2/catch.hpp>

#include "unit/http/h1/session_fixture.h"

namespace roost::http {
namespace {

using test::Call;
using test::parseAnswers;
using test::SimPeer;

TEST_CASE("session: a request and its answer", "[session]") {
  SessionFixture f;
  f.server.start();
  const auto got = f.answersTo(get("/hello"));
  REQUIRE(got.answers.size() == 1);
  CHECK(got.ok);
  CHECK(got.answers[0].status == 200);
  CHECK(got.answers[0].body == "hello");
  CHECK(got.answers[0].has("\r\nServer: roost\r\n"));
  CHECK(got.answers[0].has("\r\nDate: "));
  CHECK(got.answers[0].has("\r\nX-Path: /hello\r\n"));
  CHECK_FALSE(got.answers[0].has("Connection:"));
}

TEST_CASE("session: one read and one write per request", "[session]") {
  SessionFixture f;
  f.server.start();
  for (const char* path : {"/hello", "/prepared"}) {
    SimPeer peer = f.server.connect();
    peer.write(get(path));
    REQUIRE(f.server.settle());
    peer.read();
    f.server.net.sys.resetCounts();
    for (int i = 0; i < 10; ++i) {
      peer.write(get(path));
      f.server.net.loop().runOnce(0);
      CHECK(parseAnswers(peer.read()).answers.at(0).complete);
    }
    CHECK(f.server.net.sys.calls(Call::kRecv) == 10);
    CHECK(f.server.net.sys.sendCalls() == 10);
    CHECK(f.server.net.sys.calls(Call::kEpollCtl) == 0);
    CHECK(f.server.net.sys.calls(Call::kTimerfdSet) == 0);
  }
}

TEST_CASE("session: two pieces at every split point, and byte by byte", "[session]") {
  SessionFixture f;
  f.server.start();
  const std::string requests = get("/hello", "X-Field: some value\r\n") + post("/collect", "the body") +
                               postChunked("/collect", "chunked body") + get("/prepared");
  const auto expected = parseAnswers(f.ask(requests));
  REQUIRE(expected.answers.size() == 4);
  CHECK(expected.answers[1].body == "the body");
  CHECK(expected.answers[2].body == "chunked body");
  CHECK(expected.answers[3].body == "prepared");
  for (size_t split = 1; split < requests.size(); ++split) {
    SimPeer peer = f.server.connect();
    peer.write(std::string_view(requests).substr(0, split));
    REQUIRE(f.server.settle());
    peer.write(std::string_view(requests).substr(split));
    REQUIRE(f.server.settle());
    const auto got = parseAnswers(peer.read());
    REQUIRE(got.answers.size() == 4);
    for (size_t i = 0; i < 4; ++i) {
      REQUIRE(got.answers[i].head == expected.answers[i].head);
      REQUIRE(got.answers[i].body == expected.answers[i].body);
    }
  }
  for (const bool recv_limited : {false, true}) {
    SimPeer peer = f.server.connect();
    if (recv_limited) {
      f.server.net.sys.setMaxRecv(1);
      peer.write(requests);
    }
    for (size_t i = 0; i < requests.size() && !recv_limited; ++i) {
      peer.write(std::string_view(requests).substr(i, 1));
      REQUIRE(f.server.settle());
    }
    REQUIRE(f.server.settle());
    CHECK(parseAnswers(peer.read()).answers.size() == 4);
  }
}

TEST_CASE("session: a token split across segments at every byte", "[session][regression]") {
  SessionFixture f;
  f.server.start();
  const std::string request =
      "POST /collect HTTP/1.1\r\nHost: a\r\ncontent-length: 3\r\nCONNECTION: Close\r\n\r\nabc";
  for (size_t split = 1; split < request.size(); ++split) {
    SimPeer peer = f.server.connect();
    peer.write(std::string_view(request).substr(0, split));
    REQUIRE(f.server.settle());
    peer.write(std::string_view(request).substr(split));
    REQUIRE(f.server.settle());
    const auto got = parseAnswers(peer.read());
    REQUIRE(got.answers.size() == 1);
    REQUIRE(got.answers[0].status == 200);
    REQUIRE(got.answers[0].body == "abc");  // content-length in lower case is seen
    REQUIRE(got.answers[0].has("\r\nConnection: close\r\n"));
    REQUIRE(peer.sawEnd());
  }
}

TEST_CASE("session: Connection: Close in other case is heard", "[session][regression]") {
  SessionFixture f;
  f.server.start();
  for (const char* value : {"close", "Close", "CLOSE", "cLoSe", "keep-alive, Close", "x,close"}) {
    SimPeer peer = f.server.connect();
    peer.write(get("/hello", "Connection: " + std::string(value) + "\r\n"));
    REQUIRE(f.server.settle());
    CHECK(parseAnswers(peer.read()).answers.at(0).has("\r\nConnection: close\r\n"));
    CHECK(peer.sawEnd());
  }
}

TEST_CASE("session: pipelined requests are answered in order, small ones in one send", "[session]") {
  SessionFixture f;
  f.server.start();
  std::string requests;
  for (int i = 0; i < 16; ++i) requests += get(i % 2 == 0 ? "/hello" : "/prepared");
  SimPeer peer = f.server.connect();
  peer.write(requests);
  REQUIRE(f.server.settle());
  CHECK(peer.sends().size() == 1);
  const auto got = parseAnswers(peer.read());
  REQUIRE(got.answers.size() == 16);
  for (size_t i = 0; i < 16; ++i) CHECK(got.answers[i].body == (i % 2 == 0 ? "hello" : "prepared"));
}

TEST_CASE("session: a pipelined request behind one that waits is not lost", "[session][regression]") {
  SessionFixture f;
  f.server.start();
  SimPeer peer = f.server.connect();
  peer.write(get("/later") + get("/hello") + post("/collect", "body") + get("/later") + get("/prepared"));
  REQUIRE(f.server.settle());
  CHECK(peer.readable() == 0);
  f.answerLater("first");
  REQUIRE(f.server.settle());
  f.answerLater("second");
  REQUIRE(f.server.settle());
  const auto got = parseAnswers(peer.read());
  REQUIRE(got.answers.size() == 5);
  CHECK(got.answers[0].body == "first");
  CHECK(got.answers[1].body == "hello");
  CHECK(got.answers[2].body == "body");
  CHECK(got.answers[3].body == "second");
  CHECK(got.answers[4].body == "prepared");
}

TEST_CASE("session: thousands of pipelined requests with a reader that lags", "[session]") {
  SessionFixture f;
  f.prepared_body = test::patternOf(3000);
  f.server.net.sys.setCapacity(20000);
  f.server.start();
  SimPeer peer = f.server.connect();
  std::string requests;
  for (int i = 0; i < 3000; ++i) requests += get("/prepared");
  peer.write(requests);
  std::string got;
  uint32_t most_queued = 0;
  for (int i = 0; i < 20000 && f.fate.finished < 3000; ++i) {
    f.server.net.loop().runOnce(0);
    f.server.net.io().forEach(
        [&](net::Connection& c) { most_queued = std::max(most_queued, c.queuedBytes()); });
    got += peer.read(15000);
  }
  for (int i = 0; i < 2000; ++i) {
    REQUIRE(f.server.settle());
    const std::string more = peer.read();
    if (more.empty()) break;
    got += more;
  }
  const auto answers = parseAnswers(got);
  CHECK(answers.answers.size() == 3000);
  CHECK(answers.answers.back().complete);
  CHECK(most_queued < 400 * 1024);
}

// 33 KB of requests for files held 4.2 MB: a chunk for each head, none of which counted.
TEST_CASE("session: pipelined requests for files wait once their answers hold much",
          "[session][regression]") {
  SessionFixture f;
  f.file_bytes = test::patternOf(4000);
  f.server.net.sys.setCapacity(2000);
  f.server.start();
  SimPeer peer = f.server.connect();
  std::string requests;
  while (requests.size() < 33000) requests += get("/file");
  const auto asked = static_cast<int>(requests.size() / get("/file").size());
  peer.write(requests);
  REQUIRE(f.server.settle());
  CHECK(f.fate.handled < 150);
  uint64_t held = 0;
  f.server.net.io().forEach([&](net::Connection& c) { held = c.reclaimableBytes(); });
  CHECK(held < 150 << 10);  // what was sent, and the answers' 32 KiB
  SECTION("and are all answered in the end") {
    std::string got;
    for (std::string more; !(more = peer.read()).empty();) {
      got += more;
      REQUIRE(f.server.settle());
    }
    const auto answers = parseAnswers(got);
    REQUIRE(static_cast<int>(answers.answers.size()) == asked);
    for (const auto& answer : answers.answers) REQUIRE((answer.body == f.file_bytes));
  }
  SECTION("unless the client goes") {
    peer.reset();
  }
}

// What has been read and not answered has a bound, and a client that only pipelines must not run into it.
TEST_CASE("session: pipelined requests are read no faster than answered", "[session][regression]") {
  SessionFixture f;
  f.prepared_body = test::patternOf(65000);
  f.server.net.sys.setCapacity(8 << 20);
  f.server.start();
  SimPeer peer = f.server.connect();
  std::string requests;
  while (requests.size() < (6 << 20)) requests += get("/prepared");
  peer.write(requests);
  size_t bytes = 0;
  for (int turn = 0; turn < 200; ++turn) {
    f.server.net.loop().runOnce(0);
    bytes += peer.read().size();
  }
  CHECK_FALSE(peer.sawReset());
  CHECK(bytes > 100 * f.prepared_body.size());
}

TEST_CASE("session: pipelined large answers leave others their turn", "[session][regression]") {
  SessionFixture f;
  f.prepared_body = test::patternOf(65000);
  f.server.net.sys.setCapacity(64 << 20);
  f.server.start();
  SimPeer greedy = f.server.connect();
  SimPeer modest = f.server.connect();
  REQUIRE(f.server.settle());
  std::string requests;
  for (int i = 0; i < 500; ++i) requests += get(i % 2 == 0 ? "/prepared" : "/hello");
  greedy.write(requests);
  modest.write(get("/hello"));
  f.server.net.loop().runOnce(0);
  CHECK(parseAnswers(modest.read()).answers.size() == 1);
  size_t before = 0;
  size_t most = 0;
  for (int turn = 0; turn < 1000 && f.fate.finished < 501; ++turn) {
    f.server.net.loop().runOnce(0);
    most = std::max(most, greedy.readable() - before);
    before = greedy.readable();
  }
  CHECK(most <= (2 << 20) + 65000);
  REQUIRE(f.server.settle());
  const auto got = parseAnswers(greedy.read());
  REQUIRE(got.answers.size() == 500);
  for (size_t i = 0; i < 500; ++i) REQUIRE(got.answers[i].body == (i % 2 == 0 ? f.prepared_body : "hello"));
}

TEST_CASE("session: HEAD never has a body", "[session][regression]") {
  SessionFixture f;
  f.file_bytes = test::patternOf(1000);
  f.server.start();
  for (const char* path : {"/hello", "/prepared", "/stream", "/file", "/nowhere", "/later", "/park"}) {
    SimPeer peer = f.server.connect();
    peer.write("HEAD " + std::string(path) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    REQUIRE(f.server.settle());
    if (path == std::string("/later") || path == std::string("/park")) f.answerLater();
    REQUIRE(f.server.settle());
    peer.write(get("/hello"));
    REQUIRE(f.server.settle());
    const std::string bytes = peer.read();
    const auto got = parseAnswers(bytes, {true});
    INFO(path << ": " << bytes);
    REQUIRE(got.answers.size() == 2);
    CHECK(got.answers[1].body == "hello");
    CHECK(got.answers[1].complete);
  }
}

TEST_CASE("session: persistence of HTTP/1.0 and 1.1 (RFC 9112 section 9.3)", "[session]") {
  SessionFixture f;
  f.server.start();
  const auto stays = [&](std::string_view version, std::string_view field) {
    SimPeer peer = f.server.connect();
    peer.write("GET /hello HTTP/" + std::string(version) + "\r\nHost: a\r\n" + std::string(field) + "\r\n");
    REQUIRE(f.server.settle());
    const auto got = parseAnswers(peer.read());
    CHECK(got.answers.at(0).body == "hello");
    CHECK(got.answers.at(0).has("Connection: close") == peer.sawEnd());
    if (!peer.sawEnd() && version == "1.0") CHECK(got.answers.at(0).has("\r\nConnection: keep-alive\r\n"));
    return !peer.sawEnd();
  };
  CHECK(stays("1.1", ""));
  CHECK(stays("1.1", "Connection: keep-alive\r\n"));
  CHECK_FALSE(stays("1.1", "Connection: close\r\n"));
  CHECK_FALSE(stays("1.0", ""));
  CHECK(stays("1.0", "Connection: Keep-Alive\r\n"));
  CHECK_FALSE(stays("1.0", "Connection: keep-alive, close\r\n"));
}

TEST_CASE("session: an answer of unknown length is chunked, or ends with the connection in 1.0",
          "[session]") {
  SessionFixture f;
  f.server.start();
  const auto chunked = f.answersTo(get("/echo"));
  CHECK(chunked.answers.at(0).status == 400);
  SimPeer peer = f.server.connect();
  peer.write(get("/stream"));
  std::string bytes;
  for (int i = 0; i < 1000 && f.fate.finished < 1; ++i) {
    REQUIRE(f.server.settle());
    bytes += peer.read();
  }
  REQUIRE(f.server.settle());
  bytes += peer.read();
  auto got = parseAnswers(bytes);
  REQUIRE(got.answers.size() == 1);
  CHECK(got.answers[0].has("\r\nTransfer-Encoding: chunked\r\n"));
  CHECK(got.answers[0].complete);
  CHECK(got.answers[0].body == std::string(2000000, 's'));
  CHECK_FALSE(peer.sawEnd());
  SimPeer old = f.server.connect();
  old.write("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  bytes.clear();
  for (int i = 0; i < 1000 && !old.sawEnd(); ++i) {
    REQUIRE(f.server.settle());
    bytes += old.read();
  }
  got = parseAnswers(bytes);
  CHECK_FALSE(got.answers.at(0).has("Transfer-Encoding"));
  CHECK(got.answers.at(0).has("\r\nConnection: close\r\n"));
  CHECK(got.answers.at(0).body.size() == 2000000);
}

TEST_CASE("session: a 20 MB file reaches a slow reader whole", "[session][regression]") {
  SessionFixture f;
  f.file_bytes = test::patternOf(20 << 20);
  f.server.start();
  SimPeer peer = f.server.connect();
  peer.write(get("/file"));
  std::string bytes;
  for (int i = 0; i < 2000; ++i) {
    REQUIRE(f.server.settle());
    const std::string more = peer.read();
    if (more.empty()) break;
    bytes += more;
  }
  const auto got = parseAnswers(bytes);
  REQUIRE(got.answers.size() == 1);
  CHECK((got.answers[0].body == f.file_bytes));
  peer.write(get("/hello"));
  REQUIRE(f.server.settle());
  CHECK(parseAnswers(peer.read()).answers.at(0).body == "hello");
}

TEST_CASE("session: head and file share their first packet", "[session][regression]") {
  SessionFixture f;
  f.file_bytes = test::patternOf(1000);
  f.server.start();
  SimPeer peer = f.server.connect();
  peer.write(get("/file"));
  REQUIRE(f.server.settle());
  const auto sends = peer.sends();
  REQUIRE(sends.size() == 2);
  CHECK(sends[0].more);  // MSG_MORE: the head waits for the file
  CHECK(sends[1].from_file);
  CHECK_FALSE(sends[1].more);
}

TEST_CASE("session: sends cut to every size give the same answers", "[session]") {
  SessionFixture f;
  f.file_bytes = test::patternOf(200);
  f.server.start();
  const std::string requests =
      get("/prepared") + get("/hello") + get("/file") + postChunked("/echo", "echo this") + get("/hello");
  const std::string expected = f.ask(requests);
  REQUIRE(parseAnswers(expected).answers.size() == 5);
  for (const size_t step : {1, 2, 3, 5, 7, 11, 64, 150, 160, 170, 500}) {
    f.server.net.sys.setMaxSend(step);
    SimPeer peer = f.server.connect();
    peer.write(requests);
    REQUIRE(f.server.settle());
    const std::string got = peer.read();
    REQUIRE(parseAnswers(got).answers.size() == 5);
    CHECK((got == expected));
    f.server.net.sys.setMaxSend(0);
  }
}

TEST_CASE("session: the connection ends after the configured number of requests", "[session]") {
  SessionFixture f;
  f.server.options.max_requests_per_connection = 3;
  f.server.start();
  SimPeer peer = f.server.connect();
  peer.write(get("/hello") + get("/prepared") + get("/hello") + get("/hello"));
  REQUIRE(f.server.settle());
  const auto got = parseAnswers(peer.read());
  REQUIRE(got.answers.size() == 3);
  CHECK_FALSE(got.answers[1].has("Connection: close"));
  CHECK(got.answers[2].has("\r\nConnection: close\r\n"));
  CHECK(peer.sawEnd());
  CHECK(f.fate.handled == 3);
}

TEST_CASE("session: a bad request does not poison the next on a pooled parser", "[session][regression]") {
  SessionFixture f;
  f.server.start();
  const std::string good = get("/hello");
  const std::string bad[] = {"GET /hello HTTP/1.1\r\nHost : a\r\n\r\n",
                             "GET\r\n\r\n",
                             "GET /hello HTTP/1.1\r\nHost: a\r\nX",
                             "\x16\x03\x01\x02",
                             "POST /collect HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                             "POST /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc",
                             "HEAD /hello HTTP/9.1\r\n\r\n"};
  for (const std::string& request : bad) {
    SimPeer peer = f.server.connect();
    peer.write(request);
    REQUIRE(f.server.settle());
    peer.close();
    REQUIRE(f.server.settle());
    const auto got = f.answersTo(good + good);
    INFO(request);
    REQUIRE(got.answers.size() == 2);
    CHECK(got.answers[0].body == "hello");
    CHECK(got.answers[1].body == "hello");
  }
}

TEST_CASE("session: errors end the connection with a small answer, never a reset", "[session]") {
  SessionFixture f;
  f.server.options.max_body_bytes = 1000;
  f.server.start();
  const std::pair<std::string, int> cases[] = {
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
      {"GET http://a/hello HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
      {"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501},
      {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
      {"GET /" + std::string(100000, 'x') + " HTTP/1.1\r\n", 414},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(200000, 'x') + "\r\n", 431},
      {"POST /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"POST /collect HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\nContent-Length: 1\r\n\r\n", 417},
      {"POST /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n", 413},
      {"POST /collect HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
  };
  for (const auto& [request, status] : cases) {
    SimPeer peer = f.server.connect();
    peer.write(request + "and more that is not read as a request\r\n\r\n");
    REQUIRE(f.server.settle());
    const auto got = parseAnswers(peer.read());
    INFO(request.substr(0, 100));
    REQUIRE(got.answers.size() == 1);
    CHECK(got.answers[0].status == status);
    CHECK(got.answers[0].complete);
    CHECK_FALSE(got.answers[0].body.empty());
    CHECK(got.answers[0].has("\r\nConnection: close\r\n"));
    CHECK(peer.sawEnd());
    CHECK_FALSE(peer.sawReset());
    peer.close();
    REQUIRE(f.server.settle());
  }
  CHECK(f.server.net.io().size() == 0);
  const auto missing = f.answersTo(get("/nowhere"));
  CHECK(missing.answers.at(0).status == 404);
  CHECK_FALSE(missing.answers.at(0).has("Connection: close"));
}

TEST_CASE("session: OPTIONS * and absolute targets", "[session]") {
  SessionFixture f;
  f.server.start();
  const auto options = f.answersTo("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n" + get("/hello"));
  REQUIRE(options.answers.size() == 2);
  CHECK(options.answers[0].status == 204);
  CHECK(options.answers[0].has("\r\nAllow: GET, HEAD, OPTIONS\r\n"));
  CHECK_FALSE(options.answers[0].has("Content-Length"));
  const auto absolute = f.answersTo("GET http://b:80/hello HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(absolute.answers.at(0).has("\r\nX-Path: /hello\r\n"));
}

TEST_CASE("session: a half-closed client still gets its answers", "[session]") {
  SessionFixture f;
  f.server.start();
  SimPeer peer = f.server.connect();
  SECTION("answered at once") {
    peer.write(get("/hello") + get("/prepared"));
    peer.shutdownWrite();
    REQUIRE(f.server.settle());
    CHECK(parseAnswers(peer.read()).answers.size() == 2);
  }
  SECTION("answered later, with others behind") {
    peer.write(get("/later") + get("/hello") + post("/collect", "body"));
    peer.shutdownWrite();
    REQUIRE(f.server.settle());
    f.answerLater();
    REQUIRE(f.server.settle());
    CHECK(parseAnswers(peer.read()).answers.size() == 3);
  }
  SECTION("though the one before would have ended with it") {
    peer.write(get("/later"));
    REQUIRE(f.server.settle());
    f.handle.post([](Exchange& e) { e.endWithPeer(); });
    REQUIRE(f.server.settle());
    f.answerLater();
    peer.write(get("/later"));
    REQUIRE(f.server.settle());
    peer.shutdownWrite();
    REQUIRE(f.server.settle());
    f.answerLater();
    REQUIRE(f.server.settle());
    CHECK(parseAnswers(peer.read()).answers.size() == 2);
  }
  SECTION("a body that a filter holds up") {
    peer.write(get("/later") + post("/pause", "held"));
    peer.shutdownWrite();
    REQUIRE(f.server.settle());
    f.answerLater();
    REQUIRE(f.server.settle());
    f.resumeLater();
    REQUIRE(f.server.settle());
    const auto got = parseAnswers(peer.read());
    REQUIRE(got.answers.size() == 2);
    CHECK(got.answers[1].body == "held");
  }
  CHECK(peer.sawEnd());
  CHECK(f.server.net.io().size() == 0);
}

}  // namespace
}  // namespace roost::http
