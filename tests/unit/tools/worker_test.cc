#include "tools/swarm/worker.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "net/acceptor.h"
#include "support/sim_loop.h"
#include "tools/swarm/request.h"

namespace roost::swarm {
namespace {

using test::SimLoop;

constexpr int64_t kMs = 1'000'000;

// A server on the simulated kernel whose connections answer as a test says: echo, or a fixed text per read.
struct TestServer final : net::Session, net::SessionFactory {
  SimLoop net;
  net::LocalSink sink{net.io(), 1000};
  std::unique_ptr<net::Acceptor> acceptor;
  net::SocketAddress address;
  std::string answer;  // to every read; "": what was read
  bool whole_requests = false;
  bool stalls = false;  // keeps what it would answer until it no longer does
  bool ends = false;    // after an answer
  std::vector<std::pair<net::Connection*, std::string>> owed;
  std::string asked;                // the last that was read
  net::Connection* last = nullptr;  // that was accepted

  TestServer() {
    net.io().setFactory(0, *this);
    net::ListenOptions options;
    options.address = net::SocketAddress::parse("127.0.0.1", 0).value();
    auto listener = net::Listener::open(net.sys, options);
    address = listener.value().address();
    acceptor = std::make_unique<net::Acceptor>(net.loop(), std::move(listener).value(), 0, sink,
                                               net::Acceptor::Trigger::kLevel);
    REQUIRE(acceptor->start().ok());
  }
  net::Session& sessionFor(net::Connection& connection) noexcept override {
    last = &connection;
    return *this;
  }
  void onRead(net::Connection& connection, net::Chunk& in) noexcept override {
    if (!answer.empty() && whole_requests &&
        std::string_view(in.data(), in.size()).find("\r\n\r\n") == std::string::npos)
      return;
    asked.assign(in.data(), in.size());
    std::string text = answer.empty() ? asked : answer;
    in.consume(in.size());
    if (stalls) {
      owed.emplace_back(&connection, std::move(text));
      return;
    }
    connection.write(text);
    if (ends) connection.closeAfterWrite(false);
  }
  void onClose(net::Connection& connection) noexcept override {
    if (last == &connection) last = nullptr;
  }
  void goOn() {
    stalls = false;
    for (auto& [connection, text] : owed) {
      connection->write(text);
      connection->flush();
    }
    owed.clear();
  }
};

// A worker beside the server on the same simulated kernel and clock.
struct Fixture {
  TestServer server;
  Plan plan;
  Control control;
  Stats stats;
  std::unique_ptr<Worker> worker;
  int64_t begin_ns = 0;

