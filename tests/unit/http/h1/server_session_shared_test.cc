// What many exchanges are sent from one block, and the deadlines of those that wait.
#include <catch2/catch.hpp>

#include "http/framed.h"
#include "unit/http/h1/session_fixture.h"

namespace roost::http {
namespace {

BufferRef framed(std::string_view content) {
  char* out = nullptr;
  BufferRef block = makeFramed(content.size(), out);
  content.copy(out, content.size());
  return block;
}

// Waits, and does what the test tells it to.
struct Waiter final : ExchangeListener {
  Waiter(Exchange& to, std::string& told) : exchange(&to), log(told) {}
  void onWritable() noexcept override {
    log += "writable ";
    if (rearm_ms != 0) exchange->setDeadline(rearm_ms);
  }
  void onDeadline() noexcept override {
    log += "deadline ";
    if (rearm_ms != 0) exchange->setDeadline(rearm_ms);
    if (!reply.empty()) {
      ResponseHead head(408);
      exchange->reply(head, reply);
    }
  }
  void onAbort(AbortReason reason) noexcept override {
    log += "abort:" + std::to_string(static_cast<int>(reason)) + " ";
    exchange = nullptr;
  }
  Exchange* exchange;
  std::string& log;
  uint32_t rearm_ms = 0;
  std::string reply;
};

// /stream begins a chunked answer, /wait none; both park and leave the Waiter.
struct SharedFixture {
  SharedFixture() {
    server.options.send_timeout_ms = 5000;
    server.on("/stream", [this](Exchange& e) {
      keep(e);
      ResponseHead head(200);
      e.begin(head, false);
      if (!at_once.empty()) e.sendFramed(framed(at_once));
      if (deadline_ms != 0) e.setDeadline(deadline_ms);
      e.park();
    });
    server.on("/wait", [this](Exchange& e) {
      keep(e);
      if (deadline_ms != 0) e.setDeadline(deadline_ms);
      e.park();
    });
    server.start();
  }
  void keep(Exchange& e) {
    auto listener = std::make_unique<Waiter>(e, log);
    waiter = listener.get();
    e.listen(std::move(listener));
  }
  test::SimPeer ask(std::string_view request) {
    test::SimPeer peer = server.connect();
    peer.write(request);
    server.settle();
    return peer;
  }
  void pass(int64_t ms) {
    for (int64_t left = ms; left > 0; left -= 100) {
      server.net.sys.advanceMs(std::min<int64_t>(left, 100));
      server.settle();
    }
  }
  Exchange& exchange() { return *waiter->exchange; }

