// links: roost_push benchmark::benchmark
// What the hub itself costs, without a client behind it: a delivery to one subscriber of many, a publication,
// a subscription; and the bytes of a channel and of a subscriber.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "push/hub.h"

namespace {

using namespace roost::push;  // NOLINT
using roost::BufferRef;

// All shards on one thread, one queue.
class BenchHost final : public Host {
 public:
  void post(uint32_t, std::unique_ptr<roost::event::Task> task) noexcept override {
    tasks_.push_back(std::move(task));
  }
  int64_t nowNs() const noexcept override {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  int64_t unixSeconds() const noexcept override { return 1'700'000'000; }
  void run() {
    while (!tasks_.empty()) {
      const std::unique_ptr<roost::event::Task> task = std::move(tasks_.front());
      tasks_.pop_front();
      task->run();
    }
  }

 private:
  std::deque<std::unique_ptr<roost::event::Task>> tasks_;
};

class Null final : public Subscriber {
 public:
  explicit Null(Delivery answer = Delivery::kAccepted) : answer_(answer) {}
  void onSubscribed(const MessageId& position) noexcept override { last = position; }
  Delivery onMessage(const Message::Ref& message) noexcept override {
    last = message->id();
    return answer_;
  }
  Delivery onGap(const Gap&) noexcept override { return Delivery::kAccepted; }
  void onEnd(EndReason) noexcept override {}
  MessageId last;

 private:
  Delivery answer_;
};

class Ignored final : public PublishCall {
 public:
  void onPublished(const PublishResult&) noexcept override {}
};

struct World {
  explicit World(uint32_t count) : hub(HubOptions{}, count, host), shards(count) {}
  ~World() {
    for (uint32_t i = 0; i < shards; ++i) hub.shard(i).stop();
    host.run();
  }
  void publish(std::string_view name, uint32_t history = 10) {
    Publication publication;
    publication.payload = payload;
    publication.history_messages = history;
    hub.shard(0).publish(name, std::move(publication), std::make_unique<Ignored>());
  }
  BenchHost host;
  Hub hub;
  uint32_t shards;
  BufferRef payload = BufferRef::copyOf("a message of some thirty bytes");
};

size_t heapBytes() {
  return mallinfo2().uordblks;
}

// One broadcast to many: time per subscriber.
void fanOut(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  std::deque<Null> subscribers(count);
  World world(2);
  for (size_t i = 0; i < count; ++i) world.hub.shard(i % 2).subscribe("news", {}, subscribers[i]);
  world.host.run();
  for (auto _ : state) {
    world.publish("news");
    world.host.run();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(fanOut)->Arg(1)->Arg(100)->Arg(60000);

// A publication with nobody there, at its home or at another shard.
void publishAlone(benchmark::State& state) {
  World world(static_cast<uint32_t>(state.range(0)));
  for (auto _ : state) {
    world.publish("news");
    world.host.run();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(publishAlone)->Arg(1)->Arg(2);

// A long-poll that comes back for the next message, and waits.
void subscribeAfter(benchmark::State& state) {
  World world(1);
  world.publish("news");
  Null first;
  world.hub.shard(0).subscribe("news", {{Start::Kind::kOldest, 0, {}}, SlowPolicy::kDropOldest}, first);
  world.host.run();
  Null poll(Delivery::kDone);
  const SubscribeOptions options{{Start::Kind::kAfter, 0, first.last}, SlowPolicy::kDropOldest};
  for (auto _ : state) {
    world.hub.shard(0).subscribe("news", options, poll);
    world.hub.shard(0).unsubscribe(poll);
  }
  world.hub.shard(0).unsubscribe(first);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(subscribeAfter);

// Memory of what stands idle: a channel with nothing but a history of one message, beyond that message; one
// that has a subscriber and no message; and a further subscriber of a channel beyond the object that the
// module makes.
void memory(benchmark::State& state) {
  for (auto _ : state) {
    constexpr size_t kCount = 100'000;
    World world(1);
    const auto name = [](size_t i) { return "channel/" + std::to_string(1'000'000 + i); };
    size_t before = heapBytes();
    for (size_t i = 0; i < kCount; ++i) world.publish(name(i), 1);
    world.host.run();
    const auto channel = static_cast<double>(heapBytes() - before) / kCount;
    before = heapBytes();
    std::deque<Null> subscribers;
    for (size_t i = 0; i < kCount; ++i) {
      subscribers.emplace_back();
      world.hub.shard(0).subscribe("quiet/" + std::to_string(1'000'000 + i), {}, subscribers.back());
    }
    world.host.run();
    const auto listened = static_cast<double>(heapBytes() - before) / kCount - sizeof(Null);
    for (Null& one : subscribers) world.hub.shard(0).unsubscribe(one);
    before = heapBytes();
    for (Null& one : subscribers) world.hub.shard(0).subscribe("one", {}, one);
    world.host.run();
    const double further = (static_cast<double>(heapBytes()) - static_cast<double>(before)) / kCount;
    for (Null& one : subscribers) world.hub.shard(0).unsubscribe(one);
    state.counters["B/channel with 1 message"] = channel;
    state.counters["of which message"] = static_cast<double>(sizeof(Message));
    state.counters["B/channel with 1 subscriber"] = listened;
    state.counters["B/further subscriber"] = further;
    state.counters["sizeof Subscriber"] = sizeof(Subscriber);
  }
}
BENCHMARK(memory)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
