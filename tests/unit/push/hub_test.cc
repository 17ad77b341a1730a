#include "push/hub.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "unit/push/sim_hub.h"

namespace roost::push {
namespace {

using test::Informed;
using test::Published;
using test::SimHost;

// Writes down what it is told: "+" subscribed, "gap N", the payloads, "end REASON".
class Client final : public Subscriber {
 public:
  ~Client() = default;
  void onSubscribed(const MessageId& position) noexcept override {
    last = position;
    heard.emplace_back("+");
  }
  Delivery onMessage(const Message::Ref& message) noexcept override {
    last = message->id();
    heard.emplace_back(message->payload().view());
    return std::exchange(answer, then);
  }
  Delivery onGap(const Gap& told) noexcept override {
    heard.push_back("gap " + std::to_string(told.missed));
    gap = told;
    return Delivery::kAccepted;
  }
  void onEnd(EndReason reason) noexcept override {
    heard.push_back("end " + std::to_string(static_cast<int>(reason)));
  }

  std::vector<std::string> heard;
  MessageId last;
  Gap gap;
  Delivery answer = Delivery::kAccepted;
  Delivery then = Delivery::kAccepted;
};

using Heard = std::vector<std::string>;

struct World {
  explicit World(uint32_t shard_count = 2, HubOptions options = {})
      : shards(shard_count), host(shard_count), hub(options, shard_count, host) {}
  ~World() {
    for (uint32_t shard = 0; shard < shards; ++shard) hub.shard(shard).stop();
    host.runAll();
  }
  void subscribe(Client& client, Start start, uint32_t shard = 0, SlowPolicy slow = SlowPolicy::kDropOldest) {
    host.as(shard, [&] { hub.shard(shard).subscribe("news", {start, slow}, client); });
    host.runAll();
  }
  PublishResult publish(const std::string& text, uint32_t shard = 0,
                        const std::function<void(Publication&)>& change = {}) {
    Publication publication;
    publication.payload = BufferRef::copyOf(text);
    if (change) change(publication);
    std::optional<PublishResult> answer;
    host.as(shard, [&] {
      hub.shard(shard).publish(
          "news", std::move(publication),
          std::make_unique<Published>([&](const PublishResult& result) { answer = result; }));
    });
    host.runAll();
    REQUIRE(answer.has_value());
    return *answer;
  }
  ChannelInfo info() {
    ChannelInfo info;
    hub.shard(shards - 1).info("news", std::make_unique<Informed>([&](const ChannelInfo& it) { info = it; }));
    host.runAll();
    return info;
  }
  void later(int64_t seconds) {
    host.now_ns += seconds * 1'000'000'000;
    host.unix_s += seconds;
    for (uint32_t shard = 0; shard < shards; ++shard) host.as(shard, [&] { hub.shard(shard).tick(); });
    host.runAll();
  }
  uint32_t shards;
  SimHost host;
  Hub hub;
};

Start after(const MessageId& id) {
  return {Start::Kind::kAfter, 0, id};
}

TEST_CASE("push: what is published reaches subscribers of every shard, in order") {
  Client clients[3];
  World world(3);
  for (uint32_t shard = 0; shard < 3; ++shard) world.subscribe(clients[shard], {}, shard);
  const PublishResult first = world.publish("a", 0);
  CHECK(first.status == PublishStatus::kPublished);
  CHECK(first.channel.subscribers == 3);
  CHECK(first.id.seq == 1);
  world.publish("b", 1);
  world.publish("c", 2);
  for (Client& client : clients) {
    CHECK(client.heard == Heard{"+", "a", "b", "c"});
    CHECK(client.last.seq == 3);
  }
  world.hub.shard(0).unsubscribe(clients[0]);
  world.hub.shard(1).unsubscribe(clients[1]);
  CHECK(world.publish("d", 2).channel.subscribers == 1);
  CHECK(clients[0].heard.size() == 4);
}

TEST_CASE("push: where a subscription begins") {
  World world;
  std::vector<MessageId> ids;
  for (const char* text : {"a", "b", "c", "d"})
    ids.push_back(world.publish(text, 0, [](Publication& made) { made.history_messages = 3; }).id);
  MessageId future = ids[3];
  future.seq += 5;
  MessageId foreign = ids[3];
  foreign.epoch ^= 1;
  MessageId before_all = ids[0];
  before_all.seq = 0;
  const struct {
    const char* name;
    Start start;
    Heard heard;
  } kCases[] = {
      {"newest", {}, {"+"}},
      {"oldest", {Start::Kind::kOldest, 0, {}}, {"+", "b", "c", "d"}},
      {"two back", {Start::Kind::kBack, 2, {}}, {"+", "c", "d"}},
      {"many back", {Start::Kind::kBack, 99, {}}, {"+", "b", "c", "d"}},
      {"after one in history", after(ids[2]), {"+", "d"}},
      {"after the one before history", after(ids[0]), {"+", "b", "c", "d"}},
      {"after the newest", after(ids[3]), {"+"}},
      {"after one whose next is gone", after(before_all), {"+", "gap 1", "b", "c", "d"}},
      {"of the future", after(future), {"+", "gap 0", "b", "c", "d"}},
      {"of another epoch", after(foreign), {"+", "gap 0", "b", "c", "d"}},
      {"a time long ago", after({ids[0].time_s - 1, 0, 0}), {"+", "gap 0", "b", "c", "d"}},
      {"the time of the last", after({ids[3].time_s, 0, 0}), {"+"}},
      {"that time, and another server's tag",
       after(MessageId::makeForeign(ids[3].time_s)),
       {"+", "gap 0", "b", "c", "d"}},
      {"nothing yet, of another epoch",
       after({ids[0].time_s, 0, ids[0].epoch ^ 1}),
       {"+", "gap 0", "b", "c", "d"}},
  };
  for (const auto& one : kCases) {
    for (uint32_t shard = 0; shard < 2; ++shard) {
      INFO(one.name << ", shard " << shard);
      Client client;
      world.subscribe(client, one.start, shard);
      CHECK(client.heard == one.heard);
      world.hub.shard(shard).unsubscribe(client);
    }
  }
}

TEST_CASE("push: one that is blocked goes on where it was, or is told what it missed") {
  HubOptions options;
  options.slow_window_messages = 2;
  const struct {
    SlowPolicy policy;
    Heard heard;
  } kCases[] = {
      {SlowPolicy::kDropOldest, {"+", "0", "gap 4", "5", "6", "7"}},
      {SlowPolicy::kLatest, {"+", "0", "gap 6", "7"}},
      {SlowPolicy::kDisconnect, {"+", "0", "end 1"}},
  };
  for (const auto& one : kCases) {
    Client slow, quick;
    World world(2, options);
    slow.answer = Delivery::kBlocked;
    world.subscribe(slow, {}, 1, one.policy);
    world.subscribe(quick, {}, 1);
    for (int i = 0; i < 8; ++i)
      world.publish(std::to_string(i), 0, [](Publication& made) { made.history_messages = 1; });
    CHECK(quick.heard.size() == 9);
    CHECK(slow.subscribed() == (one.policy != SlowPolicy::kDisconnect));  // it is not waited for
    world.host.as(1, [&] { world.hub.shard(1).resume(slow); });
    world.host.runAll();
    CHECK(slow.heard == one.heard);
  }
}

TEST_CASE("push: a deleted channel ends its subscriptions, and its name begins anew") {
  Client client;
  World world;
  world.subscribe(client, {}, 1);
  const MessageId id = world.publish("a").id;
  std::optional<ChannelInfo> info;
  world.hub.shard(0).remove("news", std::make_unique<Informed>([&](const ChannelInfo& was) { info = was; }));
  world.host.runAll();
  REQUIRE(info.has_value());
  CHECK(info->exists);
  CHECK(info->messages == 1);
  CHECK(client.heard == Heard{"+", "a", "end 0"});
  CHECK_FALSE(client.subscribed());
  CHECK(world.hub.numbers().channels == 0);
  CHECK(world.publish("b").id.epoch != id.epoch);
}

TEST_CASE("push: a publisher may wait until all have it, and repeat itself") {
  Client quick, slow;
  World world;
  slow.answer = Delivery::kBlocked;
  world.subscribe(quick, {}, 0);
  world.subscribe(slow, {}, 1);
  std::optional<PublishResult> answer;
  Publication publication;
  publication.payload = BufferRef::copyOf("a");
  publication.wait_ms = 1000;
  publication.idempotency_key = "k";
  world.hub.shard(0).publish("news", std::move(publication),
                             std::make_unique<Published>([&](const PublishResult& made) { answer = made; }));
  world.host.runAll();
  CHECK_FALSE(answer.has_value());
  world.host.now_ns += 5'000'000;
  world.host.as(1, [&] { world.hub.shard(1).resume(slow); });
  world.host.runAll();
  REQUIRE(answer.has_value());
  CHECK(answer->all_delivered);
  CHECK(answer->delivered == 2);
  CHECK(answer->last_delivery_ns == 5'000'000);
  for (const char* other : {"b", ""}) {
    CHECK(world.publish(other, 1, [](Publication& made) { made.idempotency_key = "k"; }).status ==
          PublishStatus::kKeyReused);
  }
  CHECK(world
            .publish("a", 1,
                     [](Publication& made) {
                       made.idempotency_key = "k";
                       made.event = "other";
                     })
            .status == PublishStatus::kKeyReused);
  const PublishResult again = world.publish("a", 1, [](Publication& made) { made.idempotency_key = "k"; });
  CHECK(again.repeated);
  CHECK(again.id == answer->id);
  CHECK(quick.heard == Heard{"+", "a"});
}

TEST_CASE("push: limits refuse what is beyond them, exactly") {
  HubOptions options;
  options.max_channels = 2;
  options.max_subscribers = 3;
  options.max_subscribers_per_channel = 2;
  Client clients[5];
  World world(2, options);
  const auto subscribe = [&](int client, const char* name, uint32_t shard) {
    world.host.as(shard, [&] { world.hub.shard(shard).subscribe(name, {}, clients[client]); });
    world.host.runAll();
    return clients[client].heard.back();
  };
  CHECK(subscribe(0, "news", 0) == "+");
  CHECK(subscribe(1, "news", 1) == "+");
  CHECK(subscribe(2, "news", 0) == "end 3");
  CHECK(subscribe(2, "other", 1) == "+");
  CHECK(subscribe(3, "other", 0) == "end 3");
  CHECK(subscribe(4, "third", 0) == "end 2");
  CHECK(subscribe(4, "third", 1) == "end 2");
  world.hub.shard(0).unsubscribe(clients[0]);
  CHECK(subscribe(3, "other", 0) == "+");
  CHECK(world.hub.numbers().subscribers == 3);
  CHECK(world.hub.numbers().channels == 2);
}

TEST_CASE("push: a channel lingers after its last subscriber, then everything of it is gone") {
  Client client;
  World world;
  world.subscribe(client, {}, 1);
  const MessageId id = world.publish("a", 0, [](Publication& made) { made.history_messages = 0; }).id;
  world.hub.shard(1).unsubscribe(client);
  world.later(110);
  world.subscribe(client, after(id), 1);  // it is known still: nothing was missed
  CHECK(client.heard == Heard{"+", "a", "+"});
  world.hub.shard(1).unsubscribe(client);
  CHECK(world.hub.numbers().channels == 1);
  world.later(121);
  CHECK(world.hub.numbers().channels == 0);
  CHECK(world.hub.numbers().history_bytes == 0);
  world.subscribe(client, after(id), 1);
  CHECK(client.heard == Heard{"+", "a", "+", "+", "gap 0"});
}

TEST_CASE(
    "push: a channel lingers for less where channels are scarce, and a quiet one is forgotten without a "
    "gap") {
  HubOptions options;
  options.max_channels = 1;
  Client client;
  World world(2, options);
  world.host.unix_s += 1;  // an id of the hub's first second might be of the hub before it
  world.subscribe(client, {}, 1);
  const MessageId nothing = client.last;
  world.hub.shard(1).unsubscribe(client);
  world.later(4);
  CHECK(world.hub.numbers().channels == 1);
  world.later(2);
  CHECK(world.hub.numbers().channels == 0);
  world.subscribe(client, after(nothing), 1);
  CHECK(client.heard == Heard{"+", "+"});
  CHECK(client.last != nothing);
  world.hub.shard(1).unsubscribe(client);
  // What comes and goes while nobody is there is missed, and told.
  world.later(6);
  world.publish("a", 0, [](Publication& made) { made.history_s = 1; });
  world.later(3);
  CHECK(world.hub.numbers().channels == 0);
  world.subscribe(client, after(nothing), 1);
  CHECK(client.heard == Heard{"+", "+", "+", "gap 0"});
  world.hub.shard(1).unsubscribe(client);
}

TEST_CASE("push: of many channels that nobody uses any more, most are forgotten soon") {
  constexpr size_t kChannels = 6000;
  World world;
  {
    std::vector<Client> clients(kChannels);
    for (size_t i = 0; i < kChannels; ++i) {
      world.host.as(1, [&] {
        world.hub.shard(1).subscribe("channel " + std::to_string(i), {Start{}, SlowPolicy::kDropOldest},
                                     clients[i]);
      });
    }
    world.host.runAll();
    CHECK(world.hub.numbers().channels == kChannels);
    for (Client& client : clients) world.hub.shard(1).unsubscribe(client);
    world.host.runAll();
  }
  for (int tick = 0; tick < 3; ++tick) world.later(3);
  for (int tick = 0; tick < 20; ++tick) world.later(0);
  CHECK(world.hub.numbers().channels == 2048);  // 4096 on two loops
  world.later(121);
  for (int tick = 0; tick < 20; ++tick) world.later(0);
  CHECK(world.hub.numbers().channels == 0);
}

TEST_CASE("push: a gap says where it ends") {
  Client client;
  World world;
  std::vector<MessageId> ids;
  for (const char* text : {"a", "b", "c", "d"}) {
    world.host.unix_s += 1;
    ids.push_back(world.publish(text, 0, [](Publication& made) { made.history_messages = 1; }).id);
  }
  MessageId foreign = ids[3];
  foreign.epoch ^= 1;
  for (const MessageId& id : {ids[0], foreign}) {
    world.subscribe(client, after(id), 1);
    CHECK(client.gap.after == id);
    CHECK(client.gap.position == ids[2]);
    world.hub.shard(1).unsubscribe(client);
  }
}

TEST_CASE("push: history ages, by the policy of the latest publication") {
  World world;
  const auto kept = [&](uint32_t messages, uint32_t seconds) {
    return world
        .publish("a", 0,
                 [&](Publication& made) {
                   made.history_messages = messages;
                   made.history_s = seconds;
                 })
        .channel.messages;
  };
  CHECK(kept(10, 100) == 1);
  world.later(50);
  CHECK(kept(10, 100) == 2);
  world.later(51);
  CHECK(world.info().messages == 1);
  CHECK(kept(10, 20) == 1);  // the other is 51 s old
  CHECK(kept(10, 0) == 2);
  world.later(100'000);
  CHECK(world.info().messages == 2);
  CHECK(kept(1, 1) == 1);
  world.later(2);
  CHECK_FALSE(world.info().exists);
}

TEST_CASE("push: who asks of a channel does not hide its age from those who come") {
  Client listener, late;
  World world;
  world.subscribe(listener, {}, 1);
  world.publish("old", 0, [](Publication& made) { made.history_s = 2; });
  world.host.now_ns += 2'000'000'000;  // and no tick yet
  CHECK(world.info().messages == 0);
  world.later(1);
  world.subscribe(late, {Start::Kind::kOldest, 0, {}}, 1);
  CHECK(late.heard == Heard{"+"});
  CHECK(world.hub.numbers().history_bytes == 0);
}

TEST_CASE("push: those who catch up do not hold up those who are live, nor publishers") {
  HubOptions options;
  options.at_once_messages = 1;
  options.max_backlog_messages = 32;
  Client live, behind;
  World world(1, options);
  const auto keep = [](Publication& made) { made.history_messages = 20000; };
  for (int i = 0; i < 20000; ++i) world.publish(std::to_string(i), 0, keep);
  world.subscribe(live, {});
  world.hub.shard(0).subscribe("news", {{Start::Kind::kOldest, 0, {}}, SlowPolicy::kDropOldest}, behind);
  PublishStatus status = PublishStatus::kNoMemory;
  for (int i = 0; i < 20; ++i) {
    Publication publication;
    publication.payload = BufferRef::copyOf("live");
    keep(publication);
    world.host.as(0, [&] {
      world.hub.shard(0).publish(
          "news", std::move(publication),
          std::make_unique<Published>([&](const PublishResult& result) { status = result.status; }));
    });
    CHECK(status == PublishStatus::kPublished);
    for (int turn = 0; turn < 2; ++turn) world.host.runOne(0);
  }
  CHECK(live.heard.size() >= 20);  // the last may be on its way
  CHECK(behind.heard.size() < 20000);
  world.host.runAll();
  CHECK(behind.heard.size() == 1 + 20000 + 20);
}

TEST_CASE("push: memory beyond the cap takes the least recently used histories, on whatever shard") {
  HubOptions options;
  options.max_history_bytes = 100'000;
  World world(2, options);
  const std::string text(10'000, 'x');
  for (int i = 0; i < 30; ++i) {
    Publication publication;
    publication.payload = BufferRef::copyOf(text);
    world.hub.shard(0).publish("channel " + std::to_string(i), std::move(publication),
                               std::make_unique<Published>([](const PublishResult&) {}));
    world.host.runAll();
    world.host.now_ns += 1'000'000;
    CHECK(world.hub.numbers().history_bytes <= 110'000);
  }
  CHECK(world.hub.numbers().evictions >= 20);
  CHECK(world.hub.numbers().evictions <= 22);
  for (int i = 0; i < 30; ++i) {
    std::optional<ChannelInfo> info;
    world.hub.shard(0).info("channel " + std::to_string(i),
                            std::make_unique<Informed>([&](const ChannelInfo& it) { info = it; }));
    world.host.runAll();
    REQUIRE(info.has_value());
    if (i < 20) CHECK_FALSE(info->exists);
    if (i >= 22) CHECK(info->messages == 1);
  }
}

TEST_CASE("push: a channel that is polled is in use") {
  HubOptions options;
  options.max_history_bytes = 50'000;
  Client poll;
  World world(1, options);
  const MessageId polled = world.publish("a").id;
  for (int i = 0; i < 20; ++i) {
    world.host.now_ns += 1'000'000;
    world.subscribe(poll, after(polled));
    world.hub.shard(0).unsubscribe(poll);
    Publication publication;
    publication.payload = BufferRef::copyOf(std::string(10'000, 'x'));
    world.hub.shard(0).publish("channel " + std::to_string(i), std::move(publication),
                               std::make_unique<Published>([](const PublishResult&) {}));
    world.host.runAll();
  }
  CHECK(world.hub.numbers().evictions > 10);
  CHECK(world.info().messages == 1);
}

TEST_CASE("push: the cap on memory holds under a stream of messages that mirrors have too") {
  HubOptions options;
  options.max_history_bytes = 160'000;
  Client clients[8];
  World world(2, options);
  for (int i = 0; i < 8; ++i) {
    world.host.as(i % 2,
                  [&] { world.hub.shard(i % 2).subscribe("channel " + std::to_string(i), {}, clients[i]); });
  }
  world.host.runAll();
  int64_t most = 0;
  for (int i = 0; i < 2000; ++i) {
    Publication publication;
    publication.payload = BufferRef::copyOf(std::string(1000, 'x'));
    publication.history_messages = 1000;
    world.hub.shard(0).publish("channel " + std::to_string(i % 8), std::move(publication),
                               std::make_unique<Published>([](const PublishResult&) {}));
    world.host.now_ns += 1'000'000;
    world.host.runAll();
    most = std::max(most, world.hub.numbers().history_bytes);
  }
  CHECK(most <= 160'000 + 20'000);                     // what is published in 10 ms, and the sixteenth
  CHECK(world.hub.numbers().history_bytes > 140'000);  // and it does not take more than it must
  for (const Client& client : clients) CHECK(client.heard.size() == 251);
}

// Publishes one after the other without waiting, and keeps the answers in the order in which they come.
struct Flood {
  explicit Flood(World& in) : world(in) {}
  void publish(const std::string& channel, uint32_t shard = 0, const std::string& text = "x") {
    Publication publication;
    publication.payload = BufferRef::copyOf(text);
    world.host.as(shard, [&] {
      world.hub.shard(shard).publish(
          channel, std::move(publication),
          std::make_unique<Published>([this, channel](const PublishResult& result) {
            answers.push_back(result);
            channels.push_back(channel);
          }));
    });
  }
  size_t count(PublishStatus status) const {
    size_t found = 0;
    for (const PublishResult& answer : answers) found += answer.status == status ? 1 : 0;
    return found;
  }
  World& world;
  std::vector<PublishResult> answers;
  std::vector<std::string> channels;
};

TEST_CASE("push: a flood of publications waits until it can be delivered, and nobody is refused") {
  HubOptions options;
  options.max_backlog_messages = 40;
  Client listeners[2];
  World world(2, options);
  for (uint32_t shard = 0; shard < 2; ++shard) world.subscribe(listeners[shard], {}, shard);
  Flood flood(world);
  for (int i = 0; i < 1000; ++i) flood.publish("news", 0, std::to_string(i));
  CHECK(flood.answers.size() < 40);
  CHECK(world.hub.numbers().queued_bytes > 900 * 256);
  world.host.runAll();
  CHECK(flood.count(PublishStatus::kPublished) == 1000);
  for (const Client& listener : listeners) {
    REQUIRE(listener.heard.size() == 1001);
    for (size_t i = 0; i < 1000; ++i) CHECK(listener.heard[i + 1] == std::to_string(i));
  }
  CHECK(world.hub.numbers().refused == 0);
  CHECK(world.hub.numbers().queued > 900);
  CHECK(world.hub.numbers().queued_bytes == 0);
}

TEST_CASE("push: channels that wait for a full loop take turns") {
  HubOptions options;
  options.max_backlog_messages = 8;
  Client listeners[6];
  World world(1, options);
  for (size_t i = 0; i < 6; ++i)
    world.hub.shard(0).subscribe("channel " + std::to_string(i), {}, listeners[i]);
  world.host.runAll();
  Flood flood(world);
  for (size_t i = 0; i < 6; ++i) {
    for (int message = 0; message < 100; ++message) flood.publish("channel " + std::to_string(i));
  }
  world.host.runAll();
  REQUIRE(flood.count(PublishStatus::kPublished) == 600);
  // The last channel came last, and is not served last.
  const auto first = std::find(flood.channels.begin(), flood.channels.end(), "channel 5");
  CHECK(first - flood.channels.begin() < 60);
  for (const Client& listener : listeners) CHECK(listener.heard.size() == 101);
}

TEST_CASE("push: a publication that finds no room in time is refused") {
  HubOptions options;
  options.max_backlog_messages = 4;
  options.queue_ms = 1000;
  Client listener;
  World world(1, options);
  world.subscribe(listener, {});
  Flood flood(world);
  for (int i = 0; i < 3; ++i) flood.publish("news");
  world.host.now_ns += 999'000'000;
  world.hub.shard(0).tick();
  CHECK(flood.answers.size() == 1);
  world.host.now_ns += 1'000'000;
  world.hub.shard(0).tick();
  CHECK(flood.count(PublishStatus::kOverloaded) == 2);
  world.host.runAll();
  CHECK(listener.heard.size() == 2);
  CHECK(world.hub.numbers().queued_bytes == 0);
}

TEST_CASE(
    "push: what waits for room is bounded in bytes, for all of a loop's publishers and for one channel") {
  HubOptions options;
  options.max_backlog_messages = 4;
  options.max_queued_bytes = 10'000;
  Client listener;
  World world(1, options);
  world.subscribe(listener, {});
  Flood flood(world);
  for (int i = 0; i < 100; ++i) flood.publish("news", 0, std::string(744, 'x'));
  // One goes through, five thousand bytes may wait.
  CHECK(flood.count(PublishStatus::kOverloaded) == 94);
  flood.publish("other");
  CHECK(flood.answers.back().status == PublishStatus::kPublished);
  world.host.runAll();
  CHECK(flood.count(PublishStatus::kPublished) == 7);
  CHECK(world.hub.numbers().queued_bytes == 0);
}

TEST_CASE("push: what waits is published to the next channel of that name when this one is deleted") {
  HubOptions options;
  options.max_backlog_messages = 4;
  Client listener;
  World world(2, options);
  world.subscribe(listener, {});
  Flood flood(world);
  for (int i = 0; i < 3; ++i) flood.publish("news");
  for (int i = 0; i < 3; ++i) flood.publish("news", 1);
  world.hub.shard(0).remove("news", std::make_unique<Informed>([](const ChannelInfo&) {}));
  world.host.runAll();
  CHECK(flood.count(PublishStatus::kPublished) == 6);
  CHECK(world.info().exists);
}

TEST_CASE("push: a hub that stops answers nothing that waits") {
  HubOptions options;
  options.max_backlog_messages = 4;
  Client listener;
  World world(1, options);
  world.subscribe(listener, {});
  Flood flood(world);
  for (int i = 0; i < 3; ++i) flood.publish("news");
  world.hub.shard(0).stop();
  world.host.runAll();
  CHECK(flood.answers.size() == 1);
}

TEST_CASE("push: who floods one channel is refused where nothing may wait, and leaves room for the others") {
  HubOptions options;
  options.max_backlog_messages = 40;
  options.queue_ms = 0;
  Client listener, other;
  World world(1, options);
  world.subscribe(listener, {});
  world.hub.shard(0).subscribe("other", {}, other);
  std::vector<PublishStatus> answers;
  const auto publish = [&](const char* name) {
    Publication publication;
    publication.payload = BufferRef::copyOf("x");
    world.hub.shard(0).publish(
        name, std::move(publication),
        std::make_unique<Published>([&](const PublishResult& result) { answers.push_back(result.status); }));
  };
  for (int i = 0; i < 11; ++i) publish("news");
  CHECK(answers[9] == PublishStatus::kPublished);
  CHECK(answers[10] == PublishStatus::kOverloaded);
  publish("other");
  CHECK(answers[11] == PublishStatus::kPublished);
  for (int task = 0; task < 11; ++task) world.host.runOne(1);  // the ring has them, but nobody yet
  CHECK(listener.heard.size() == 1);
  publish("news");
  CHECK(answers[12] == PublishStatus::kOverloaded);
  world.host.runAll();
  CHECK(listener.heard.size() == 11);
  publish("news");
  CHECK(answers[13] == PublishStatus::kPublished);
}

TEST_CASE("push: a wait that is over is answered with what was delivered by then") {
  Client quick, slow;
  slow.answer = Delivery::kBlocked;
  World world;
  world.subscribe(quick, {}, 0);
  world.subscribe(slow, {}, 1);
  std::optional<PublishResult> answer;
  Publication publication;
  publication.payload = BufferRef::copyOf("a");
  publication.wait_ms = 1000;
  world.hub.shard(0).publish("news", std::move(publication),
                             std::make_unique<Published>([&](const PublishResult& made) { answer = made; }));
  world.later(0);
  CHECK_FALSE(answer.has_value());
  world.later(2);
  REQUIRE(answer.has_value());
  CHECK_FALSE(answer->all_delivered);
  CHECK(answer->delivered == 1);
}

}  // namespace
}  // namespace roost::push
