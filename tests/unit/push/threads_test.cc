// The hub on threads of its own: what the simulation cannot see, that nothing is touched by two at once.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "base/random.h"
#include "push/hub.h"
#include "unit/push/sim_hub.h"

namespace roost::push {
namespace {

constexpr uint32_t kThreads = 3;
constexpr uint32_t kNames = 4;

class ThreadHost final : public Host {
 public:
  void post(uint32_t shard, std::unique_ptr<event::Task> task) noexcept override {
    ++waiting;
    const std::lock_guard<std::mutex> lock(boxes_[shard].mutex);
    boxes_[shard].tasks.push_back(std::move(task));
  }
  int64_t nowNs() const noexcept override {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  int64_t unixSeconds() const noexcept override { return 1'700'000'000; }
  void run(uint32_t shard) {
    std::deque<std::unique_ptr<event::Task>> tasks;
    {
      const std::lock_guard<std::mutex> lock(boxes_[shard].mutex);
      tasks.swap(boxes_[shard].tasks);
    }
    for (const std::unique_ptr<event::Task>& task : tasks) {
      task->run();
      --waiting;
    }
  }
  std::atomic<int64_t> waiting{0};

 private:
  struct Box {
    std::mutex mutex;
    std::deque<std::unique_ptr<event::Task>> tasks;
  };
  Box boxes_[kThreads];
};

class Follower final : public Subscriber {
 public:
  void onSubscribed(const MessageId& position) noexcept override { last = position; }
  Delivery onMessage(const Message::Ref& message) noexcept override {
    if (message->id().seq != last.seq + 1 || message->id().epoch != last.epoch) ++wrong;
    if (message->form(0, [](const Message& of) { return of.payload(); }).view() != message->payload().view())
      ++wrong;
    last = message->id();
    ++got;
    if (!calm && got % 5 == 0) return Delivery::kDone;
    return !calm && got % 7 == 0 ? Delivery::kBlocked : Delivery::kAccepted;
  }
  Delivery onGap(const Gap& gap) noexcept override {
    if (gap.after == last) last.seq += gap.missed;
    return Delivery::kAccepted;
  }
  void onEnd(EndReason) noexcept override {}

  uint32_t name = 0;
  MessageId last;
  uint64_t got = 0, wrong = 0;
  bool calm = false;
};

// What one thread does; then it runs what comes until all have done theirs.
class Worker {
 public:
  Worker(Hub& hub, ThreadHost& host, uint32_t index) : hub_(hub), host_(host), index_(index) {}

  void work(int rounds, std::atomic<uint32_t>& ready) {
    Shard& shard = hub_.shard(index_);
    uint64_t state = index_;
    for (int i = 0; i < rounds; ++i) {
      const uint64_t chosen = scrambled(++state * 0x9e3779b97f4a7c15);
      Follower& follower = followers[chosen / 64 % 8];
      const std::string name(1, static_cast<char>('a' + chosen / 1024 % kNames));
      switch (chosen % 16) {
        case 0:
          shard.unsubscribe(follower);
          break;
        case 1:
          if (chosen / 4096 % 64 == 0)
            shard.remove(name, std::make_unique<test::Informed>([](const ChannelInfo&) {}));
          shard.tick();
          break;
        case 2:
        case 3:
        case 4:
        case 5: {
          Publication publication;
          publication.payload = BufferRef::copyOf("message");
          publication.history_messages = 50;
          publication.wait_ms = chosen / 4096 % 8 == 0 ? 1000 : 0;
          shard.publish(name, std::move(publication),
                        std::make_unique<test::Published>([](const PublishResult&) {}));
          break;
        }
        case 6:
        case 7:
          shard.resume(follower);
          break;
        default:
          if (follower.subscribed()) break;
          follower.name = static_cast<uint32_t>(chosen / 1024 % kNames);
          shard.subscribe(name, {{Start::Kind::kAfter, 0, follower.last}, SlowPolicy::kDropOldest}, follower);
      }
      host_.run(index_);
    }
    ++ready;
    while (ready < kThreads) {
      host_.run(index_);
      std::this_thread::yield();
    }
  }
  // What is left to do when the threads have ended: no more than a turn of it.
  void settle() {
    for (Follower& follower : followers) {
      follower.calm = true;
      hub_.shard(index_).resume(follower);
    }
    host_.run(index_);
  }

  Follower followers[8];

 private:
  Hub& hub_;
  ThreadHost& host_;
  uint32_t index_;
};

TEST_CASE("push: a hub on several threads") {
  ThreadHost host;
  HubOptions options;
  options.max_backlog_messages = 16;  // publications wait for room, and are woken by other threads
  options.queue_ms = 600'000;
  Hub hub(options, kThreads, host);
  std::vector<std::unique_ptr<Worker>> workers;
  for (uint32_t i = 0; i < kThreads; ++i) workers.push_back(std::make_unique<Worker>(hub, host, i));
  std::atomic<uint32_t> ready{0};
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < kThreads; ++i) threads.emplace_back([&, i] { workers[i]->work(4000, ready); });
  for (std::thread& thread : threads) thread.join();
  do {
    for (const auto& worker : workers) worker->settle();
  } while (host.waiting != 0);

  uint64_t got = 0, wrong = 0, subscribed = 0;
  MessageId last[kNames];
  for (const auto& worker : workers) {
    for (const Follower& follower : worker->followers) {
      got += follower.got;
      wrong += follower.wrong;
      if (!follower.subscribed()) continue;
      ++subscribed;
      if (last[follower.name].epoch == 0) last[follower.name] = follower.last;
      CHECK(follower.last == last[follower.name]);
    }
  }
  CHECK(wrong == 0);
  CHECK(got > 1000);
  CHECK(hub.numbers().queued > 0);
  CHECK(hub.numbers().queued_bytes == 0);
  CHECK(hub.numbers().refused == 0);
  CHECK(hub.numbers().subscribers == subscribed);
  CHECK(hub.numbers().delivered == got);
  for (uint32_t i = 0; i < kThreads; ++i) hub.shard(i).stop();
  for (uint32_t i = 0; i < kThreads; ++i) host.run(i);
  CHECK(hub.numbers().history_bytes == 0);
}

}  // namespace
}  // namespace roost::push
