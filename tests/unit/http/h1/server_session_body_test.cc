// Bodies: framing, back-pressure, Expect, limits, and what nobody reads.
#include <algorithm>
#include <catch2/catch.hpp>

#include "unit/http/h1/session_fixture.h"

namespace roost::http {
namespace {

using test::parseAnswers;
using test::SimPeer;

// Reads until nothing more comes.
std::string drain(SessionFixture& f, SimPeer& peer, size_t at_a_time = SIZE_MAX) {
  std::string out;
  for (;;) {
    REQUIRE(f.server.settle());
    const std::string more = peer.read(at_a_time);
    if (more.empty()) return out;
    out += more;
  }
}

TEST_CASE("session body: echoed with back-pressure both ways", "[session]") {
  SessionFixture f;
  f.server.net.sys.setCapacity(5000);
  f.server.options.max_body_bytes = 16 << 20;
  f.server.start();
  for (const bool chunked : {false, true}) {
    const std::string body = test::patternOf(3 << 20);
    const std::string request = chunked ? postChunked("/echo", body, 10000) : post("/echo", body);
    SimPeer peer = f.server.connect();
    std::string got;
    size_t most_queued = 0;
    for (size_t sent = 0; sent < request.size(); sent += 4000) {
      peer.write(std::string_view(request).substr(sent, 4000));
      f.server.net.loop().runOnce(0);
      f.server.net.io().forEach(
          [&](net::Connection& c) { most_queued = std::max<size_t>(most_queued, c.queuedBytes()); });
      got += peer.read(700);  // takes less than it sends
    }
    got += drain(f, peer);
    const auto answers = parseAnswers(got);
    REQUIRE(answers.answers.size() == 1);
    CHECK((answers.answers[0].body == body));
    CHECK(answers.answers[0].complete);
    CHECK(most_queued < (600 << 10));
    peer.close();
  }
  CHECK(f.fate.finished == 2);
  CHECK(f.fate.aborted == 0);
}

TEST_CASE("session body: one that is not dealt with is not read on", "[session]") {
  SessionFixture f;
  struct Hoard final : ExchangeListener {
    void onBody(std::string_view piece, bool fin) noexcept override {
      got += piece.size();
      ended = fin;
    }
    size_t got = 0;
    bool ended = false;
  };
  Hoard* hoard = nullptr;
  f.server.options.max_body_bytes = 16 << 20;
  f.server.options.body_timeout_ms = 5000;
  f.server.on("/hoard", [&](Exchange& e) {
    auto listener = std::make_unique<Hoard>();
    hoard = listener.get();
    f.handle = e.handle();
    e.listen(std::move(listener));
  });
  f.server.start();
  SimPeer peer = f.server.connect();
  peer.write(post("/hoard", std::string(2 << 20, 'x')));
  REQUIRE(f.server.settle());
  CHECK(hoard->got >= (256 << 10));
  CHECK(hoard->got < (400 << 10));
  REQUIRE(f.server.net.pass(20000));  // it is the handler's turn: nothing times out
  CHECK_FALSE(peer.gone());
  for (size_t told = 0; !hoard->ended;) {
    const size_t more = hoard->got - told;
    REQUIRE(more > 0);
    told = hoard->got;
    f.handle.post([more](Exchange& e) { e.consumed(more); });
    REQUIRE(f.server.settle());
  }
  CHECK(hoard->got == (2 << 20));
  f.answerLater();
  REQUIRE(f.server.settle());
  CHECK(parseAnswers(peer.read()).answers.at(0).body == "late");
}

TEST_CASE("session body: what its listener held back does not stop the rest of it", "[session][regression]") {
  SessionFixture f;
  struct Hoard final : ExchangeListener {
    void onBody(std::string_view piece, bool) noexcept override { got += piece.size(); }
    size_t got = 0;
  };
  Hoard* hoard = nullptr;
  f.server.on("/hoard", [&](Exchange& e) {
    auto listener = std::make_unique<Hoard>();
    hoard = listener.get();
    f.handle = e.handle();
    e.listen(std::move(listener));
  });
  f.server.start();
  SimPeer peer = f.server.connect();
  const std::string request = post("/hoard", std::string(300 << 10, 'x'));
  peer.write(std::string_view(request).substr(0, request.size() - (30 << 10)));
  REQUIRE(f.server.settle());
  REQUIRE(hoard->got >= (256 << 10));
  f.answerLater();
  REQUIRE(f.server.settle());
  peer.write(std::string_view(request).substr(request.size() - (30 << 10)));
  peer.write(get("/hello"));
  REQUIRE(f.server.settle());
  const auto got = parseAnswers(peer.read());
  REQUIRE(got.answers.size() == 2);
  CHECK(got.answers[0].body == "late");
  CHECK(got.answers[1].body == "hello");
}

TEST_CASE("session body: a filter that pauses loses nothing of it", "[session]") {
  SessionFixture f;
  f.server.start();
  const std::string body = test::patternOf(200000);
  for (const bool chunked : {false, true}) {
    SimPeer peer = f.server.connect();
    peer.write(chunked ? postChunked("/pause", body, 999) : post("/pause", body));
    peer.write(get("/hello"));
    REQUIRE(f.server.net.pass(40000));  // longer than the body's timeout: it is not the client's turn
    CHECK(peer.readable() == 0);
    CHECK_FALSE(peer.gone());
    f.resumeLater();
    REQUIRE(f.server.settle());
    const auto got = parseAnswers(peer.read());
    REQUIRE(got.answers.size() == 2);
    CHECK((got.answers[0].body == body));
    CHECK(got.answers[1].body == "hello");
  }
}

TEST_CASE("session body: Expect: 100-continue (RFC 9110 section 10.1.1)", "[session]") {
  SessionFixture f;
  f.server.options.max_body_bytes = 1000;
  f.server.start();
  const std::string expect = "Expect: 100-continue\r\n";
  const auto head = [&](const char* path, const char* length) {
    return "POST " + std::string(path) + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + length + "\r\n" +
           expect + "\r\n";
  };
  SimPeer peer = f.server.connect();
  SECTION("is granted once somebody listens") {
    peer.write(head("/collect", "4"));
    REQUIRE(f.server.settle());
    CHECK(peer.read() == "HTTP/1.1 100 Continue\r\n\r\n");
    peer.write("body");
    REQUIRE(f.server.settle());
    CHECK(parseAnswers(peer.read()).answers.at(0).body == "body");
    peer.write(get("/hello"));
    REQUIRE(f.server.settle());
    CHECK(parseAnswers(peer.read()).answers.at(0).body == "hello");
  }
  SECTION("is granted after a filter's pause") {
    peer.write(head("/pause", "4"));
    REQUIRE(f.server.settle());
    CHECK(peer.readable() == 0);
    f.resumeLater();
    REQUIRE(f.server.settle());
    CHECK(peer.read() == "HTTP/1.1 100 Continue\r\n\r\n");
    peer.write("body");
    REQUIRE(f.server.settle());
    CHECK(parseAnswers(peer.read()).answers.at(0).body == "body");
  }
  SECTION("is left out where the body comes unasked") {
    peer.write(head("/collect", "4") + "body" + get("/hello"));
    REQUIRE(f.server.settle());
    const auto got = parseAnswers(peer.read());
    CHECK(got.interim == 0);
    REQUIRE(got.answers.size() == 2);
    CHECK(got.answers[0].body == "body");
  }
  SECTION("and where it came while a filter paused") {
    peer.write(head("/pause", "4"));
    REQUIRE(f.server.settle());
    peer.write("body");
    REQUIRE(f.server.settle());
    f.resumeLater();
    REQUIRE(f.server.settle());
    const auto got = parseAnswers(peer.read());
    CHECK(got.interim == 0);
    CHECK(got.answers.at(0).body == "body");
  }
  SECTION("a final answer instead closes the connection, since the body may or may not come") {
    peer.write(head("/ignore", "4"));
    REQUIRE(f.server.settle());
    const auto got = parseAnswers(peer.read());
    CHECK(got.interim == 0);
    CHECK(got.answers.at(0).has("\r\nConnection: close\r\n"));
    CHECK(peer.sawEnd());
  }
  SECTION("a body beyond the limit is refused before it is sent") {
    peer.write(head("/collect", "1001"));
    REQUIRE(f.server.settle());
    const auto got = parseAnswers(peer.read());
    CHECK(got.interim == 0);
    CHECK(got.answers.at(0).status == 413);
    CHECK(peer.sawEnd());
  }
  SECTION("is ignored without a body and in HTTP/1.0") {
    peer.write(head("/collect", "0") + "POST /collect HTTP/1.0\r\nContent-Length: 4\r\n" + expect + "\r\n");
    REQUIRE(f.server.settle());
    auto got = parseAnswers(peer.read());
    CHECK(got.interim == 0);
    REQUIRE(got.answers.size() == 1);
    peer.write("body");
    REQUIRE(f.server.settle());
    got = parseAnswers(peer.read());
    CHECK(got.interim == 0);
    CHECK(got.answers.at(0).body == "body");
  }
}

TEST_CASE("session body: a limit limits", "[session][regression]") {
  SessionFixture f;
  f.server.options.max_body_bytes = 1000;
  f.server.start();
  SECTION("by Content-Length, before any of it is read") {
    SimPeer peer = f.server.connect();
    peer.write("POST /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n");
    REQUIRE(f.server.settle());
    CHECK(parseAnswers(peer.read()).answers.at(0).status == 413);
    CHECK(f.fate.handled == 0);
  }
  SECTION("chunked, while it is read") {
    SimPeer peer = f.server.connect();
    peer.write(postChunked("/collect", std::string(1001, 'x'), 100));
    REQUIRE(f.server.settle());
    CHECK(parseAnswers(peer.read()).answers.at(0).status == 413);
    CHECK(f.fate.aborted == 1);
    CHECK(f.fate.finished == 0);
    CHECK(peer.sawEnd());
  }
  SECTION("chunked, with the answer begun: it is cut off") {
    SimPeer peer = f.server.connect();
    peer.write(postChunked("/echo", std::string(1001, 'x'), 100));
    REQUIRE(f.server.settle());
    const auto got = parseAnswers(peer.read());
    CHECK((got.answers.empty() || !got.answers[0].complete));
    CHECK(peer.sawReset());
    CHECK(f.fate.aborted == 1);
  }
  SECTION("what is exactly as long passes") {
    CHECK(f.answersTo(post("/collect", std::string(1000, 'x'))).answers.at(0).body.size() == 1000);
    CHECK(f.answersTo(postChunked("/collect", std::string(1000, 'x'))).answers.at(0).body.size() == 1000);
  }
}

TEST_CASE("session body: what nobody reads is read away, or ends the connection", "[session]") {
  SessionFixture f;
  f.server.options.max_discard_body_bytes = 1000;
  f.server.start();
  for (const bool chunked : {false, true}) {
    for (const size_t size : {size_t{1}, size_t{1000}, size_t{1001}, size_t{500000}}) {
      const std::string body(size, 'x');
      SimPeer peer = f.server.connect();
      peer.write((chunked ? postChunked("/ignore", body, 600) : post("/ignore", body)) + get("/prepared"));
      REQUIRE(f.server.settle());
      const auto got = parseAnswers(peer.read());
      INFO(chunked << " " << size);
      CHECK(got.answers.at(0).body == "hello");
      CHECK(got.answers.size() == (size <= 1000 ? 2 : 1));
      CHECK_FALSE(peer.sawReset());
      CHECK(peer.sawEnd() == (size > 1000));
      if (!chunked) CHECK(got.answers[0].has("\r\nConnection: close\r\n") == (size > 1000));
      peer.close();
    }
  }
  // Piece by piece, and later than the answer.
  SimPeer peer = f.server.connect();
  peer.write("POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nab");
  REQUIRE(f.server.settle());
  CHECK(parseAnswers(peer.read()).answers.at(0).body == "hello");
  peer.write("cd");
  REQUIRE(f.server.settle());
  peer.write("ef" + get("/prepared"));
  REQUIRE(f.server.settle());
  CHECK(parseAnswers(peer.read()).answers.at(0).body == "prepared");
  CHECK(f.fate.aborted == 0);
}

TEST_CASE("session body: one held for a late answer is read away then", "[session]") {
  SessionFixture f;
  f.server.on("/reply-later", [&](Exchange& e) { f.handle = e.handle(); });
  f.server.start();
  SimPeer peer = f.server.connect();
  peer.write(post("/reply-later", std::string(30000, 'x')) + get("/hello"));
  REQUIRE(f.server.settle());
  f.answerLater();
  REQUIRE(f.server.settle());
  const auto got = parseAnswers(peer.read());
  REQUIRE(got.answers.size() == 2);
  CHECK(got.answers[1].body == "hello");
}

TEST_CASE("session body: garbage in what is only read away does not harm the answer", "[session]") {
  SessionFixture f;
  f.server.start();
  SimPeer peer = f.server.connect();
  peer.write(
      "POST /ignore HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nnonsense\r\n\r\n");
  REQUIRE(f.server.settle());
  const auto got = parseAnswers(peer.read());
  REQUIRE(got.answers.size() == 1);
  CHECK(got.answers[0].body == "hello");
  CHECK(peer.sawEnd());
  CHECK_FALSE(peer.sawReset());
}

TEST_CASE("session body: a parked exchange may still have one to come", "[session]") {
  SessionFixture f;
  f.server.start();
  for (const bool chunked : {false, true}) {
    SimPeer peer = f.server.connect();
    const std::string request = chunked ? postChunked("/park", "some body") : post("/park", "some body");
    peer.write(std::string_view(request).substr(0, request.size() - 6));
    REQUIRE(f.server.settle());
    peer.write(std::string_view(request).substr(request.size() - 6));
    REQUIRE(f.server.settle());
    f.answerLater();
    REQUIRE(f.server.settle());
    CHECK(parseAnswers(peer.read()).answers.at(0).body == "late");
    peer.write(get("/hello"));
    REQUIRE(f.server.settle());
    CHECK(parseAnswers(peer.read()).answers.at(0).body == "hello");
  }
}

TEST_CASE("session: an upgraded connection carries bytes", "[session]") {
  SessionFixture f;
  f.server.start();
  SimPeer peer = f.server.connect();
  peer.write(get("/upgrade", "Connection: upgrade\r\nUpgrade: echo\r\n") + "early");
  REQUIRE(f.server.settle());
  auto got = parseAnswers(peer.read());
  REQUIRE(got.answers.size() == 1);
  CHECK(got.answers[0].status == 101);
  CHECK(got.answers[0].has("\r\nConnection: Upgrade\r\n"));
  REQUIRE(f.server.settle());
  CHECK(got.rest + peer.read() == "early");
  peer.write("more");
  REQUIRE(f.server.settle());
  CHECK(peer.read() == "more");
  REQUIRE(f.server.net.pass(200000, 1000));  // no timeout of HTTP applies
  CHECK_FALSE(peer.gone());
  SECTION("the server closes") {
    peer.write("bye");
    REQUIRE(f.server.settle());
    CHECK(peer.read() == "closing");
    CHECK(peer.sawEnd());
    peer.close();
  }
  SECTION("the client ends its side") {
    peer.shutdownWrite();
    REQUIRE(f.server.settle());
    CHECK(peer.sawEnd());
  }
  SECTION("the client resets") {
    peer.reset();
  }
  REQUIRE(f.server.settle());
  CHECK(f.fate.finished == 1);
  CHECK(f.server.net.io().size() == 0);
}

TEST_CASE("session: only what asks for it is upgraded (RFC 9110 section 7.8)", "[session][regression]") {
  SessionFixture f;
  int refused = 0;
  f.server.on("/maybe", [&](Exchange& e) {
    ResponseHead head(101);
    if (e.upgrade(head, std::make_unique<ByteEcho>(f.fate)) != nullptr) return;
    ++refused;
    e.replyError(426);
  });
  f.server.start();
  const std::string fields = "Connection: upgrade\r\nUpgrade: echo\r\n";
  for (const std::string& request :
       {get("/maybe"), get("/maybe", "Upgrade: echo\r\n"), get("/maybe", "Connection: upgrade\r\n"),
        get("/maybe", "Connection: keep-alive\r\nUpgrade: echo\r\n"),
        "GET /maybe HTTP/1.0\r\nHost: a\r\n" + fields + "\r\n"}) {
    CAPTURE(request);
    CHECK(f.answersTo(request).answers.at(0).status == 426);
  }
  CHECK(refused == 5);
  CHECK(f.answersTo(get("/maybe", "Connection: Keep-Alive, UPGRADE\r\nUpgrade: echo\r\n"))
            .answers.at(0)
            .status == 101);
}

TEST_CASE("session: a byte stream that was closed hears of no more bytes", "[session][regression]") {
  SessionFixture f;
  struct OneShot final : ByteStreamListener {
    explicit OneShot(int& times) : calls(times) {}
    size_t onBytes(char*, size_t) noexcept override {
      ++calls;
      stream->write(std::string(8 << 20, 'w'));  // more than the socket takes: the close has to wait
      stream->close();
      CHECK(stream->write("more") == SendResult::kClosed);
      return 1;  // and leaves the rest
    }
    void onEnd() noexcept override {}
    void onClose(AbortReason) noexcept override { closed = true; }
    int& calls;
    ByteStream* stream = nullptr;
    bool closed = false;
  };
  int calls = 0;
  f.server.on("/one", [&](Exchange& e) {
    ResponseHead head(101);
    auto listener = std::make_unique<OneShot>(calls);
    OneShot& mine = *listener;
    mine.stream = e.upgrade(head, std::move(listener));
  });
  f.server.start();
  SimPeer peer = f.server.connect();
  peer.write(get("/one", "Connection: upgrade\r\nUpgrade: echo\r\n") + "first");
  REQUIRE(f.server.settle());
  CHECK(calls == 1);
  peer.write("second");
  REQUIRE(f.server.settle());
  CHECK(calls == 1);
  std::string got;
  for (std::string piece = peer.read(); !piece.empty(); piece = peer.read()) {
    got += piece;
    REQUIRE(f.server.settle());
  }
  CHECK(std::count(got.begin(), got.end(), 'w') >= (8 << 20));
  CHECK(got.find("more") == std::string::npos);
  CHECK(peer.sawEnd());
}

TEST_CASE("session: bytes behind an upgrade wait for its late answer", "[session]") {
  SessionFixture f;
  f.server.on("/late-upgrade", [&](Exchange& e) { f.handle = e.handle(); });
  f.server.start();
  SimPeer peer = f.server.connect();
  peer.write(get("/late-upgrade", "Connection: upgrade\r\nUpgrade: echo\r\n") + "early");
  REQUIRE(f.server.settle());
  int early = -1;
  f.handle.post([&](Exchange& e) {
    ResponseHead head(101);
    auto listener = std::make_unique<ByteEcho>(f.fate);
    ByteEcho& mine = *listener;
    mine.stream = e.upgrade(head, std::move(listener));
    early = mine.early;
  });
  REQUIRE(f.server.settle());
  CHECK(early == 0);  // not called before the caller had the stream
  const auto got = parseAnswers(peer.read());
  REQUIRE(got.answers.size() == 1);
  CHECK(got.rest == "early");
}

}  // namespace
}  // namespace roost::http
