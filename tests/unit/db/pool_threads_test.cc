// Loops on threads of their own that share a cap: for ThreadSanitizer, and for what only real time shows.
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "base/sys.h"
#include "db/database.h"
#include "event/loop.h"

namespace roost::db::test {
namespace {

constexpr uint32_t kLoops = 3;
constexpr uint32_t kCap = 4;
constexpr uint32_t kClients = 12;  // of each loop
constexpr uint32_t kRounds = 40;   // of each client

struct Count {
  void add() {
    const int now = open.fetch_add(1) + 1;
    int known = most.load();
    while (now > known && !most.compare_exchange_weak(known, now)) {
    }
  }
  std::atomic<int> open{0};
  std::atomic<int> most{0};
};

// Answers in the loop's next batch.
class PromptWire final : public Wire {
 public:
  PromptWire(event::Loop& loop, Count& count) : loop_(loop), count_(count) {}
  ~PromptWire() override { count_.open.fetch_sub(1); }
  void setListener(WireListener& listener) noexcept override { listener_ = &listener; }
  void execute(const Statement&) noexcept override {
    loop_.post(event::makeTask([this, alive = std::weak_ptr<int>(alive_)] {
      if (!alive.expired()) listener_->onResult({});
    }));
  }
  void resume() noexcept override {}
  bool alive() noexcept override { return true; }
  bool inTransaction() const noexcept override { return false; }
  uint64_t threadId() const noexcept override { return 1; }
  const ServerPlace& server() const noexcept override { return server_; }
  uint64_t prepares() const noexcept override { return 0; }

 private:
  event::Loop& loop_;
  Count& count_;
  const ServerPlace server_;
  WireListener* listener_ = nullptr;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

class PromptFactory final : public WireFactory {
 public:
  explicit PromptFactory(Count& count) : count_(count) {}
  void connect(event::Loop& loop, size_t, std::unique_ptr<ConnectCall> call) noexcept override {
    count_.add();
    loop.post(event::makeTask([this, &loop, kept = std::move(call)] {
      kept->onConnected(std::make_unique<PromptWire>(loop, count_));
    }));
  }
  void kill(event::Loop& loop, size_t, const ServerPlace&, uint64_t,
            std::unique_ptr<KillCall> call) noexcept override {
    loop.post(event::makeTask([kept = std::move(call)] { kept->onDone(true); }));
  }
  void stop() noexcept override {}

 private:
  Count& count_;
};

class Client final : public Work {
 public:
  Client(Pool& pool, std::atomic<uint32_t>& served) : pool_(pool), served_(served) {}
  void ask() { pool_.request(*this); }
  void onConnection(Link& link) noexcept override { link.execute({SqlText("SELECT 1"), {}}); }
  void onResult(Link& link, const Outcome&) noexcept override {
    link.release();
    served_.fetch_add(1);
    if (++rounds_ < kRounds) ask();
  }
  void onError(Link*, const Error&) noexcept override {}

 private:
  Pool& pool_;
  std::atomic<uint32_t>& served_;
  uint32_t rounds_ = 0;
};

struct LoopThread {
  std::unique_ptr<event::Loop> loop;
  std::vector<std::unique_ptr<Client>> clients;
  std::thread thread;
};

TEST_CASE("loops on their threads share a cap, and all are served", "[db]") {
  Count count;
  Options options;
  options.max_connections = kCap;
  options.queue_timeout_ms = 60'000;
  PooledDatabase database(options, Driver::kLoop, kLoops, std::make_unique<PromptFactory>(count), nullptr);
  std::atomic<uint32_t> served{0};
  std::vector<LoopThread> threads(kLoops);
  for (uint32_t i = 0; i < kLoops; ++i)
    threads[i].loop = std::move(event::Loop::create(realSys(), i)).value();
  for (LoopThread& one : threads) {
    one.thread = std::thread([&database, &one, &served] {
      database.startLoop(*one.loop);
      for (uint32_t i = 0; i < kClients; ++i) {
        one.clients.push_back(std::make_unique<Client>(database.pool(one.loop->index()), served));
        one.clients.back()->ask();
      }
      one.loop->run();
      one.clients.clear();
      database.stopLoop(*one.loop);
      one.loop->runOnce(0);
    });
  }
  const uint32_t all = kLoops * kClients * kRounds;
  for (int waited_ms = 0; served.load() < all && waited_ms < 60'000; ++waited_ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    (void)database.numbers();
  }
  for (LoopThread& one : threads) one.loop->stop();
  for (LoopThread& one : threads) one.thread.join();
  CHECK(served.load() == all);
  CHECK(count.most.load() <= static_cast<int>(kCap));
  CHECK(count.open.load() == 0);
  CHECK(database.numbers().connections == 0);
}

}  // namespace
}  // namespace roost::db::test
