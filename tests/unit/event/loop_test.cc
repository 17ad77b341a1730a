#include "event/loop.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "event/task_pool.h"
#include "support/sim_sys.h"

namespace roost::event {
namespace {

using test::Call;
using test::SimSys;

std::unique_ptr<Loop> makeLoop(Sys& sys) {
  auto made = Loop::create(sys, 3);
  REQUIRE(made.ok());
  return std::move(made).value();
}

struct TestTimer final : Timer {
  void onTimer() noexcept override {
    ++fired;
    if (then) then();
  }
  int fired = 0;
  std::function<void()> then;
};

struct FnHandler final : IoHandler {
  void onIo(uint32_t events) noexcept override { then(events); }
  std::function<void(uint32_t)> then;
};

TEST_CASE("loop: tasks run in the order of posting, and one wake-up serves many", "[loop]") {
  SimSys sys;
  const auto loop = makeLoop(sys);
  CHECK(loop->index() == 3);
  std::string ran;
  for (const char c : {'a', 'b', 'c'}) loop->post(makeTask([&ran, c] { ran += c; }));
  CHECK(sys.calls(Call::kEventfdSignal) == 1);
  loop->runOnce(0);
  CHECK(ran == "abc");
  loop->runOnce(0);
  CHECK(ran == "abc");
  loop->post(makeTask([&] {
    ran += 'd';
    loop->post(makeTask([&ran] { ran += 'e'; }));  // from within: the next round
  }));
  loop->runOnce(0);
  CHECK(ran == "abcd");
  loop->runOnce(0);
  CHECK(ran == "abcde");
}

TEST_CASE("loop: a wait that is to be skipped returns at once, and only that one", "[loop]") {
  SimSys sys;
  sys.setAutoAdvance(true);
  const auto loop = makeLoop(sys);
  TestTimer timer;
  loop->armIn(timer, std::chrono::seconds(5));
  const int64_t begin = sys.monotonicNs();
  loop->skipWait();
  CHECK(loop->skipsWait());
  loop->runOnce(-1);
  CHECK(sys.monotonicNs() == begin);
  CHECK(timer.fired == 0);
  CHECK_FALSE(loop->skipsWait());
  loop->runOnce(-1);
  CHECK(sys.monotonicNs() == begin + 5'000'000'000);
  CHECK(timer.fired == 1);
}

TEST_CASE("loop: timers come in time, never early, and cancelled ones never", "[loop]") {
  SimSys sys;
  const auto loop = makeLoop(sys);
  TestTimer a, b;
  loop->armIn(a, std::chrono::milliseconds(10));
  loop->armIn(b, std::chrono::milliseconds(5));
  CHECK(sys.nextTimerNs() == loop->nowNs() + 5'000'000);
  loop->cancel(b);
  sys.advanceNs(9'999'999);
  loop->runOnce(0);  // an early wake-up for the cancelled one
  CHECK(a.fired == 0);
  sys.advanceNs(1);
  loop->runOnce(0);
  CHECK(a.fired == 1);
  CHECK(b.fired == 0);
  CHECK(sys.nextTimerNs() == INT64_MAX);
}

TEST_CASE("loop: a timer that arms itself anew keeps coming, one round apart", "[loop]") {
  SimSys sys;
  const auto loop = makeLoop(sys);
  TestTimer timer;
  timer.then = [&] { loop->armIn(timer, std::chrono::milliseconds(1)); };
  loop->armIn(timer, std::chrono::milliseconds(1));
  for (int i = 1; i <= 20; ++i) {
    sys.advanceMs(1);
    loop->runOnce(0);
    CHECK(timer.fired == i);
  }
  loop->cancel(timer);
}

TEST_CASE("loop: later deadlines cost no system call", "[loop]") {
  SimSys sys;
  const auto loop = makeLoop(sys);
  TestTimer timer;
  loop->armIn(timer, std::chrono::milliseconds(10));
  const uint64_t before = sys.calls(Call::kTimerfdSet);
  for (int i = 11; i < 100; ++i) loop->armIn(timer, std::chrono::milliseconds(i));
  CHECK(sys.calls(Call::kTimerfdSet) == before);
  sys.advanceMs(10);
  loop->runOnce(0);
  CHECK(timer.fired == 0);
  sys.advanceMs(89);
  loop->runOnce(0);
  CHECK(timer.fired == 1);
}

TEST_CASE("loop: the first handler goes first, the batch's end comes last", "[loop]") {
  SimSys sys;
  const auto loop = makeLoop(sys);
  std::string order;
  FnHandler plain, first;
  plain.then = [&](uint32_t) { order += 'p'; };
  first.then = [&](uint32_t) { order += 'f'; };
  const int a = sys.eventfdCreate();
  const int b = sys.eventfdCreate();
  REQUIRE(loop->add(a, EPOLLIN | EPOLLET, plain).ok());
  REQUIRE(loop->add(b, EPOLLIN | EPOLLET, first).ok());
  const auto end = makeTask([&order] { order += '.'; });
  loop->setFirst(&first);
  loop->setAfterBatch(end.get());
  for (int round = 0; round < 4; ++round) {
    sys.eventfdSignal(a);
    sys.eventfdSignal(b);
    loop->runOnce(0);
  }
  CHECK(order == "fp.fp.fp.fp.");
  loop->setFirst(nullptr);
  loop->setAfterBatch(nullptr);
  loop->remove(a);
  sys.eventfdSignal(a);
  sys.eventfdSignal(b);
  loop->runOnce(0);
  CHECK(order == "fp.fp.fp.fp.f");
}

TEST_CASE("loop: what is destroyed may have something else destroyed", "[loop]") {
  SimSys sys;
  const auto loop = makeLoop(sys);
  struct Chain {
    Chain(Loop& on, int& gone, int depth) : loop_(&on), gone_(&gone), depth_(depth) {}
    Chain(Chain&& other) noexcept
        : loop_(std::exchange(other.loop_, nullptr)), gone_(other.gone_), depth_(other.depth_) {}
    Chain(const Chain&) = delete;
    ~Chain() {
      if (loop_ == nullptr) return;
      ++*gone_;
      if (depth_ == 0) return;
      for (int i = 0; i < 3; ++i)
        loop_->destroyLater(makeTask([next = Chain(*loop_, *gone_, depth_ - 1)] {}));
    }
    Loop* loop_;
    int* gone_;
    int depth_;
  };
  int gone = 0;
  loop->destroyLater(makeTask([chain = Chain(*loop, gone, 4)] {}));
  CHECK(gone == 0);
  loop->runOnce(0);
  CHECK(gone == 1 + 3 + 9 + 27 + 81);
}

TEST_CASE("loop: an interrupted wait is no event", "[loop]") {
  SimSys sys;
  const auto loop = makeLoop(sys);
  int ran = 0;
  loop->post(makeTask([&ran] { ++ran; }));
  sys.failNth(Call::kEpollWait, 1, EINTR);
  loop->runOnce(0);
  CHECK(ran == 0);
  loop->runOnce(0);
  CHECK(ran == 1);
}

TEST_CASE("loop: failing to be made says why and leaks nothing", "[loop]") {
  for (size_t limit = 0; limit < 3; ++limit) {
    SimSys sys;
    sys.setFdLimit(limit);
    const auto made = Loop::create(sys, 0);
    CHECK_FALSE(made.ok());
    CHECK(made.status().sysErrno() == EMFILE);
    CHECK(sys.openFds() == 0);
  }
}

TEST_CASE("loop: tasks that were never run are destroyed with it", "[loop]") {
  SimSys sys;
  auto loop = makeLoop(sys);
  auto held = std::make_shared<int>(1);
  loop->post(makeTask([held] {}));
  loop->destroyLater(makeTask([held] {}));
  CHECK(held.use_count() == 3);
  loop.reset();
  CHECK(held.use_count() == 1);
  CHECK(sys.openFds() == 0);
}

TEST_CASE("loop: posts of several threads arrive, all and in each one's order", "[loop][threads]") {
  const auto loop = makeLoop(realSys());
  constexpr int kThreads = 4;
  constexpr int kPosts = 5000;
  std::vector<int> last(kThreads, -1);
  int total = 0;
  bool in_order = true;
  std::thread runner([&] { loop->run(); });
  std::vector<std::thread> posters;
  std::atomic<int> done{0};
  for (int t = 0; t < kThreads; ++t) {
    posters.emplace_back([&, t] {
      for (int n = 0; n < kPosts; ++n) {
        loop->post(makeTask([&, t, n] {
          in_order = in_order && last[static_cast<size_t>(t)] == n - 1;
          last[static_cast<size_t>(t)] = n;
          ++total;
        }));
      }
      if (done.fetch_add(1) == kThreads - 1) loop->post(makeTask([&loop] { loop->stop(); }));
    });
  }
  for (std::thread& poster : posters) poster.join();
  runner.join();
  CHECK(total == kThreads * kPosts);
  CHECK(in_order);
}

TEST_CASE("loop: timers and wake-ups on the real kernel", "[loop][threads]") {
  const auto loop = makeLoop(realSys());
  TestTimer timer;
  const int64_t begun = loop->nowNs();
  int64_t at = 0;
  timer.then = [&] {
    at = loop->nowNs();
    loop->stop();
  };
  loop->armIn(timer, std::chrono::milliseconds(3));
  loop->run();
  CHECK(timer.fired == 1);
  CHECK(at - begun >= 3'000'000);
}

TEST_CASE("task pool: runs what it takes, refuses when full or ended", "[tasks][threads]") {
  std::unique_ptr<Task> task = makeTask([] {});
  TaskPool none(0, 10);
  CHECK_FALSE(none.submit(task));
  CHECK(task != nullptr);

  TaskPool pool(1, 2);
  std::mutex gate;
  std::atomic<int> ran{0};
  std::atomic<bool> started{false};
  gate.lock();
  task = makeTask([&] {
    started = true;
    const std::lock_guard<std::mutex> wait(gate);
    ++ran;
  });
  REQUIRE(pool.submit(task));
  while (!started) std::this_thread::yield();
  for (int i = 0; i < 2; ++i) {
    task = makeTask([&ran] { ++ran; });
    CHECK(pool.submit(task));
  }
  task = makeTask([&ran] { ++ran; });
  CHECK_FALSE(pool.submit(task));  // full
  CHECK(task != nullptr);
  gate.unlock();
  pool.stop();
  CHECK(ran == 3);  // what was queued has run
  CHECK_FALSE(pool.submit(task));
  pool.stop();
}

TEST_CASE("task pool: work goes out and comes back by post", "[tasks][threads]") {
  const auto loop = makeLoop(realSys());
  TaskPool pool(3, 1000);
  int back = 0;
  constexpr int kTasks = 500;
  for (int i = 0; i < kTasks; ++i) {
    std::unique_ptr<Task> task = makeTask([&] {
      loop->post(makeTask([&] {
        if (++back == kTasks) loop->stop();
      }));
    });
    REQUIRE(pool.submit(task));
  }
  loop->run();
  pool.stop();
  CHECK(back == kTasks);
}

}  // namespace
}  // namespace roost::event