  explicit Fixture(const std::string& url, std::string overlay) : plan(scenario(url, std::move(overlay))) {
    plan.scenario.target = server.address;
    buildRequest(plan);
    auto made = Worker::create(server.net.sys, plan, control, 0, stats);
    REQUIRE(made.ok());
    worker = std::move(made).value();
    begin_ns = server.net.sys.monotonicNs();
  }
  static Scenario scenario(const std::string& url, std::string overlay) {
    overlay.insert(1, "\"url\": \"" + url + "\"" + (overlay == "{}" ? "" : ", "));
    auto loaded = loadScenario("", overlay, {}, false);
    INFO(loaded.status().message());
    REQUIRE(loaded.ok());
    return std::move(loaded).value();
  }
  // Loads from 20 ms after now, measures at once and for `measure_ms`.
  void start(int64_t measure_ms) {
    const int64_t load = server.net.sys.monotonicNs() + 20 * kMs;
    control.connect_from_ns = server.net.sys.monotonicNs();
    control.load_from_ns = load;
    control.measure_from_ns = load;
    control.measure_to_ns = load + measure_ms * kMs;
    control.end_ns = load + (measure_ms + 1000) * kMs;
  }
  void settle() {
    for (int round = 0; round < 10000; ++round) {
      worker->loop().runOnce(0);
      const int own = server.net.sys.lastReady();
      server.net.loop().runOnce(0);
      if (own <= 0 && server.net.sys.lastReady() <= 0 && !server.net.loop().skipsWait()) return;
    }
    FAIL("it spins");
  }
  void pass(int64_t ms) {
    for (int64_t i = 0; i < ms; ++i) {
      server.net.sys.advanceMs(1);
      settle();
    }
  }
  uint64_t errors(ErrorKind kind) const { return stats.errors[static_cast<size_t>(kind)].value(); }
};

TEST_CASE("swarm: each client asks again when it is answered", "[swarm]") {
  Fixture f("tcp://127.0.0.1:9", R"({"clients": 3, "message_bytes": 100, "think_ms": 10})");
  f.start(200);
  f.pass(21);
  CHECK(f.stats.open.value() == 3);
  f.pass(1500);
  CHECK(f.worker->finished());
  // Every 10 ms for 200 ms, each client having waited a third of that longer than the one before.
  CHECK(f.stats.replies.value() >= 57);
  CHECK(f.stats.replies.value() <= 60);
  CHECK(f.stats.errorCount() == 0);
  CHECK(f.stats.bytes_in.value() == f.stats.replies.value() * 100);
}

TEST_CASE("swarm: what a stall delays counts from when it was due", "[swarm]") {
  Fixture f("tcp://127.0.0.1:9", R"({"clients": 2, "rate": 100})");
  f.start(1000);
  f.pass(21 + 200);
  CHECK(f.stats.latency.max() == 0);
  f.server.stalls = true;
  f.pass(400);
  f.server.goOn();
  f.pass(2000);
  CHECK(f.worker->finished());
  // 100 requests were due. Two waited for the stall; 38 more could not be sent meanwhile, and waited too.
  CHECK(f.stats.requests.value() == 100);
  CHECK(f.stats.latency.count() == 100);
  CHECK(f.stats.service.count() == 100);
  const auto longer = [](const Latencies& latencies, int64_t ms) {
    return latencies.count() - latencies.countUpTo(static_cast<uint64_t>(ms * kMs));
  };
  CHECK(longer(f.stats.service, 20) == 2);
  CHECK(longer(f.stats.latency, 20) >= 36);
  CHECK(longer(f.stats.latency, 200) >= 18);
  CHECK(longer(f.stats.latency, 200) <= 22);
  CHECK(f.stats.latency.max() >= 385 * kMs);
  CHECK(f.stats.unsent == 0);
  CHECK(f.stats.send_delay.count() < 70);  // only what nothing hindered
}

TEST_CASE("swarm: what is due and never sent is told", "[swarm]") {
  Fixture f("tcp://127.0.0.1:9", R"({"clients": 2, "rate": 100})");
  f.server.stalls = true;
  f.start(500);
  f.pass(2000);
  CHECK(f.worker->finished());
  CHECK(f.stats.requests.value() == 2);
  CHECK(f.stats.unanswered == 2);
  CHECK(f.stats.unsent == 48);
  CHECK(f.stats.unsent_own == 0);
  // All of them count with what they have waited until the end.
  CHECK(f.stats.latency.count() == 50);
  CHECK(f.stats.least_latency == 50);
  CHECK(f.stats.latency.max() >= 1490 * kMs);
}

TEST_CASE("swarm: what it could not send because it stood still itself is not the server's doing",
          "[swarm]") {
  Fixture f("tcp://127.0.0.1:9", R"({"clients": 2, "rate": 100})");
  f.start(500);
  f.pass(21 + 200);
  f.server.net.sys.advanceMs(2000);
  f.pass(10);
  CHECK(f.worker->finished());
  CHECK(f.stats.unsent == 0);
  CHECK(f.stats.unsent_own >= 28);
  CHECK(f.stats.unsent_own + f.stats.requests.value() == 50);
  CHECK(f.stats.send_delay.max() >= 1990 * kMs);
  CHECK(f.stats.latency.count() == 50);
  CHECK(f.stats.least_latency == f.stats.unsent_own);
  CHECK(f.stats.errorCount() == 0);
}

TEST_CASE("swarm: clients that have asked often enough owe nothing to the schedule", "[swarm]") {
  Fixture f("tcp://127.0.0.1:9", R"({"clients": 2, "rate": 100, "requests_per_client": 3})");
  f.start(500);
  f.pass(1000);
  CHECK(f.worker->finished());
  CHECK(f.stats.replies.value() == 6);
  CHECK(f.stats.unsent + f.stats.unsent_own == 0);
}

TEST_CASE("swarm: a client thinks no faster for losing its connection", "[swarm]") {
  Fixture f("http://127.0.0.1:9/", R"({"clients": 1, "think_ms": 20, "reconnect_delay_ms": 1})");
  f.server.answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
  f.start(400);
  f.pass(21);
  for (int i = 0; i < 80; ++i) {
    if (f.server.last != nullptr) f.server.last->close();
    f.pass(5);
  }
  f.pass(1500);
  CHECK(f.stats.reopened.value() >= 15);
  CHECK(f.stats.replies.value() >= 18);
  CHECK(f.stats.replies.value() <= 21);
}

TEST_CASE("swarm: a connection that ends before it is asked anything is an error, opened again later",
          "[swarm]") {
  Fixture f("http://127.0.0.1:9/", R"({"clients": 1, "reconnect_delay_ms": 100})");
  f.start(1000);
  f.control.load_from_ns = Control::kNever;
  for (int i = 0; i < 3000; ++i) {
    f.pass(1);
    if (f.server.last != nullptr) f.server.last->close();
  }
  CHECK(f.worker->finished());
  CHECK(f.stats.reopened.value() == 0);
  CHECK(f.errors(ErrorKind::kClosedEarly) >= 9);
  CHECK(f.errors(ErrorKind::kClosedEarly) <= 11);
  CHECK(f.stats.errorCount() == f.errors(ErrorKind::kClosedEarly));
}

TEST_CASE("swarm: an echo that differs is found", "[swarm]") {
  Fixture f("tcp://127.0.0.1:9", R"({"clients": 1})");
  f.server.answer = std::string(20, 'x');
  f.start(100);
  f.pass(1500);
  CHECK(f.errors(ErrorKind::kBody) >= 1);
  CHECK(f.stats.replies.value() == 0);
}

TEST_CASE("swarm: an answer that does not come in time is an error, and its connection ends", "[swarm]") {
  Fixture f("tcp://127.0.0.1:9", R"({"clients": 1, "timeout_ms": 500, "reconnect_delay_ms": 100000})");
  f.server.stalls = true;
  f.start(3000);
  f.pass(1500);
  CHECK(f.errors(ErrorKind::kTimeout) == 1);
  CHECK(f.stats.open.value() == 0);
}

TEST_CASE("swarm: http answers are taken in any shape", "[swarm]") {
  struct Case {
    const char* answer;
    ErrorKind error;  // kCount: none
    bool ends;
  };
  const std::string head = "HTTP/1.1 200 OK\r\n";
  for (const Case& c :
       {Case{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", ErrorKind::kCount, false},
        Case{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", ErrorKind::kCount,
             false},
        Case{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ErrorKind::kCount,
             false},
        Case{"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", ErrorKind::kCount, true},
        Case{"HTTP/1.0 200 OK\r\n\r\nuntil the end", ErrorKind::kCount, true},
        Case{"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhi", ErrorKind::kClosedEarly, true},
        Case{"HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nhi", ErrorKind::kStatus, false},
        Case{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi!", ErrorKind::kProtocol, false},
        Case{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi", ErrorKind::kProtocol,
             false},
        Case{"SSH-2.0-OpenSSH\r\n", ErrorKind::kProtocol, false}}) {
    CAPTURE(c.answer);
    Fixture f("http://127.0.0.1:9/a", R"({"clients": 1, "think_ms": 10, "reconnect_delay_ms": 10})");
    f.server.answer = c.answer;
    f.server.ends = c.ends;
    f.server.whole_requests = true;
    f.server.net.sys.setMaxRecv(7);  // in small pieces
    f.start(200);
    f.pass(1500);
    CHECK(f.worker->finished());
    if (c.error == ErrorKind::kCount) {
      CHECK(f.stats.errorCount() == 0);
      CHECK(f.stats.replies.value() >= 10);
      CHECK((f.stats.reopened.value() > 0) == c.ends);
    } else {
      CHECK(f.errors(c.error) >= 1);
      CHECK(f.stats.errorCount() == f.errors(c.error));
    }
  }
}

TEST_CASE("swarm: pipelined requests go out together and are all answered", "[swarm]") {
  Fixture f("http://127.0.0.1:9/",
            R"({"clients": 1, "think_ms": 10, "pipeline": 3, "requests_per_client": 4})");
  const std::string one = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
  f.server.answer = one + one + one;
  f.start(500);
  f.pass(1500);
  CHECK(f.stats.errorCount() == 0);
  CHECK(f.stats.requests.value() == 12);
  CHECK(f.stats.replies.value() == 12);
  CHECK(f.stats.latency.count() == 12);
  CHECK(f.stats.bytes_out.value() == 12 * f.plan.request.size() / 3);
}

TEST_CASE("swarm: pipelined requests that are never answered are counted", "[swarm]") {
  const std::string one = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
  const std::string last = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";
  struct Case {
    std::string answer;
    bool ends;
    uint64_t in_vain, other;  // of each write
  };
  for (const Case& c : {Case{one + last, true, 2, 0}, Case{last, true, 3, 0}, Case{one, true, 2, 1},
                        Case{one + one + one + last, true, 0, 0}}) {
    CAPTURE(c.answer);
    Fixture f("http://127.0.0.1:9/",
              R"({"clients": 1, "think_ms": 10, "pipeline": 4, "reconnect_delay_ms": 10})");
    f.server.answer = c.answer;
    f.server.ends = c.ends;
    f.start(200);
    f.pass(1500);
    CHECK(f.worker->finished());
    const uint64_t writes = f.stats.requests.value() / 4;
    CHECK(writes >= 8);
    CHECK(f.errors(ErrorKind::kInVain) == c.in_vain * writes);
    CHECK(f.stats.errorCount() == (c.in_vain + c.other) * writes);
    CHECK(f.stats.requests.value() == f.stats.replies.value() + f.stats.errorCount());
    CHECK(f.stats.waiting.value() == 0);
  }
  Fixture f("http://127.0.0.1:9/", R"({"clients": 1, "pipeline": 4})");
  f.server.answer = one;
  f.start(200);
  f.pass(1500);
  CHECK(f.stats.replies.value() == 1);
  CHECK(f.stats.unanswered == 3);
}

TEST_CASE("swarm: long content is counted without being read", "[swarm]") {
  Fixture f("http://127.0.0.1:9/", R"({"clients": 1, "think_ms": 10, "requests_per_client": 4})");
  const std::string content(400'000, 'x');
  f.server.answer = "HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\n" + content;
  f.start(500);
  f.pass(1500);
  CHECK(f.stats.errorCount() == 0);
  CHECK(f.stats.replies.value() == 4);
  CHECK(f.stats.bytes_in.value() == 4 * f.server.answer.size());
}

TEST_CASE("swarm: answers must agree with the first one", "[swarm]") {
  Fixture f("http://127.0.0.1:9/{client}", R"({"clients": 1, "think_ms": 10, "expect_body": "same"})");
  f.server.answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
  f.start(300);
  f.pass(100);
  CHECK(f.stats.errorCount() == 0);
  f.server.answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nho";
  f.pass(20);
  CHECK(f.errors(ErrorKind::kBody) >= 1);
  CHECK(f.errors(ErrorKind::kLength) == 0);
  f.server.answer = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nho!";
  f.pass(20);
  CHECK(f.errors(ErrorKind::kLength) >= 1);
}

TEST_CASE("swarm: numbered answers of a hold are checked", "[swarm]") {
  Fixture f("http://127.0.0.1:9/", R"({"kind": "hold", "clients": 1, "think_ms": 10, "expect_sequence": "on",
                                       "expect_bytes": -2, "requests_per_client": 4})");
  const auto answer = [&](const char* body) {
    f.server.answer = std::string("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n") + body;
  };
  answer("7 a");
  f.start(1000);
  f.pass(15);
  for (const char* body : {"8 b", "8 b", "cde"}) {
    answer(body);
    f.pass(10);
  }
  CHECK(f.stats.done.value() == 1);
  CHECK(f.errors(ErrorKind::kDuplicate) == 1);
  CHECK(f.errors(ErrorKind::kNoNumber) == 1);
  CHECK(f.stats.errorCount() == 2);
}

TEST_CASE("swarm: what swarm publishes itself is counted against what it has published", "[swarm]") {
  Fixture f("http://127.0.0.1:9/",
            R"({"kind": "sse", "clients": 2, "publish_url": "/p", "publish_messages": 5})");
  f.server.answer = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
  f.start(1000);
  const std::string now = std::to_string(f.server.net.sys.monotonicNs());
  // What the channel had kept from an earlier run, a message, a gap, and the one behind it.
  f.server.answer +=
      "data: 4 1 old\n\ndata: 1 " + now + "\n\nevent: gap\ndata: {}\n\ndata: 3 " + now + "\n\n";
  f.control.published = 3;  // of 5: the others were refused
  f.pass(2500);
  CHECK(f.worker->finished());
  CHECK(f.stats.messages.value() == 4);
  CHECK(f.stats.broadcasts.list().size() == 2);
  CHECK(f.errors(ErrorKind::kGap) == 2);
  CHECK(f.errors(ErrorKind::kLost) == 2);
  CHECK(f.stats.errorCount() == 4);
}

TEST_CASE("swarm: a poll goes on from where the last answer was, over another connection too", "[swarm]") {
  Fixture f("http://127.0.0.1:9/{client}",
            R"({"kind": "poll", "clients": 1, "expect_sequence": "on", "expect_messages": 4})");
  f.server.stalls = true;
  f.start(3000);
  f.pass(30);
  CHECK(f.server.asked == "GET /0 HTTP/1.1\r\nHost: 127.0.0.1:9\r\n\r\n");
  const auto answer = [&](const std::string& head, const std::string& body, bool ends = false) {
    f.server.answer.clear();
    REQUIRE(f.server.owed.size() == 1);
    auto [connection, text] = std::move(f.server.owed.back());
    f.server.owed.clear();
    connection->write("HTTP/1.1 " + head + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                      body);
    connection->flush();
    if (ends) connection->closeAfterWrite(false);
    f.pass(20);
  };
  const std::string at_one =
      "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\nIf-None-Match: \"1-a\"\r\n\r\n";
  answer("200 OK\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nEtag: \"1-a\"", "1 5 x");
  CHECK_THAT(f.server.asked, Catch::EndsWith(at_one));
  for (const char* nothing : {"408 Request Timeout", "304 Not Modified"}) {
    f.server.asked.clear();
    if (nothing[0] == '3') {
      f.server.owed.back().first->write("HTTP/1.1 304 Not Modified\r\n\r\n");
      f.server.owed.back().first->flush();
      f.server.owed.clear();
      f.pass(20);
    } else {
      answer(nothing, "late");
    }
    CHECK_THAT(f.server.asked, Catch::EndsWith(at_one));
  }
  f.server.asked.clear();
  answer("408 Request Timeout\r\nConnection: close", "", true);
  CHECK_THAT(f.server.asked, Catch::EndsWith(at_one));
  CHECK(f.stats.reopened.value() == 1);
  answer("200 OK\r\nEtag: 2", "2 6");
  CHECK_THAT(f.server.asked, Catch::EndsWith("9\r\nIf-None-Match: 2\r\n\r\n"));
  CHECK(f.stats.errorCount() == 0);
  CHECK(f.stats.empty_answers.value() == 3);
  answer("200 OK\r\nEtag: 5\r\nPush-Gap: 2", "5 7");
  CHECK(f.errors(ErrorKind::kGap) == 1);
  answer("404 Not Found", "");
  CHECK(f.errors(ErrorKind::kStatus) == 1);
  CHECK(f.stats.messages.value() == 3);
  f.pass(5000);
  CHECK(f.worker->finished());
  CHECK(f.errors(ErrorKind::kLost) == 1);
  REQUIRE(f.stats.broadcasts.list().size() == 3);
  CHECK(f.stats.broadcasts.list()[2]->number == 5);
}

TEST_CASE("swarm: a poll comes back after the time to think, once", "[swarm]") {
  Fixture f("http://127.0.0.1:9/", R"({"kind": "poll", "clients": 1, "think_ms": 100})");
  f.server.answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1";
  f.start(1000);
  f.pass(20 + 85);
  CHECK(f.stats.messages.value() == 1);
  f.pass(850);
  CHECK(f.stats.messages.value() >= 9);
  CHECK(f.stats.messages.value() <= 10);
  CHECK(f.stats.errorCount() == 0);
}

}  // namespace
}  // namespace roost::swarm