  std::string log;
  std::string at_once;
  uint32_t deadline_ms = 0;
  Waiter* waiter = nullptr;
  test::H1Server server;
};

TEST_CASE("A framed block holds its content and the framing of one chunk") {
  CHECK(framed("hello").view() == "5\r\nhello\r\n");
  CHECK(contentOf(framed("hello")) == "hello");
  const std::string large(70000, '\n');
  CHECK(framed(large).view() == "11170\r\n" + large + "\r\n");
  CHECK(contentOf(framed(large)) == large);
}

TEST_CASE_METHOD(SharedFixture, "Framed content goes out in one call, as it stands") {
  test::SimPeer peer = ask(get("/stream"));
  CHECK(test::parseAnswers(peer.read()).answers.at(0).status == 200);
  server.net.sys.resetCounts();
  CHECK(exchange().sendFramed(framed("event")) == SendResult::kAccepted);
  CHECK(server.net.sys.sendCalls() == 1);
  CHECK(peer.read() == "5\r\nevent\r\n");
  exchange().send(std::string_view(), true);
  server.settle();
  CHECK(peer.read() == "0\r\n\r\n");
}

TEST_CASE_METHOD(SharedFixture, "What is framed while a request is read leaves with the head") {
  at_once = "first";
  server.net.sys.resetCounts();
  test::SimPeer peer = ask(get("/stream"));
  const auto got = test::parseAnswers(peer.read() + "0\r\n\r\n");
  CHECK(got.answers.at(0).body == "first");
  CHECK(server.net.sys.sendCalls() == 1);
}

TEST_CASE_METHOD(SharedFixture, "HTTP/1.0 and HEAD are sent no chunk") {
  test::SimPeer old = ask("GET /stream HTTP/1.0\r\nHost: a\r\n\r\n");
  CHECK(exchange().sendFramed(framed("event")) == SendResult::kAccepted);
  exchange().send(std::string_view(), true);
  server.settle();
  const auto got = test::parseAnswers(old.read());
  CHECK(got.answers.at(0).body == "event");
  CHECK(got.answers.at(0).has("\r\nConnection: close\r\n"));
  test::SimPeer head = ask("HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n");
  exchange().sendFramed(framed("event"));
  exchange().send(std::string_view(), true);
  server.settle();
  CHECK(head.read().find("event") == std::string::npos);
}

TEST_CASE_METHOD(SharedFixture, "Framed content that does not fit is told, and when it has gone") {
  server.net.sys.setCapacity(1000);
  test::SimPeer peer = ask(get("/stream"));
  peer.read();
  const std::string large(3000, 'x');
  CHECK(exchange().sendFramed(framed(large)) == SendResult::kBlocked);
  CHECK(log.empty());
  CHECK(exchange().sendFramed(framed("more")) == SendResult::kBlocked);
  std::string got;
  for (int i = 0; i < 20; ++i) {
    got += peer.read();
    server.settle();
  }
  CHECK(got == "bb8\r\n" + large + "\r\n4\r\nmore\r\n");
  CHECK(log == "writable ");
}

TEST_CASE_METHOD(SharedFixture, "A parked exchange hears of its deadline, once") {
  deadline_ms = 3000;
  test::SimPeer peer = ask(get("/wait"));
  pass(2900);
  CHECK(log.empty());
  pass(600);
  CHECK(log == "deadline ");
  pass(100000);
  CHECK(log == "deadline ");
  waiter->reply = "too late";
  exchange().setDeadline(1000);
  pass(1600);
  const auto got = test::parseAnswers(peer.read());
  CHECK(got.answers.at(0).status == 408);
  CHECK(got.answers.at(0).body == "too late");
  peer.write(get("/wait"));  // the connection lives, and its next exchange has a deadline of its own
  server.settle();
  log.clear();
  pass(2900);
  CHECK(log.empty());
  pass(600);
  CHECK(log == "deadline ");
}

TEST_CASE_METHOD(SharedFixture, "A deadline is moved and taken away") {
  deadline_ms = 1000;
  test::SimPeer peer = ask(get("/wait"));
  pass(700);
  exchange().setDeadline(1000);
  pass(700);
  CHECK(log.empty());
  exchange().clearDeadline();
  pass(60000);
  CHECK(log.empty());
}

TEST_CASE_METHOD(SharedFixture, "A deadline outlives what is sent without waiting") {
  deadline_ms = 2000;
  test::SimPeer peer = ask(get("/stream"));
  pass(1000);
  CHECK(exchange().sendFramed(framed("event")) == SendResult::kAccepted);
  CHECK(exchange().send("5\r\n", false) == SendResult::kAccepted);
  pass(900);
  CHECK(log.empty());
  pass(600);
  CHECK(log == "deadline ");
}

TEST_CASE_METHOD(SharedFixture, "While bytes wait, the deadline for sending counts, and not the exchange's") {
  server.net.sys.setCapacity(1000);
  deadline_ms = 1000;
  test::SimPeer peer = ask(get("/stream"));
  peer.read();
  waiter->rearm_ms = 2000;
  CHECK(exchange().sendFramed(framed(std::string(3000, 'x'))) == SendResult::kBlocked);
  pass(4000);
  CHECK(log.empty());              // its own has gone by
  exchange().setDeadline(100000);  // and does not move the other's
  SECTION("a peer that takes it is let be, and the deadline can be set again") {
    for (int i = 0; i < 20; ++i) {
      peer.read();
      server.settle();
    }
    CHECK(log == "writable ");
    pass(1900);
    CHECK(log == "writable ");
    pass(600);
    CHECK(log == "writable deadline ");
  }
  SECTION("one that does not is cut off") {
    pass(2000);
    CHECK(log.substr(0, 6) == "abort:");
  }
}

TEST_CASE_METHOD(SharedFixture, "A prepared answer may have further lines, parked or not") {
  server.net.sys.resetCounts();
  test::SimPeer peer = ask(get("/wait"));
  ResponseHead head(200);
  head.add("X-Shared", "yes");
  PreparedResponse prepared(head, "message", "roost");
  exchange().reply(prepared, "Push-Gap: 5\r\nVary: Origin\r\n");
  server.settle();
  const auto got = test::parseAnswers(peer.read());
  CHECK(got.answers.at(0).has("\r\nX-Shared: yes\r\n"));
  CHECK(got.answers.at(0).has("\r\nPush-Gap: 5\r\nVary: Origin\r\n\r\n"));
  CHECK(got.answers.at(0).body == "message");
  peer.write("HEAD /wait HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  server.settle();
  exchange().reply(prepared, "Push-Gap: 5\r\n");
  server.settle();
  const std::string closed = peer.read();
  CHECK(closed.find("Push-Gap: 5\r\nConnection: close\r\n\r\n") != std::string::npos);
  CHECK(closed.find("message") == std::string::npos);
}

}  // namespace
}  // namespace roost::http
