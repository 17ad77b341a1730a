// Subscribers of every way on a simulated kernel, with a hub whose channels live on another shard than they.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "metrics/registry.h"
#include "modules/push/subscribe.h"
#include "support/h1_server.h"

using namespace roost;
using modules::push::SubscribeOptions;

namespace {

class LoopHost final : public push::Host {
 public:
  explicit LoopHost(test::SimLoop& net) : net_(net) {}
  void post(uint32_t, std::unique_ptr<event::Task> task) noexcept override {
    net_.loop().post(std::move(task));
  }
  int64_t nowNs() const noexcept override { return net_.loop().nowNs(); }
  int64_t unixSeconds() const noexcept override { return 1'700'000'000; }

 private:
  test::SimLoop& net_;
};

struct Answer final : push::PublishCall {
  void onPublished(const push::PublishResult&) noexcept override {}
};
struct Info final : push::InfoCall {
  void onInfo(const push::ChannelInfo&) noexcept override {}
};

// Says in each answer how many the hub counts as it is made.
struct CountAtAnswer final : http::HeadFilter {
  explicit CountAtAnswer(const push::Hub& counting) : hub(counting) {}
  void onHead(std::string_view, http::ResponseHead& head) const noexcept override {
    head.add("X-Subscribers", std::to_string(hub.numbers().subscribers));
  }
  const push::Hub& hub;
};

class World {
 public:
  explicit World(SubscribeOptions options = {}, push::HubOptions limits = {}) : hub(limits, 4, host) {
    options.channel = std::move(http::Template::compile("{channel}", {"channel"})).value();
    options.id_query = "id";
    if (options.first.start.kind == push::Start::Kind::kNewest)
      options.first.start.kind = push::Start::Kind::kOldest;
    auto made =
        modules::push::makeSubscribeHandler(std::move(options), {hub, metrics, 1, nullptr, "roost", "/r"});
    REQUIRE(made.ok());
    handler = std::move(made).value();
    server.options.send_timeout_ms = 5000;
    http::Route& route =
        server.on("/{channel}", [this](http::Exchange& exchange) { handler->handle(exchange); });
    route.head_filters.push_back(std::make_shared<CountAtAnswer>(hub));
    server.start();
  }
  ~World() { end(); }
  void end() {
    if (std::exchange(ended, true)) return;
    for (uint32_t shard = 0; shard < 4; ++shard) hub.shard(shard).stop();
    server.shutDown();
  }

  test::SimPeer ask(const std::string& fields, const std::string& target = "/room",
                    const std::string& version = "1.1") {
    test::SimPeer peer = server.connect();
    peer.write("GET " + target + " HTTP/" + version + "\r\nHost: a\r\n" + fields + "\r\n");
    server.settle();
    return peer;
  }
  test::SimPeer events(const std::string& target = "/room") {
    return ask("Accept: text/event-stream\r\n", target);
  }
  test::SimPeer socket(const std::string& more = "", const std::string& target = "/room") {
    return ask(
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
            more,
        target);
  }
  void publish(std::string_view text, uint32_t history = 10) {
    push::Publication publication;
    publication.payload = BufferRef::copyOf(text);
    publication.history_messages = history;
    hub.shard(0).publish("room", std::move(publication), std::make_unique<Answer>());
    server.settle();
  }
  void remove() {
    hub.shard(0).remove("room", std::make_unique<Info>());
    server.settle();
  }
  void pass(int ms) {
    for (int passed = 0; passed < ms; passed += 250) {
      server.net.pass(250);
      for (uint32_t shard = 0; shard < 4; ++shard) hub.shard(shard).tick();
    }
    server.settle();
  }
  std::string readAll(test::SimPeer& peer) {
    std::string all;
    for (bool more = true; more;) {
      const std::string piece = peer.read();
      all += piece;
      server.settle();
      more = !piece.empty();
    }
    return all;
  }
  int64_t subscribers(const char* transport) const {
    return metrics.gaugeValue("roost_push_subscribers", {{"route", "/r"}, {"transport", transport}});
  }
  uint64_t delivered(const char* transport) const {
    return metrics.counterValue("roost_push_deliveries_total", {{"route", "/r"}, {"transport", transport}});
  }
  uint64_t count(const char* name) const { return metrics.counterValue(name, {{"route", "/r"}}); }

