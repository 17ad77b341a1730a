#include "http/client/client.h"

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "http/client/counters.h"
#include "metrics/registry.h"
#include "net/resolver.h"
#include "support/sim_loop.h"
#include "support/sim_server.h"
#include "support/temp_file.h"

namespace roost::http::client {
namespace {

using test::SimLoop;
using test::SimServer;

// Writes down what it hears, and does what the test tells it to.
struct Heard final : ResponseListener {
  std::string log;  // "100 >303 200 12+5 end", failures by name
  std::string body;
  ClientFailure failure;
  std::string location;
  int ends = 0;
  std::function<void(Call&)> on_interim, on_head, on_body, on_writable;
  std::function<void()> on_end;

  void onInterim(Call& call, const ReceivedHead& head) noexcept override {
    log += std::to_string(head.status) + " ";
    if (on_interim) on_interim(call);
  }
  void onRedirect(Call&, const ReceivedHead& head, const Url& to) noexcept override {
    log += ">" + std::to_string(head.status) + " ";
    location = to.origin.key() + to.target;
  }
  void onHead(Call& call, const ReceivedHead& head, const h1::ResponseFraming&) noexcept override {
    log += std::to_string(head.status) + " ";
    if (on_head) on_head(call);
  }
  void onBody(Call& call, std::string_view piece) noexcept override {
    body += piece;
    if (on_body) on_body(call);
  }
  void onWritable(Call& call) noexcept override {
    log += "writable ";
    if (on_writable) on_writable(call);
  }
  void onEnd() noexcept override {
    log += "end";
    ++ends;
    if (on_end) on_end();
  }
  void onFailure(const ClientFailure& why) noexcept override {
    failure = why;
    log += clientErrorName(why.error);
    ++ends;
    if (on_end) on_end();
  }
};

Origin at(std::string host, uint16_t port = 80) {
  Origin origin;
  origin.host = std::move(host);
  origin.port = port;
  return origin;
}

struct Fixture {
  explicit Fixture(const ClientOptions& options = {}, const std::string& hosts = "")
      : server(net.sys, "127.0.0.1", 80) {
    net::Resolver::Options names;
    names.hosts_path = hosts;
    resolver = std::move(net::Resolver::create(net.loop(), names)).value();
    counters = std::make_unique<ClientCounters>(registry);
    client = std::make_unique<Client>(net.io(), *resolver, options, counters.get());
  }
  ~Fixture() {
    client.reset();
    resolver.reset();
    net.shutDown();
  }
  Call& start(Heard& heard, const Request& what = {}, const Origin& origin = at("127.0.0.1")) {
    return client->start(origin, what, heard);
  }
  // The next connection, whose request is read away. -1: there is none.
  int served(std::string_view answer) {
    const int fd = server.accept();
    if (fd < 0) return fd;
    request = server.read(fd);
    answered(fd, answer);
    return fd;
  }
  void answered(int fd, std::string_view answer) {
    server.write(fd, answer);
    REQUIRE(net.settle());
  }
  bool settle() { return net.settle(); }

