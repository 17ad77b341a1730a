#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "metrics/registry.h"
#include "module/module.h"
#include "modules/push/batch.h"
#include "modules/push/publish_handler.h"
#include "support/h1_server.h"

using namespace roost;
using modules::push::BatchOptions;
using modules::push::ChannelTemplate;
using modules::push::Publisher;
using modules::push::PublishHandler;
using modules::push::PublishOptions;
using modules::push::Runtime;

namespace {

// A hub of one shard on the loop of a simulated server.
class SimHost final : public push::Host {
 public:
  explicit SimHost(test::SimLoop& net) : net_(net) {}
  void post(uint32_t, std::unique_ptr<event::Task> task) noexcept override {
    net_.loop().post(std::move(task));
  }
  int64_t nowNs() const noexcept override { return net_.loop().nowNs(); }
  int64_t unixSeconds() const noexcept override { return 1'700'000'000; }

 private:
  test::SimLoop& net_;
};

// Takes one message and then says that its client is slow.
class SlowSubscriber final : public push::Subscriber {
 public:
  void onSubscribed(const push::MessageId&) noexcept override {}
  push::Delivery onMessage(const push::Message::Ref&) noexcept override {
    ++messages;
    return push::Delivery::kBlocked;
  }
  push::Delivery onGap(const push::Gap&) noexcept override { return push::Delivery::kAccepted; }
  void onEnd(push::EndReason) noexcept override {}
  int messages = 0;
};

class Fixture {
 public:
  Fixture() {
    REQUIRE(runtime->start({server.net.sys, 1, config::Node(), &metrics, &hub}).ok());
    auto channel = ChannelTemplate::compile("{channel}", {"channel"});
    BatchOptions batch;
    batch.on = true;
    handler = std::make_unique<PublishHandler>(std::move(channel).value(),
                                               Publisher::make(PublishOptions(), "/", *runtime).value(),
                                               std::move(batch));
    server.on("/{channel}", [this](http::Exchange& exchange) { handler->handle(exchange); });
    server.start();
  }
  ~Fixture() {
    shard().unsubscribe(subscriber);
    shard().stop();
    server.shutDown();
    runtime->stop();
  }
  push::Shard& shard() { return hub.shard(0); }
  void subscribe() {
    push::SubscribeOptions options;
    options.start.kind = push::Start::Kind::kNewest;
    shard().subscribe("room", options, subscriber);
    REQUIRE(server.settle());
  }
  test::SimPeer send(const std::string& target, const std::string& body, const std::string& fields = "") {
    test::SimPeer peer = server.connect();
    const bool is_list = fields.find("Content-Type: application/json") != std::string::npos;
    peer.write((is_list ? "POST " : "PUT ") + target + " HTTP/1.1\r\nHost: a\r\n" + fields +
               "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    REQUIRE(server.settle());
    return peer;
  }
  bool pass(int ms) {
    for (int passed = 0; passed < ms; passed += 250) {
      if (!server.net.pass(250)) return false;
      shard().tick();
    }
    return server.settle();
  }
  uint64_t published() const { return metrics.counterValue("roost_push_published_total", {{"route", "/"}}); }

  test::H1Server server;
  metrics::Registry metrics;
  SimHost host{server.net};
  push::Hub hub{push::HubOptions(), 1, host};
  const std::shared_ptr<Runtime> runtime = std::make_shared<Runtime>();
  std::unique_ptr<PublishHandler> handler;
  SlowSubscriber subscriber;
};

}  // namespace

TEST_CASE("publish: one that waits is answered when its time is up", "[push]") {
  Fixture f;
  f.subscribe();
  f.send("/room", "first");  // blocks the subscriber
  test::SimPeer peer = f.send("/room?wait=2000", "second", "Accept: application/json\r\n");
  REQUIRE(f.pass(1000));
  CHECK(peer.read().empty());
  REQUIRE(f.pass(1500));
  const std::string answer = peer.read();
  CHECK(answer.find("201 Created") != std::string::npos);
  CHECK(answer.find("\"delivered\": 0, \"last_delivery_ms\": -1.000, \"all_delivered\": false") !=
        std::string::npos);
  CHECK(f.subscriber.messages == 1);
}

TEST_CASE("publish: one that waits is answered as soon as all have it", "[push]") {
  Fixture f;
  f.subscribe();
  test::SimPeer first = f.send("/room?wait=60000", "first");
  test::SimPeer second = f.send("/room?wait=60000", "second");
  CHECK(first.read().empty());  // the subscriber has it, but not yet its client
  f.shard().resume(f.subscriber);
  REQUIRE(f.server.settle());
  CHECK(first.read().find("delivered: 1\r\n") != std::string::npos);
  CHECK(second.read().empty());
  f.shard().resume(f.subscriber);
  REQUIRE(f.server.settle());
  const std::string answer = second.read();
  CHECK(answer.find("delivered: 1\r\n") != std::string::npos);
  CHECK(answer.find("all delivered: yes") != std::string::npos);
}

TEST_CASE("publish: a client that leaves while it waits has published", "[push]") {
  Fixture f;
  f.subscribe();
  f.send("/room", "first");
  test::SimPeer peer = f.send("/room?wait=60000", "second");
  peer.reset();
  REQUIRE(f.server.settle());
  f.shard().resume(f.subscriber);
  f.shard().resume(f.subscriber);
  REQUIRE(f.pass(500));
  CHECK(f.subscriber.messages == 2);
  CHECK(f.published() == 2);
}

TEST_CASE("publish: who waits at the hub's end is told", "[push]") {
  Fixture f;
  f.subscribe();
  f.send("/room", "first");
  test::SimPeer one = f.send("/room?wait=60000", "second");
  test::SimPeer list = f.send("/x?wait=60000", R"([{"channel": "room", "data": "third"}])",
                              "Content-Type: application/json\r\n");
  CHECK(one.read().empty());
  CHECK(list.read().empty());
  f.shard().stop();
  REQUIRE(f.server.settle());
  for (test::SimPeer* peer : {&one, &list}) {
    const std::string answer = peer->read();
    CHECK(answer.find("503 Service Unavailable") != std::string::npos);
    CHECK(answer.find("Retry-After: ") != std::string::npos);
  }
  test::SimPeer late = f.send("/room", "fourth");
  CHECK(late.read().find("503 Service Unavailable") != std::string::npos);
}

TEST_CASE("publish: nothing is left of a body that did not come", "[push]") {
  Fixture f;
  test::SimPeer peer = f.server.connect();
  peer.write("PUT /room HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345");
  REQUIRE(f.server.settle());
  peer.reset();
  REQUIRE(f.server.settle());
  CHECK(f.published() == 0);
  CHECK(f.server.ask("GET /room HTTP/1.1\r\nHost: a\r\n\r\n").find("404 Not Found") != std::string::npos);
}

TEST_CASE("batch: base64", "[push]") {
  using modules::push::decodeBase64;
  std::string out;
  const std::pair<const char*, const char*> good[] = {
      {"", ""},        {"Zg==", "f"},        {"Zm8=", "fo"},
      {"Zm9v", "foo"}, {"Zm9vYg==", "foob"}, {"+/+/", "\xfb\xff\xbf"}};
  for (const auto& [text, bytes] : good) {
    CHECK(decodeBase64(text, out));
    CHECK(out == bytes);
  }
  for (const char* text :
       {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "====", "Z===", "Zm8=Zm8=", "Zm 8", "-_-_", "Zg==\n"})
    CHECK_FALSE(decodeBase64(text, out));
}