  test::H1Server server;
  metrics::Registry metrics;
  LoopHost host{server.net};
  push::Hub hub;
  std::unique_ptr<const http::Handler> handler;
  bool ended = false;
};

size_t times(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace

TEST_CASE("subscribe: each way gets what is published, once", "[push]") {
  World w;
  test::SimPeer poll = w.ask("");
  test::SimPeer events = w.events();
  test::SimPeer plain = w.socket();
  test::SimPeer meta = w.socket("Sec-WebSocket-Protocol: ws+meta.nchan\r\n");
  CHECK(w.hub.numbers().subscribers == 4);
  CHECK(w.subscribers("long_poll") == 1);
  CHECK(w.subscribers("sse") == 1);
  CHECK(w.subscribers("websocket") == 2);
  const std::string heads = events.read() + plain.read() + meta.read();
  CHECK(times(heads, "HTTP/1.1 101") == 2);
  CHECK(times(heads, ": hi\n: position ") == 1);
  w.server.net.sys.resetCounts();
  w.publish("hello");
  CHECK(w.server.net.sys.sendCalls() == 4);
  CHECK(test::parseAnswers(poll.read()).answers.at(0).body == "hello");
  CHECK(times(events.read(), "data: hello\n") == 1);
  CHECK(plain.read() == "\x81\x05hello");
  CHECK(times(meta.read(), "\n\nhello") == 1);
  CHECK(w.subscribers("long_poll") == 0);
  CHECK(w.delivered("long_poll") + w.delivered("sse") + w.delivered("websocket") == 4);
  CHECK(w.metrics.histogramValue("roost_push_delivery_lag_nanoseconds", {{"route", "/r"}})->count() == 4);
  for (test::SimPeer* peer : {&poll, &events, &plain, &meta}) peer->reset();
  w.server.settle();
  CHECK(w.hub.numbers().subscribers == 0);
  CHECK(w.subscribers("sse") + w.subscribers("websocket") == 0);
}

TEST_CASE("subscribe: who does not read gets one message more, and then what is left", "[push]") {
  const bool by_socket = GENERATE(false, true);
  World w;
  w.server.net.sys.setCapacity(2000);
  test::SimPeer peer = by_socket ? w.socket() : w.events();
  peer.read();
  const std::string large(3000, 'x');
  for (int i = 0; i < 4; ++i) w.publish(std::to_string(i) + large, 2);
  CHECK(w.hub.numbers().slow == 1);
  CHECK(w.count("roost_push_slow_total") == 1);
  const std::string got = w.readAll(peer);
  for (const char* text : {"0x", "2x", "3x"}) CHECK(times(got, text) == 1);
  CHECK(w.hub.numbers().subscribers == 1);
  w.publish("after");
  CHECK(times(w.readAll(peer), "after") == 1);
}

TEST_CASE("subscribe: who takes nothing for too long is cut off", "[push]") {
  const bool by_socket = GENERATE(false, true);
  World w;
  w.server.net.sys.setCapacity(2000);
  test::SimPeer peer = by_socket ? w.socket() : w.events();
  peer.read();
  w.publish(std::string(5000, 'x'));
  w.pass(4000);
  CHECK(w.hub.numbers().subscribers == 1);
  w.pass(2000);
  CHECK(w.hub.numbers().subscribers == 0);
  CHECK(w.subscribers("sse") + w.subscribers("websocket") == 0);
}

TEST_CASE("subscribe: a stream that is slow is kept alive again once it has caught up", "[push]") {
  SubscribeOptions options;
  options.heartbeat_ms = 1000;
  World w(std::move(options));
  w.server.net.sys.setCapacity(2000);
  test::SimPeer peer = w.events();
  peer.read();
  w.publish(std::string(5000, 'x'));
  w.pass(3000);
  CHECK(times(w.readAll(peer), "2\r\n:\n\r\n") == 0);
  w.pass(1500);
  CHECK(times(peer.read(), "2\r\n:\n\r\n") == 1);
  w.pass(3000);
  CHECK(times(peer.read(), "2\r\n:\n\r\n") >= 2);
}

TEST_CASE("subscribe: pipelined polls are answered in turn, none from within another", "[push]") {
  World w;
  test::SimPeer peer = w.server.connect();
  std::string requests;
  for (int i = 0; i < 3; ++i)
    requests += "GET /room?id=0:" + std::to_string(i + 1) + "-00000001 HTTP/1.1\r\nHost: a\r\n\r\n";
  peer.write(requests);
  w.server.settle();
  CHECK(peer.read().empty());
  w.publish("one");
  const auto answers = test::parseAnswers(peer.read()).answers;
  REQUIRE(answers.size() == 3);
  for (const auto& answer : answers) {
    CHECK(answer.body == "one");
    CHECK(answer.has("\r\nPush-Gap: unknown\r\n"));
  }
  CHECK(w.hub.numbers().subscribers == 0);
}

TEST_CASE("subscribe: a deleted channel ends every way", "[push]") {
  World w;
  test::SimPeer poll = w.ask("");
  test::SimPeer events = w.events();
  test::SimPeer socket = w.socket();
  test::SimPeer slow = w.events();
  events.read();
  socket.read();
  slow.read();
  w.remove();
  CHECK(test::parseAnswers(poll.read()).answers.at(0).status == 410);
  CHECK(events.read() == "0\r\n\r\n");
  CHECK(socket.read() ==
        "\x88\x0a\x03\xe8"
        "410 Gone");
  CHECK(w.hub.numbers().subscribers == 0);
  w.publish("a new one");
  CHECK(w.ask("").read().find("a new one") != std::string::npos);
}

TEST_CASE("subscribe: a poll times out with its place, on either side of a tenth", "[push]") {
  SubscribeOptions options;
  options.timeout_ms = 10000;
  options.timeout_status = GENERATE(304, 408);
  const int status = options.timeout_status;
  World w(std::move(options));
  w.publish("x");
  std::vector<test::SimPeer> polls;
  for (int i = 0; i < 20; ++i) polls.push_back(w.ask("", "/other"));
  w.pass(8500);
  for (auto& poll : polls) CHECK(poll.read().empty());
  w.pass(2500);
  for (auto& poll : polls) {
    const auto answer = test::parseAnswers(poll.read()).answers.at(0);
    CHECK(answer.status == status);
    CHECK(answer.has("\r\nEtag: \"0-"));
  }
  CHECK(w.hub.numbers().subscribers == 0);
}

TEST_CASE("subscribe: a poll counts no more when it is answered", "[push]") {
  World w;
  test::SimPeer poll = w.ask("");
  w.publish("x");
  CHECK(test::parseAnswers(poll.read()).answers.at(0).has("\r\nX-Subscribers: 0\r\n"));
  w.publish(std::string(100'000, 'x'));
  const auto large = test::parseAnswers(w.readAll(poll = w.ask("", "/room?id=0"))).answers;
  CHECK(large.at(0).has("\r\nX-Subscribers: 0\r\n"));
}

TEST_CASE("subscribe: a poll that waits behind an answer not taken yet times out, too", "[push]") {
  SubscribeOptions options;
  options.timeout_ms = 3000;
  World w(std::move(options));
  w.server.net.sys.setCapacity(2000);
  w.publish(std::string(5000, 'x'));
  test::SimPeer peer = w.server.connect();
  peer.write("GET /room HTTP/1.1\r\nHost: a\r\n\r\nGET /quiet HTTP/1.1\r\nHost: a\r\n\r\n");
  w.server.settle();
  w.pass(500);
  std::string got = w.readAll(peer);
  CHECK(w.hub.numbers().subscribers == 1);
  w.pass(4000);
  got += w.readAll(peer);
  const auto answers = test::parseAnswers(got).answers;
  REQUIRE(answers.size() == 2);
  CHECK(answers[1].status == 304);
  CHECK(w.hub.numbers().subscribers == 0);
}

TEST_CASE("subscribe: a limit refuses, and counts", "[push]") {
  push::HubOptions limits;
  limits.max_subscribers_per_channel = 1;
  World w({}, limits);
  test::SimPeer first = w.events();
  CHECK(test::parseAnswers(w.ask("").read()).answers.at(0).status == 503);
  CHECK(test::parseAnswers(w.events().read()).answers.at(0).has("\r\nRetry-After: "));
  CHECK(test::parseAnswers(w.socket().read()).answers.at(0).status == 503);
  CHECK(w.count("roost_push_refused_total") == 3);
  CHECK(w.hub.numbers().subscribers == 1);
}

// Everybody comes, gets messages, some slowly, and goes or is sent away, with the nth call failing, for
// every n.
TEST_CASE("subscribe: any call may fail, and nobody stays behind", "[push]") {
  uint64_t nth = 1;
  for (bool failed = true; failed; ++nth) {
    World w;
    test::SimSys& sys = w.server.net.sys;
    sys.setCapacity(3000);
    sys.failAnyNth(nth);
    {
      test::SimPeer poll = w.ask("");
      test::SimPeer events = w.events();
      test::SimPeer socket = w.socket();
      test::SimPeer slow = w.events();
      test::SimPeer slow_socket = w.socket("Sec-WebSocket-Protocol: ws+meta.nchan\r\n");
      w.publish("one");
      w.publish(std::string(5000, 'x'), 1);
      w.publish("three", 1);
      w.readAll(slow);
      test::SimPeer late = w.ask("", "/room?id=1:1-00000001");
      w.pass(500);
      socket.reset();
      w.server.settle();
      w.publish("four", 1);
      w.remove();
      w.pass(7000);
    }
    failed = sys.anyFailed();
    w.server.settle();
    w.end();
    INFO("call " << nth);
    CHECK(w.hub.numbers().subscribers == 0);
    CHECK(w.subscribers("long_poll") == 0);
    CHECK(w.subscribers("sse") == 0);
    CHECK(w.subscribers("websocket") == 0);
  }
  CHECK(nth > 50);
}