  SimLoop net;
  SimServer server;
  metrics::Registry registry;
  std::unique_ptr<ClientCounters> counters;
  std::unique_ptr<net::Resolver> resolver;
  std::unique_ptr<Client> client;
  std::string request;
};

constexpr std::string_view kHello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
constexpr std::string_view kEmpty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

TEST_CASE("client: one connection serves one request after the other", "[client]") {
  Fixture f;
  Heard first;
  Request request;
  request.target = "/a?b";
  request.fields = "Accept: */*\r\n";
  f.start(first, request);
  CHECK(first.log.empty());
  REQUIRE(f.settle());
  const int fd = f.served(kHello);
  CHECK(f.request == "GET /a?b HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n\r\n");
  CHECK(first.log == "200 end");
  CHECK(first.body == "hello");
  CHECK(f.client->stats().idle == 1);
  CHECK(f.client->calls() == 0);

  Heard second;
  CHECK(f.start(second).onKeptConnection());
  REQUIRE(f.settle());
  CHECK(f.server.accept() == -1);
  CHECK(f.server.read(fd) == "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  f.answered(fd, kHello);
  CHECK(second.log == "200 end");
  CHECK(f.counters->reused.value() == 1);
  CHECK(f.counters->opened.value() == 1);
}

TEST_CASE("client: answers in any pieces are the same", "[client]") {
  const std::string_view answers[] = {
      "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 103 x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: "
      "chunked\r\n\r\n2\r\nhe\r\n3;x\r\nllo\r\n0\r\nT: "
      "1\r\n\r\n",
      "HTTP/1.1 103 x\r\n\r\nHTTP/1.0 200 OK\r\n\r\nhello",
  };
  for (const std::string_view answer : answers) {
    for (const size_t most : {1, 2, 3, 7, 64, 1000}) {
      Fixture f;
      Heard heard;
      f.start(heard);
      REQUIRE(f.settle());
      f.net.sys.setMaxRecv(most);
      const int fd = f.served(answer);
      f.server.close(fd);
      REQUIRE(f.settle());
      CHECK(heard.log == "103 200 end");
      CHECK(heard.body == "hello");
      CHECK(f.client->stats().connections == 0);
    }
  }
}

TEST_CASE("client: what an answer does to its connection", "[client]") {
  struct Case {
    const char* method;
    std::string answer;
    const char* log;
    bool stays;
  };
  const Case cases[] = {
      {"GET", "HTTP/1.1 204 No Content\r\n\r\n", "204 end", true},
      {"GET", "HTTP/1.1 204 x\r\nContent-Length: 0\r\n\r\n", "204 end", true},
      {"GET", "HTTP/1.1 204 x\r\nContent-Length: 5\r\n\r\n", "204 end", false},
      {"GET", "HTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n", "204 end", false},
      {"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", "200 end", true},
      {"GET", "HTTP/1.1 304 x\r\nContent-Length: 500\r\n\r\n", "304 end", true},
      {"GET", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "200 end", false},
      {"GET", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "200 end", false},
      {"GET", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", "200 end", true},
      {"GET", std::string(kEmpty) + "HTTP/1.1 200 OK\r\n", "200 end", false},  // bytes nobody asked for
      {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "200 end", true},
      {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "malformed", false},
      {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "200 malformed", false},
      {"GET", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", "malformed", false},
      {"GET", "hello\r\n", "malformed", false},
      {"GET", "HTTP/1.1 200 OK\r\nA: " + std::string(40000, 'a') + "\r\n\r\n", "too_large", false},
  };
  for (const Case& one : cases) {
    INFO(one.answer.substr(0, 100));
    Fixture f;
    Heard heard;
    Request request;
    request.method = one.method;
    f.start(heard, request);
    REQUIRE(f.settle());
    REQUIRE(f.served(one.answer) >= 0);
    CHECK(heard.log == one.log);
    CHECK(f.client->stats().idle == (one.stays ? 1 : 0));
    CHECK(f.client->stats().connections == (one.stays ? 1 : 0));
    CHECK(heard.ends == 1);
  }
}

TEST_CASE("client: what lies behind an answer is no answer to the next call", "[client]") {
  const std::string answer = GENERATE("HTTP/1.1 200 OK\r\nContent-Length: 42\r\n\r\n",
                                      "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304 x\r\n\r\n");
  const bool ends = GENERATE(false, true);  // the connection, instead of saying more
  ClientOptions options;
  options.max_per_origin = 1;
  Fixture f(options);
  Heard first;
  Heard second;
  Request request;
  request.method = "HEAD";
  f.start(first, request);
  request.method = "POST";
  f.start(second, request);
  REQUIRE(f.settle());
  f.net.sys.setMaxRecv(answer.size());  // so that one read does not see it
  const int fd = f.server.accept();
  CHECK(f.server.read(fd).substr(0, 5) == "HEAD ");
  f.server.write(fd, answer + (ends ? "" : "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"));
  if (ends) f.server.close(fd);
  REQUIRE(f.settle());
  f.net.sys.setMaxRecv(0);
  CHECK(first.log.substr(4) == "end");
  CHECK(second.log.empty());
  REQUIRE(f.served(kHello) >= 0);
  CHECK(f.request.substr(0, 5) == "POST ");
  CHECK(second.log == "200 end");
  CHECK(second.body == "hello");
  CHECK(f.counters->reused.value() == 0);
}

TEST_CASE("client: too many interim responses are an end", "[client]") {
  Fixture f;
  Heard heard;
  f.start(heard);
  REQUIRE(f.settle());
  std::string flood;
  for (int i = 0; i < 100; ++i) flood += "HTTP/1.1 102 x\r\n\r\n";
  f.served(flood);
  CHECK(heard.failure.error == ClientError::kMalformed);
  CHECK(heard.failure.toString() == "malformed: too many interim responses");
}

TEST_CASE("client: content goes out as the request says", "[client]") {
  Fixture f;
  Heard heard;
  Request request;
  request.method = "POST";
  SECTION("a buffer") {
    request.body = BufferRef::copyOf("content");
    f.start(heard, request);
    REQUIRE(f.settle());
    f.served(kEmpty);
    CHECK(f.request == "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 7\r\n\r\ncontent");
    CHECK(f.client->stats().idle == 1);
  }
  SECTION("none") {
    f.start(heard, request);
    REQUIRE(f.settle());
    f.served(kEmpty);
    CHECK(f.request == "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n");
  }
  SECTION("chunks, some before there is a connection") {
    request.streams_body = true;
    Call& call = f.start(heard, request);
    CHECK(call.send("one", false) == SendResult::kBlocked);
    REQUIRE(f.settle());
    CHECK(heard.log == "writable ");
    CHECK(call.send(BufferRef::copyOf("xtwox"), 1, 3, false) == SendResult::kAccepted);
    CHECK(call.send("", true) == SendResult::kAccepted);
    CHECK(call.send("more", true) == SendResult::kClosed);
    REQUIRE(f.settle());
    f.served(kEmpty);
    CHECK(f.request ==
          "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: "
          "chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n");
    CHECK(heard.log == "writable 200 end");
    CHECK(f.client->stats().idle == 1);
  }
  SECTION("a length, and no more than that") {
    request.streams_body = true;
    request.content_length = 6;
    Call& call = f.start(heard, request);
    REQUIRE(f.settle());
    CHECK(call.send(BufferRef::copyOf("one"), 0, 3, false) == SendResult::kAccepted);
    CHECK(call.send("two and more", true) == SendResult::kAccepted);
    f.served(kEmpty);
    CHECK(f.request == "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 6\r\n\r\nonetwo");
    CHECK(heard.log == "200 end");
  }
  SECTION("a length that is not kept") {
    request.streams_body = true;
    request.content_length = 6;
    Call& call = f.start(heard, request);
    REQUIRE(f.settle());
    CHECK(call.send("one", true) == SendResult::kClosed);
    CHECK(heard.log.empty());
    REQUIRE(f.settle());
    CHECK(heard.log == "bad_request");
    CHECK(f.client->stats().connections == 0);
  }
}

TEST_CASE("client: who streams is told to wait and to go on", "[client]") {
  Fixture f;
  f.net.sys.setCapacity(64 * 1024);
  Heard heard;
  Request request;
  request.method = "PUT";
  request.streams_body = true;
  request.content_length = 4 << 20;
  Call& call = f.start(heard, request);
  REQUIRE(f.settle());
  const std::string piece(100'000, 'p');
  size_t sent = 0;
  const auto pump = [&](Call& sending) {
    while (sent < (4U << 20)) {
      const std::string_view next =
          std::string_view(piece).substr(0, std::min(piece.size(), (4U << 20) - sent));
      sent += next.size();
      if (sending.send(next, sent == (4U << 20)) == SendResult::kBlocked) return;
    }
  };
  heard.on_writable = pump;
  pump(call);
  CHECK(sent < 1'000'000);
  const int fd = f.server.accept();
  std::string got;
  while (got.size() < (4U << 20)) {
    got += f.server.read(fd);
    REQUIRE(f.settle());
  }
  f.answered(fd, kEmpty);
  CHECK(heard.log.substr(heard.log.size() - 7) == "200 end");
  CHECK(heard.log.substr(0, 9) == "writable ");
}

TEST_CASE("client: an answer is taken though the server resets while content is sent", "[client]") {
  const bool sends_on = GENERATE(false, true);  // before the poller tells of it
  const bool has_all = GENERATE(true, false);
  Fixture f;
  f.net.sys.setCapacity(64 * 1024);
  Heard heard;
  Request request;
  request.method = "PUT";
  request.streams_body = true;
  request.content_length = 4 << 20;
  Call& call = f.start(heard, request);
  REQUIRE(f.settle());
  const std::string piece(400'000, 'p');
  CHECK(call.send(piece, false) == SendResult::kBlocked);
  REQUIRE(f.settle());
  const int fd = f.server.accept();
  const std::string body(5000, 'n');
  f.net.sys.setMaxRecv(1000);
  f.server.write(
      fd, "HTTP/1.1 413 x\r\nContent-Length: " + std::to_string(has_all ? 5000 : 5001) + "\r\n\r\n" + body);
  f.server.close(fd);  // with content unread
  if (sends_on) call.send(piece, false);
  REQUIRE(f.settle());
  CHECK(heard.log == (has_all ? "413 end" : "413 closed_early"));
  CHECK(heard.body == body);
  CHECK(heard.ends == 1);
  CHECK(f.client->stats().connections == 0);
}

TEST_CASE("client: an answer is not read while its listener pauses", "[client]") {
  Fixture f;
  f.net.sys.setCapacity(128 * 1024);
  Heard heard;
  heard.on_body = [](Call& call) { call.pause(); };
  const CallName name = f.start(heard).name();
  REQUIRE(f.settle());
  const std::string content(1'000'000, 'c');
  const int fd = f.served("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
  size_t written = 0;
  size_t pauses = 0;
  while (heard.ends == 0 && pauses < 1000) {
    const size_t before = heard.body.size();
    const ssize_t n = f.net.sys.sendTo(fd, content.data() + written, content.size() - written, false);
    if (n > 0) written += static_cast<size_t>(n);
    REQUIRE(f.settle());
    REQUIRE(written - heard.body.size() < 400'000);
    REQUIRE(f.net.pass(120'000, 5000));  // no timeout runs while the listener is the one who waits
    if (before == heard.body.size()) REQUIRE(heard.failure.error == ClientError::kNone);
    if (Call* const call = f.client->find(name)) call->resume();
    REQUIRE(f.settle());
    ++pauses;
  }
  CHECK(heard.log == "200 end");
  CHECK(heard.body == content);
  CHECK(pauses > 3);
}

TEST_CASE("client: a request whose kept connection had ended is repeated, if it may be", "[client]") {
  Fixture f;
  Heard first;
  f.start(first);
  REQUIRE(f.settle());
  const int fd = f.served(kHello);
  Request request;
  request.method = GENERATE("GET", "PUT", "POST");
  Heard heard;
  f.start(heard, request);
  REQUIRE(f.settle());
  const bool resets = GENERATE(true, false);
  resets ? f.server.reset(fd) : (f.server.read(fd), f.server.close(fd));
  REQUIRE(f.settle());
  if (std::string(request.method) == "POST") {
    CHECK(heard.log == (resets ? "send" : "closed_early"));
    CHECK(f.server.accept() == -1);
    return;
  }
  CHECK(heard.log.empty());
  REQUIRE(f.served(kHello) >= 0);
  CHECK(heard.log == "200 end");
  CHECK(f.counters->retries.value() == 1);
}

TEST_CASE("client: a fresh connection that ends is no reason to repeat", "[client]") {
  Fixture f;
  Heard heard;
  f.start(heard);
  REQUIRE(f.settle());
  const int fd = f.server.accept();
  const std::string_view begun = GENERATE("", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel",
                                          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel");
  f.server.read(fd);
  f.answered(fd, begun);
  f.server.close(fd);
  REQUIRE(f.settle());
  CHECK(heard.failure.error == ClientError::kClosedEarly);
  CHECK(heard.ends == 1);
  CHECK(f.server.accept() == -1);
}

TEST_CASE("client: calls beyond the limits wait their turn, or are refused", "[client]") {
  ClientOptions options;
  options.max_per_origin = 1;
  options.max_waiting = 2;
  Fixture f(options);
  Heard heard[4];
  for (Heard& one : heard) f.start(one);
  REQUIRE(f.settle());
  CHECK(heard[3].log == "overload");  // the first has no connection yet, and so two wait at most
  CHECK(heard[2].log == "overload");
  CHECK(f.client->stats().connections == 1);
  CHECK(f.client->stats().waiting == 1);
  CHECK(f.counters->connections.value() == 1);
  CHECK(f.counters->waiting.value() == 1);
  const int fd = f.served(kHello);
  CHECK(heard[0].log == "200 end");
  CHECK(heard[1].log.empty());
  CHECK(f.server.read(fd) == "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  f.answered(fd, kHello);
  CHECK(heard[1].log == "200 end");
  CHECK(f.counters->waiting.value() == 0);
  CHECK(f.counters->idle.value() == 1);
  f.server.close(fd);
  REQUIRE(f.settle());
  CHECK(f.counters->idle.value() == 0);
  CHECK(f.counters->connections.value() == 0);
}

TEST_CASE("client: over all origins too, and idle connections give way", "[client]") {
  ClientOptions options;
  options.max_total = 1;
  Fixture f(options);
  SimServer other(f.net.sys, "127.0.0.1", 81);
  Heard first;
  f.start(first);
  REQUIRE(f.settle());
  const int fd = f.server.accept();
  Heard second;
  f.start(second, {}, at("127.0.0.1", 81));
  REQUIRE(f.settle());
  CHECK(other.accept() == -1);  // the only connection is busy
  SECTION("as soon as the other is done") {
    f.server.read(fd);
    f.answered(fd, kHello);
    CHECK(first.log == "200 end");
    CHECK(f.server.read(fd) == "!");
    const int other_fd = other.accept();
    REQUIRE(other_fd >= 0);
    f.answered(other_fd, kHello);
    CHECK(second.log == "200 end");
    // And the next one for the first origin finds an idle one to replace.
    Heard third;
    f.start(third);
    REQUIRE(f.settle());
    f.served(kHello);
    CHECK(third.log == "200 end");
    CHECK(f.client->stats().connections == 1);
  }
  SECTION("or gives up in time") {
    REQUIRE(f.net.pass(11'000));
    CHECK(second.log == "connect_timeout");
  }
}

TEST_CASE("client: every wait has an end", "[client]") {
  Fixture f;
  Heard heard;
  Request request;
  request.timeouts = {1000, 3000, 2000, 0};
  SECTION("for a connection") {
    f.net.sys.holdConnects(true);
    f.start(heard, request);
    REQUIRE(f.net.pass(900));
    CHECK(heard.log.empty());
    REQUIRE(f.net.pass(200));
    CHECK(heard.log == "connect_timeout");
    f.net.sys.holdConnects(false);
    REQUIRE(f.settle());
    CHECK(f.client->stats().idle == 1);  // it is of use to the next
  }
  SECTION("for the first byte") {
    f.start(heard, request);
    REQUIRE(f.net.pass(2900));
    CHECK(heard.log.empty());
    REQUIRE(f.net.pass(800));
    CHECK(heard.log == "first_byte_timeout");
  }
  SECTION("between bytes") {
    f.start(heard, request);
    REQUIRE(f.settle());
    const int fd = f.served("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n");
    REQUIRE(f.net.pass(1800));
    f.answered(fd, "a");
    REQUIRE(f.net.pass(1800));
    f.answered(fd, "b");
    CHECK(heard.log == "200 ");
    REQUIRE(f.net.pass(2600));
    CHECK(heard.log == "200 idle_timeout");
  }
  SECTION("for all of it") {
    request.timeouts.total_ms = 2500;
    f.start(heard, request);
    REQUIRE(f.settle());
    const int fd = f.served("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
    for (int i = 0; i < 4; ++i) {
      REQUIRE(f.net.pass(600));
      f.answered(fd, "a");
    }
    CHECK(heard.log == "200 ");
    REQUIRE(f.net.pass(200));
    CHECK(heard.log == "200 total_timeout");
  }
  SECTION("for a server that takes nothing") {
    f.net.sys.setCapacity(1000);
    request.method = "PUT";
    request.body = BufferRef::allocate(100'000);
    f.start(heard, request);
    REQUIRE(f.net.pass(2900));
    CHECK(heard.log == "idle_timeout");
  }
  CHECK(f.client->calls() == 0);
}

TEST_CASE("client: kept connections go when their time has come", "[client]") {
  Fixture f;
  Heard heard;
  f.start(heard);
  REQUIRE(f.settle());
  SECTION("ours") {
    f.served(kHello);
    REQUIRE(f.net.pass(59'000, 1000));
    CHECK(f.client->stats().idle == 1);
    REQUIRE(f.net.pass(3000, 1000));
    CHECK(f.client->stats().connections == 0);
  }
  SECTION("the server's") {
    f.served("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nContent-Length: 0\r\n\r\n");
    REQUIRE(f.net.pass(4000));
    CHECK(f.client->stats().idle == 1);
    REQUIRE(f.net.pass(1200));
    CHECK(f.client->stats().connections == 0);
  }
  SECTION("when the server ends it, or speaks unasked") {
    const int fd = f.served(kHello);
    GENERATE(0, 1) == 0 ? f.server.close(fd) : f.server.write(fd, "HTTP/1.1 408 x\r\n\r\n");
    REQUIRE(f.settle());
    CHECK(f.client->stats().connections == 0);
  }
}

TEST_CASE("client: addresses are tried one after the other", "[client]") {
  const UniqueFd hosts(test::tempFile("127.0.0.9 many\n127.0.0.8 many\n127.0.0.1 many # home\n"));
  Fixture f({}, "/proc/self/fd/" + std::to_string(hosts.get()));
  Heard heard;
  f.start(heard, {}, at("many"));
  REQUIRE(f.settle());
  REQUIRE(f.served(kHello) >= 0);
  CHECK(f.request == "GET / HTTP/1.1\r\nHost: many\r\n\r\n");
  CHECK(heard.log == "200 end");
  Heard refused;
  f.start(refused, {}, at("many", 99));
  REQUIRE(f.settle());
  CHECK(refused.log == "connect");
  CHECK(refused.failure.toString() == "connect: Connection refused");
  Heard silent;
  f.net.sys.holdConnects(true);
  f.start(silent, {}, at("many", 98));
  REQUIRE(f.net.pass(12'000));
  CHECK(silent.log == "connect_timeout");
}

TEST_CASE("client: what cannot be sent is refused", "[client]") {
  Fixture f;
  const auto refused = [&](const std::function<void(Request&, Origin&)>& spoil) {
    Request request;
    Origin origin = at("127.0.0.1");
    spoil(request, origin);
    Heard heard;
    f.start(heard, request, origin);
    CHECK(heard.log.empty());
    REQUIRE(f.settle());
    return heard.failure.toString();
  };
  CHECK(refused([](Request& r, Origin&) { r.method = "G T"; }) == "bad_request: malformed method");
  CHECK(refused([](Request& r, Origin&) { r.method = "CONNECT"; }) ==
        "bad_request: CONNECT is not supported");
  CHECK(refused([](Request& r, Origin&) { r.target = "/a b"; }) == "bad_request: malformed target");
  CHECK(refused([](Request& r, Origin&) { r.target = "/a\r\nX: y"; }) == "bad_request: malformed target");
  CHECK(refused([](Request& r, Origin&) { r.fields = "A: b\r\n\r\n"; }) ==
        "bad_request: malformed field name");
  CHECK(refused([](Request& r, Origin&) { r.fields = "A: b"; }) ==
        "bad_request: a field line without its end");
  CHECK(refused([](Request& r, Origin&) { r.fields = "A: b\nc\r\n"; }) ==
        "bad_request: malformed field value");
  CHECK(refused([](Request& r, Origin&) { r.fields = "host: b\r\n"; }) ==
        "bad_request: a field that is the client's business");
  CHECK(refused([](Request& r, Origin&) { r.host_field = "a\r\nb"; }) == "bad_request: malformed Host");
  CHECK(refused([](Request&, Origin& o) { o.host.clear(); }) == "bad_request: no host or no port");
  CHECK(refused([](Request&, Origin& o) { o.host = "no host"; }) == "resolve: not a host name");
  CHECK(f.server.accept() == -1);
}

TEST_CASE("client: redirects are followed as RFC 9110 section 15.4 says", "[client]") {
  struct Case {
    int status;
    const char* method;
    const char* then;
    bool body_again;
  };
  const Case cases[] = {{301, "GET", "GET", false},  {301, "POST", "GET", false},
                        {302, "POST", "GET", false}, {302, "PUT", "PUT", true},
                        {303, "PUT", "GET", false},  {303, "HEAD", "HEAD", false},
                        {307, "POST", "POST", true}, {308, "PUT", "PUT", true}};
  for (const Case& one : cases) {
    INFO(one.status << " " << one.method);
    Fixture f;
    Heard heard;
    Request request;
    request.method = one.method;
    request.target = "/a/b?c";
    request.fields = "Content-Type: x/y\r\nAuthorization: secret\r\n";
    request.max_redirects = 3;
    if (one.body_again || one.method == std::string("POST")) request.body = BufferRef::copyOf("body");
    f.start(heard, request);
    REQUIRE(f.settle());
    const int fd = f.served("HTTP/1.1 " + std::to_string(one.status) +
                            " x\r\nLocation: ../d\r\nContent-Length: 0\r\n\r\n");
    const std::string next = f.server.read(fd);
    CHECK(next.substr(0, next.find("\r\n")) == std::string(one.then) + " /d HTTP/1.1");
    CHECK((next.find("Content-Type") != std::string::npos) == (one.then == std::string(one.method)));
    CHECK((next.find("\r\n\r\nbody") != std::string::npos) == one.body_again);
    CHECK(next.find("Authorization: secret") != std::string::npos);
    f.answered(fd, one.then == std::string("HEAD") ? "HTTP/1.1 200 OK\r\n\r\n" : kHello);
    CHECK(heard.log == ">" + std::to_string(one.status) + " 200 end");
    CHECK(heard.location == "127.0.0.1:80/d");
  }
}

TEST_CASE("client: secrets are not told to another origin", "[client]") {
  Fixture f;
  SimServer other(f.net.sys, "127.0.0.1", 81);
  Heard heard;
  Request request;
  request.fields = "Cookie: a=b\r\nAuthorization: secret\r\nAccept: x\r\n";
  request.host_field = "inner";
  request.max_redirects = 1;
  f.start(heard, request);
  REQUIRE(f.settle());
  f.served("HTTP/1.1 302 x\r\nLocation: http://127.0.0.1:81/there\r\nContent-Length: 3\r\n\r\nabc");
  CHECK(f.request.find("Host: inner\r\n") != std::string::npos);
  const int fd = other.accept();
  REQUIRE(fd >= 0);
  CHECK(other.read(fd) == "GET /there HTTP/1.1\r\nHost: 127.0.0.1:81\r\nAccept: x\r\n\r\n");
  CHECK(f.client->stats().idle == 1);  // the first has been read to its end
  f.answered(fd, "HTTP/1.1 302 x\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n");
  CHECK(heard.log == ">302 redirect");
  CHECK(heard.failure.toString() == "redirect: too many redirects");
}

TEST_CASE("client: redirects to where it cannot go are told", "[client]") {
  const char* const location =
      GENERATE("https://a/", "http://", "unix:/run/x.sock", "ftp://a/", "http://u@a/");
  Fixture f;
  Heard heard;
  Request request;
  request.max_redirects = 5;
  f.start(heard, request);
  REQUIRE(f.settle());
  f.served(std::string("HTTP/1.1 302 x\r\nLocation: ") + location + "\r\nContent-Length: 0\r\n\r\n");
  CHECK(heard.log == "redirect");
}

TEST_CASE("client: content is held back until the server wants it", "[client]") {
  Fixture f;
  Heard heard;
  Request request;
  request.method = "POST";
  request.expects_continue = true;
  request.streams_body = GENERATE(false, true);
  if (!request.streams_body) request.body = BufferRef::copyOf("content");
  request.content_length = 7;
  heard.on_writable = [](Call& call) { call.send("content", true); };
  f.start(heard, request);
  REQUIRE(f.settle());
  const int fd = f.server.accept();
  const std::string head = f.server.read(fd);
  CHECK(head == "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 7\r\nExpect: 100-continue\r\n\r\n");
  SECTION("and sent when it does") {
    f.answered(fd, "HTTP/1.1 100 Continue\r\n\r\n");
    CHECK(f.server.read(fd) == "content");
    f.answered(fd, kEmpty);
    CHECK(heard.log == (request.streams_body ? "100 writable 200 end" : "100 200 end"));
    CHECK(f.client->stats().idle == 1);
  }
  SECTION("and never sent when it does not; then the connection cannot go on") {
    f.answered(fd, "HTTP/1.1 417 x\r\nContent-Length: 0\r\n\r\n");
    CHECK(f.server.read(fd) == "!");
    CHECK(heard.log == "417 end");
    CHECK(f.client->stats().connections == 0);
  }
  SECTION("nor later, while the refusal is still coming") {
    heard.on_head = [](Call& call) { CHECK(call.send("content", true) == SendResult::kClosed); };
    f.answered(fd, "HTTP/1.1 417 x\r\nContent-Length: 5\r\n\r\nno");
    REQUIRE(f.net.pass(3000));
    CHECK(f.server.read(fd).empty());
    f.answered(fd, "...");
    CHECK(f.server.read(fd) == "!");
    CHECK(heard.log == "417 end");
    CHECK(heard.body == "no...");
    CHECK(f.client->stats().connections == 0);
  }
  SECTION("and sent when it says nothing for a while") {
    REQUIRE(f.net.pass(1600));
    CHECK(f.server.read(fd) == "content");
    f.answered(fd, kEmpty);
    CHECK(heard.ends == 1);
    CHECK(f.client->stats().idle == 1);
  }
}

// Sends back what it gets.
struct Echo final : ByteStreamListener {
  explicit Echo(std::string& written_down) : log(written_down) {}
  std::string& log;
  ByteStream* stream = nullptr;
  size_t onBytes(char* bytes, size_t size) noexcept override {
    stream->write({bytes, size});
    return size;
  }
  void onEnd() noexcept override { stream->close(); }
  void onClose(AbortReason) noexcept override { log += "closed"; }
};

TEST_CASE("client: a connection becomes a stream of bytes", "[client]") {
  Fixture f;
  Heard heard;
  std::string log;
  Request request;
  request.upgrade = "echo";
  heard.on_head = [&](Call& call) {
    auto echo = std::make_unique<Echo>(log);
    Echo& listener = *echo;
    listener.stream = &call.upgrade(std::move(echo), 1000);
    listener.stream->write("first ");
  };
  SECTION("with the bytes behind the head") {
    f.start(heard, request);
    REQUIRE(f.settle());
    const int fd = f.served("HTTP/1.1 101 x\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\nhello");
    CHECK(f.request.find("Connection: Upgrade\r\nUpgrade: echo\r\n") != std::string::npos);
    CHECK(f.server.read(fd) == "first hello");
    CHECK(heard.log == "101 ");
    CHECK(f.client->calls() == 0);
    CHECK(f.client->stats().connections == 0);
    f.server.close(fd);
    REQUIRE(f.settle());
    CHECK(log == "closed");
  }
  SECTION("if the listener takes it") {
    heard.on_head = nullptr;
    f.start(heard, request);
    REQUIRE(f.settle());
    f.served("HTTP/1.1 101 x\r\n\r\n");
    CHECK(heard.log == "101 malformed");
  }
}

TEST_CASE("client: calls may be cancelled at any time", "[client]") {
  Fixture f;
  Heard heard;
  Request request;
  const auto cancel = [](Call& call) { call.cancel(); };
  const std::string_view answer =
      "HTTP/1.1 103 x\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: "
      "chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";
  SECTION("before there is a connection") {
    f.start(heard).cancel();
    REQUIRE(f.settle());
    CHECK(f.client->stats().idle == 1);
  }
  SECTION("while the answer is awaited") {
    Call& call = f.start(heard);
    REQUIRE(f.settle());
    const CallName name = call.name();
    CHECK(f.client->find(name) == &call);
    call.cancel();
    CHECK(f.client->find(name) == nullptr);
  }
  SECTION("from an interim response") {
    heard.on_interim = cancel;
  }
  SECTION("from the head") {
    heard.on_head = cancel;
  }
  SECTION("from a piece of content") {
    heard.on_body = cancel;
  }
  if (heard.on_interim || heard.on_head || heard.on_body) {
    f.start(heard);
    REQUIRE(f.settle());
    f.served(answer);
    CHECK(f.client->stats().connections == 0);
  }
  CHECK(heard.ends == 0);
  CHECK(f.client->calls() == 0);
}

TEST_CASE("client: the end of one call may begin others", "[client]") {
  ClientOptions options;
  options.max_per_origin = 2;
  Fixture f(options);
  Heard heard[5];
  size_t next = 1;
  for (Heard& one : heard) {
    one.on_end = [&] {
      if (next < 5) f.start(heard[next++]);
    };
  }
  f.start(heard[0]);
  REQUIRE(f.settle());
  const int fd = f.server.accept();
  for (int i = 0; i < 5; ++i) {
    CHECK(f.server.read(fd).substr(0, 5) == "GET /");
    f.answered(fd, kHello);
  }
  CHECK(next == 5);
  CHECK(heard[4].log == "200 end");
  CHECK(f.counters->opened.value() == 1);
}

TEST_CASE("client: whoever waits when it ends is told", "[client]") {
  ClientOptions options;
  options.max_per_origin = 1;
  auto f = std::make_unique<Fixture>(options);
  Heard busy;
  Heard waiting;
  Heard half;
  f->start(half);
  REQUIRE(f->settle());
  f->served("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
  f->start(busy);
  f->start(waiting);
  f.reset();
  CHECK(half.log == "200 shutdown");
  CHECK(busy.log == "shutdown");
  CHECK(waiting.log == "shutdown");
}

TEST_CASE("client: a call that is started while it ends is told, too", "[client]") {
  auto f = std::make_unique<Fixture>();
  Client& client = *f->client;
  Heard heard[4];
  for (int i = 0; i < 3; ++i) {
    heard[i].on_end = [&client, &next = heard[i + 1]] { client.start(at("127.0.0.1"), {}, next); };
  }
  f->start(heard[0]);
  Heard always;  // does not give up
  always.on_end = [&] { client.start(at("127.0.0.1"), {}, always); };
  f->start(always);
  f.reset();
  for (const Heard& one : heard) CHECK(one.log == "shutdown");
  CHECK(always.ends >= 4);
}

TEST_CASE("client: every system call may fail, and every call still ends once", "[client]") {
  for (uint64_t nth = 1; nth < 200; ++nth) {
    INFO(nth);
    Fixture f;
    const size_t open_before = f.net.sys.openFds();
    f.net.sys.failAnyNth(nth);
    Heard heard[3];
    Request request;
    request.timeouts = {1000, 1000, 1000, 5000};
    for (int i = 0; i < 3; ++i) {
      f.start(heard[i], request);
      f.net.settle();
      for (int fd = f.server.accept(); fd >= 0; fd = f.server.accept()) {
        f.server.read(fd);
        f.server.write(fd, kHello);
        f.net.settle();
        f.server.write(fd, kHello);  // for whoever uses it again
        f.net.settle();
        f.server.close(fd);
      }
      REQUIRE(f.net.pass(6000, 500));
    }
    for (const Heard& one : heard) CHECK(one.ends == 1);
    const bool failed = f.net.sys.anyFailed();
    f.client.reset();
    f.net.settle();
    CHECK(f.net.sys.openFds() == open_before);
    if (!failed) return;
  }
  FAIL("calls did not run out");
}

}  // namespace
}  // namespace roost::http::client
