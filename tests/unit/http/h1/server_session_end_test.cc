// How exchanges and connections end: timeouts, aborts, failing calls, and what an idle one costs.
#include <catch2/catch.hpp>
#include <thread>

#include "unit/http/h1/session_fixture.h"

namespace roost::http {
namespace {

using test::Call;
using test::parseAnswers;
using test::SimPeer;

TEST_CASE("session timeout: a head that has begun gets 408", "[session]") {
  SessionFixture f;
  f.server.options.head_timeout_ms = 5000;
  f.server.start();
  SimPeer peer = f.server.connect();
  peer.write("GET /hel");
  REQUIRE(f.server.net.pass(3000));
  peer.write("lo");  // dripping does not extend it
  REQUIRE(f.server.net.pass(1900));
  CHECK(peer.readable() == 0);
  REQUIRE(f.server.net.pass(700));
  const auto got = parseAnswers(peer.read());
  REQUIRE(got.answers.size() == 1);
  CHECK(got.answers[0].status == 408);
  CHECK(got.answers[0].has("\r\nConnection: close\r\n"));
  CHECK(peer.sawEnd());
}

TEST_CASE("session timeout: a silent connection is closed without a word", "[session]") {
  SessionFixture f;
  f.server.options.head_timeout_ms = 5000;
  f.server.options.keep_alive_timeout_ms = 10000;
  f.server.start();
  SimPeer silent = f.server.connect();
  SimPeer used = f.server.connect();
  used.write(get("/hello"));
  REQUIRE(f.server.settle());
  used.read();
  REQUIRE(f.server.net.pass(4900));
  CHECK_FALSE(silent.gone());
  REQUIRE(f.server.net.pass(700));
  CHECK(silent.sawEnd());
  CHECK(silent.read().empty());
  CHECK_FALSE(used.gone());
  REQUIRE(f.server.net.pass(5000));
  CHECK(used.sawEnd());
  CHECK(used.read().empty());
}

TEST_CASE("session timeout: a body that stalls gets 408, and its listener hears of it", "[session]") {
  SessionFixture f;
  f.server.options.body_timeout_ms = 5000;
  f.server.start();
  SimPeer peer = f.server.connect();
  peer.write("POST /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nab");
  REQUIRE(f.server.net.pass(4000));
  peer.write("cd");  // progress extends it
  REQUIRE(f.server.net.pass(4500));
  CHECK(peer.readable() == 0);
  REQUIRE(f.server.net.pass(1000));
  CHECK(parseAnswers(peer.read()).answers.at(0).status == 408);
  CHECK(peer.sawEnd());
  CHECK(f.fate.aborted == 1);
  CHECK(f.fate.reason == AbortReason::kTimeout);
}

TEST_CASE("session timeout: a body that nobody wants has one deadline in all", "[session][regression]") {
  SessionFixture f;
  f.server.options.body_timeout_ms = 5000;
  f.server.start();
  for (const bool chunked : {false, true}) {
    SimPeer peer = f.server.connect();
    peer.write(chunked ? "POST /ignore HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                       : "POST /ignore HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
    REQUIRE(f.server.settle());
    CHECK(parseAnswers(peer.read()).answers.at(0).status == 200);
    int pieces = 0;
    for (; pieces < 20 && !peer.gone(); ++pieces) {
      peer.write(chunked ? "1\r\nx\r\n" : "x");
      REQUIRE(f.server.net.pass(1000));
    }
    CHECK(pieces >= 4);
    CHECK(pieces <= 6);
    peer.close();
    REQUIRE(f.server.settle());
  }
  CHECK(f.server.net.io().size() == 0);
}

TEST_CASE("session timeout: without a least rate a body may come slowly for as long as it comes",
          "[session]") {
  SessionFixture f;
  f.server.options.min_body_bytes_per_s = 0;
  f.server.options.body_timeout_ms = 5000;
  f.server.start();
  SimPeer peer = f.server.connect();
  peer.write("POST /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n");
  for (int i = 0; i < 20; ++i) {
    REQUIRE(f.server.net.pass(4000));
    peer.write("x");
  }
  REQUIRE(f.server.settle());
  CHECK(parseAnswers(peer.read()).answers.at(0).body == std::string(20, 'x'));
}

TEST_CASE("session timeout: a client that takes nothing is reset", "[session]") {
  SessionFixture f;
  f.server.options.send_timeout_ms = 5000;
  f.server.net.sys.setCapacity(10000);
  f.file_bytes = test::patternOf(100000);
  f.server.start();
  for (const char* request : {"/file", "/stream", "/hello"}) {
    SimPeer peer = f.server.connect();
    std::string requests = get(request);
    if (requests.find("hello") != std::string::npos) {
      for (int i = 0; i < 500; ++i) requests += get("/hello");
    }
    peer.write(requests);
    REQUIRE(f.server.net.pass(3000));
    peer.read(9000);  // progress
    REQUIRE(f.server.net.pass(4000));
    CHECK_FALSE(peer.gone());
    REQUIRE(f.server.net.pass(2000));
    CHECK(peer.sawReset());
  }
  CHECK(f.server.net.io().size() == 0);
}

TEST_CASE("session timeout: without a least rate a client may take little at a time",
          "[session][regression]") {
  SessionFixture f;
  f.server.options.min_send_bytes_per_s = 0;
  f.server.options.send_timeout_ms = 5000;
  f.server.net.sys.setCapacity(10000);
  f.file_bytes = test::patternOf(100000);
  f.prepared_body = test::patternOf(100000);
  f.server.start();
  for (const char* target : {"/file", "/stream", "/prepared"}) {
    SimPeer peer = f.server.connect();
    peer.write(get(target));
    for (int i = 0; i < 20; ++i) {
      REQUIRE(f.server.net.pass(3000));
      peer.read(10);  // far from the third of the buffer that the poller waits for
      REQUIRE_FALSE(peer.gone());
    }
    REQUIRE(f.server.net.pass(12000));
    CHECK(peer.sawReset());
  }
  CHECK(f.server.net.io().size() == 0);
}

TEST_CASE("session timeout: pipelining a request does not lift the send timeout", "[session]") {
  SessionFixture f;
  f.server.options.send_timeout_ms = 5000;
  f.server.net.sys.setCapacity(10000);
  f.file_bytes = test::patternOf(100000);
  f.server.start();
  SimPeer peer = f.server.connect();
  peer.write(get("/file"));
  REQUIRE(f.server.settle());
  peer.write(get("/later"));
  REQUIRE(f.server.net.pass(12000));
  CHECK(peer.sawReset());
  CHECK(f.fate.aborted == 1);
}

TEST_CASE("session timeout: the server's own slowness is not the client's", "[session]") {
  SessionFixture f;
  f.server.start();
  SimPeer peer = f.server.connect();
  peer.write(get("/later"));
  REQUIRE(f.server.net.pass(300000, 1000));
  f.answerLater();
  REQUIRE(f.server.settle());
  CHECK(parseAnswers(peer.read()).answers.at(0).body == "late");
  REQUIRE(f.server.net.pass(74000, 1000));
  CHECK_FALSE(peer.gone());
  REQUIRE(f.server.net.pass(3000, 1000));  // keep-alive runs from the answer
  CHECK(peer.sawEnd());
}

TEST_CASE("session abort: the listener hears of it exactly once", "[session]") {
  SessionFixture f;
  f.server.net.sys.setCapacity(10000);
  f.server.start();
  SimPeer peer = f.server.connect();
  SECTION("reset while waiting") {
    peer.write(get("/later"));
    REQUIRE(f.server.settle());
    peer.reset();
  }
  SECTION("reset while parked") {
    peer.write(get("/park"));
    REQUIRE(f.server.settle());
    peer.reset();
  }
  SECTION("end while parked") {
    peer.write(get("/park"));
    REQUIRE(f.server.settle());
    peer.shutdownWrite();
  }
  SECTION("end before parking") {
    peer.write(get("/later"));
    peer.shutdownWrite();
    REQUIRE(f.server.settle());
    f.handle.post([](Exchange& e) { e.park(); });
  }
  SECTION("end while it works for nobody else") {
    peer.write(get("/later"));
    REQUIRE(f.server.settle());
    f.handle.post([](Exchange& e) { e.endWithPeer(); });
    REQUIRE(f.server.settle());
    peer.shutdownWrite();
  }
  SECTION("end while it works for nobody else, behind more than is read ahead") {
    peer.write(get("/later") + std::string(70'000, 'x'));
    REQUIRE(f.server.settle());
    f.handle.post([](Exchange& e) { e.endWithPeer(); });
    REQUIRE(f.server.settle());
    peer.write("and one more");
    peer.shutdownWrite();
  }
  SECTION("end behind more than is read ahead, before it works for nobody else") {
    peer.write(get("/later") + std::string(70'000, 'x'));
    peer.shutdownWrite();
    REQUIRE(f.server.settle());
    f.handle.post([](Exchange& e) { e.endWithPeer(); });
  }
  SECTION("end before it works for nobody else") {
    peer.write(get("/later"));
    peer.shutdownWrite();
    REQUIRE(f.server.settle());
    f.handle.post([](Exchange& e) { e.endWithPeer(); });
  }
  SECTION("end while parked, with requests behind") {
    peer.write(get("/park") + get("/hello"));
    REQUIRE(f.server.settle());
    peer.shutdownWrite();
  }
  SECTION("more behind a parked request than is kept") {
    peer.write(get("/park"));
    REQUIRE(f.server.settle());
    peer.write(std::string(70'000, 'x'));
  }
  SECTION("parking with more behind it than is read ahead") {
    peer.write(get("/later") + std::string(70'000, 'x'));
    REQUIRE(f.server.settle());
    f.handle.post([](Exchange& e) { e.park(); });
    REQUIRE(f.server.settle());
    peer.shutdownWrite();
  }
  SECTION("reset in the middle of a body") {
    peer.write("POST /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nab");
    REQUIRE(f.server.settle());
    peer.reset();
  }
  SECTION("end in the middle of a body") {
    peer.write("POST /collect HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nab");
    REQUIRE(f.server.settle());
    peer.close();
  }
  SECTION("reset in the middle of an answer") {
    peer.write(get("/stream"));
    REQUIRE(f.server.settle());
    peer.reset();
  }
  SECTION("the handler gives up") {
    peer.write(get("/later"));
    REQUIRE(f.server.settle());
    f.handle.post([](Exchange& e) { e.abandon(); });
  }
  SECTION("an answer shorter than promised") {
    peer.write(get("/later"));
    REQUIRE(f.server.settle());
    f.handle.post([](Exchange& e) {
      ResponseHead head(200);
      head.content_length = 10;
      e.begin(head, false);
      e.send("short", true);
    });
  }
  SECTION("a head alone where content was promised") {
    peer.write(get("/later"));
    REQUIRE(f.server.settle());
    f.handle.post([](Exchange& e) {
      ResponseHead head(200);
      head.content_length = 10;
      e.begin(head, true);
    });
  }
  SECTION("the server goes down") {
    peer.write(get("/later"));
    REQUIRE(f.server.settle());
    f.server.net.io().closeAll();
  }
  REQUIRE(f.server.settle());
  CHECK(f.fate.aborted == 1);
  CHECK(f.fate.finished == 0);
  CHECK(f.server.net.io().size() == 0);
  f.answerLater();  // stale: harms nobody
  REQUIRE(f.server.settle());
}

TEST_CASE("session abort: what a listener does then is without effect", "[session]") {
  SessionFixture f;
  struct Stubborn final : ExchangeListener {
    Stubborn(Exchange& to, int& count) : exchange(to), aborts(count) {}
    void onAbort(AbortReason) noexcept override {
      ++aborts;
      ResponseHead head(200);
      exchange.reply(head, "too late");
      exchange.replyError(500);
      CHECK(exchange.send("x", true) == SendResult::kClosed);
      exchange.consumed(10);
      exchange.park();
      exchange.abandon();
    }
    Exchange& exchange;
    int& aborts;
  };
  int aborts = 0;
  f.server.options.max_body_bytes = 100;
  f.server.on("/stubborn", [&](Exchange& e) { e.listen(std::make_unique<Stubborn>(e, aborts)); });
  f.server.start();
  SimPeer peer = f.server.connect();
  peer.write(get("/stubborn"));
  REQUIRE(f.server.settle());
  peer.reset();
  REQUIRE(f.server.settle());
  CHECK(aborts == 1);
  const auto got = f.answersTo(postChunked("/stubborn", std::string(101, 'x')));
  CHECK(aborts == 2);
  REQUIRE(got.answers.size() == 1);
  CHECK(got.answers[0].status == 413);
}

TEST_CASE("session: content beyond what was promised is cut off", "[session]") {
  SessionFixture f;
  f.server.on("/long", [](Exchange& e) {
    ResponseHead head(200);
    head.content_length = 5;
    e.begin(head, false);
    e.send("123", false);
    e.send("45678", true);
  });
  f.server.start();
  const auto got = f.answersTo(get("/long") + get("/hello"));
  REQUIRE(got.answers.size() == 2);
  CHECK(got.answers[0].body == "12345");
}

TEST_CASE("session: answers from another thread", "[session][threads]") {
  SessionFixture f;
  f.server.start();
  for (int round = 0; round < 50; ++round) {
    SimPeer peer = f.server.connect();
    peer.write(get("/later"));
    REQUIRE(f.server.settle());
    std::thread worker([handle = f.handle] {
      handle.reply(std::make_unique<ResponseHead>(200), BufferRef::copyOf("from afar"));
      handle.reply(std::make_unique<ResponseHead>(200), BufferRef::copyOf("once too often"));
    });
    if (round % 2 == 0) peer.close();  // it may be gone by then
    REQUIRE(f.server.settle());
    worker.join();
    REQUIRE(f.server.settle());
    if (round % 2 == 1) CHECK(parseAnswers(peer.read()).answers.at(0).body == "from afar");
  }
}

TEST_CASE("session: an exchange under way keeps its Service", "[session]") {
  SessionFixture f;
  f.server.start();
  auto& context = f.server.context();
  SimPeer peer = f.server.connect();
  peer.write(get("/pause"));
  REQUIRE(f.server.settle());
  std::vector<std::unique_ptr<Site>> sites;
  sites.push_back(std::make_unique<Site>());
  sites[0]->hosts = {"*"};
  context.setService(
      std::make_shared<Service>(ServiceOptions{}, std::move(Router::build(std::move(sites))).value()));
  f.resumeLater();  // the handler is the old one's, and runs while its Service loses its last exchange
  REQUIRE(f.server.settle());
  CHECK(parseAnswers(peer.read()).answers.at(0).body == "no body");
  peer.write(get("/hello"));
  REQUIRE(f.server.settle());
  CHECK(parseAnswers(peer.read()).answers.at(0).status == 404);
}

TEST_CASE("session: resuming what has not paused does nothing", "[session][regression]") {
  SessionFixture f;
  f.server.start();
  for (const char* path : {"/later", "/park", "/pause"}) {
    f.fate = Fate{};
    SimPeer peer = f.server.connect();
    peer.write("POST " + std::string(path) + " HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n");
    REQUIRE(f.server.settle());
    f.resumeLater();
    f.resumeLater();  // one too many
    REQUIRE(f.server.settle());
    CHECK(f.fate.handled == 1);
    peer.reset();
    REQUIRE(f.server.settle());
  }
}

TEST_CASE("session: an idle connection has none, a parked one little", "[session]") {
  CHECK(sizeof(net::Connection) <= 104);
  CHECK(sizeof(h1::ServerSession) + sizeof(net::Connection) + sizeof(WaitListener) <= 224);
  SessionFixture f;
  f.server.start();
  SimPeer peer = f.server.connect();
  const auto owner = [&] {
    const net::Session* session = nullptr;
    f.server.net.io().forEach([&](net::Connection& c) { session = c.session(); });
    return session;
  };
  CHECK(owner() == &f.server.protocol());
  peer.write(get("/hello"));
  REQUIRE(f.server.settle());
  CHECK(owner() == &f.server.protocol());
  peer.write(get("/later"));
  REQUIRE(f.server.settle());
  CHECK(owner() != &f.server.protocol());
  f.answerLater();
  REQUIRE(f.server.settle());
  CHECK(owner() == &f.server.protocol());
}

// The same scenario with the nth call failing, for every n.
TEST_CASE("session: any call may fail without a leak, a hang or an exchange without end", "[session]") {
  uint64_t nth = 1;
  for (bool failed = true; failed; ++nth) {
    SessionFixture f;
    f.file_bytes = test::patternOf(5000);
    f.server.net.sys.setCapacity(3000);
    f.server.start();
    auto& sys = f.server.net.sys;
    const size_t before = sys.openFds();
    sys.failAnyNth(nth);
    SimPeer a = f.server.connect();
    SimPeer b = f.server.connect();
    a.write(get("/hello") + post("/collect", "abc") + get("/later") + get("/file") +
            postChunked("/echo", "echo"));
    REQUIRE(f.server.settle());
    f.answerLater();
    b.write(get("/park"));
    std::string got;
    for (int i = 0; i < 10; ++i) {
      REQUIRE(f.server.settle());
      got += a.read(1000);
    }
    a.write(get("/stream"));
    for (int i = 0; i < 30; ++i) {
      REQUIRE(f.server.settle());
      got += a.read();
    }
    b.shutdownWrite();
    a.close();
    REQUIRE(f.server.net.pass(200000, 5000));
    failed = sys.anyFailed();
    INFO("call " << nth);
    // Files are opened by the handler itself, not through the simulated kernel.
    REQUIRE(f.server.net.io().size() == 0);
    REQUIRE(sys.openFds() == before);
    const auto answers = parseAnswers(got);
    REQUIRE(answers.ok);
    REQUIRE(f.fate.handled >= f.fate.aborted);
    REQUIRE(nth < 5000);
  }
  CHECK(nth > 30);
}

TEST_CASE("session: interrupted and short calls change nothing", "[session]") {
  SessionFixture f;
  f.file_bytes = test::patternOf(3000);
  f.server.start();
  const std::string requests = get("/hello") + post("/collect", "abc") + get("/file") + get("/prepared");
  const std::string expected = f.ask(requests);
  for (uint64_t every = 2; every < 6; ++every) {
    f.server.net.sys.interruptEvery(every);
    f.server.net.sys.setMaxRecv(5);
    f.server.net.sys.setMaxSend(7);
    CHECK((f.ask(requests) == expected));
  }
}

}  // namespace
}  // namespace roost::http
