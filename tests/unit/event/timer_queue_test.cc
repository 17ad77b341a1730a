#include "event/timer_queue.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace roost::event {
namespace {

struct TestTimer final : Timer {
  void onTimer() noexcept override {
    ++fired;
    if (then) then();
  }
  int fired = 0;
  std::function<void()> then;
};

TEST_CASE("timers: random use agrees with a plain list", "[timer]") {
  TimerQueue queue;
  std::vector<std::unique_ptr<TestTimer>> timers;
  std::vector<int64_t> deadlines(200, TimerQueue::kNever);
  std::vector<int> fired(200, 0);
  for (int i = 0; i < 200; ++i) timers.push_back(std::make_unique<TestTimer>());
  std::mt19937 random(11);
  int64_t now = 0;
  for (int step = 0; step < 50000; ++step) {
    const size_t i = random() % timers.size();
    switch (random() % 8) {
      case 0:
        queue.cancel(*timers[i]);
        deadlines[i] = TimerQueue::kNever;
        break;
      case 1:
        now += random() % 50;
        queue.expire(now);
        for (size_t k = 0; k < timers.size(); ++k) {
          if (deadlines[k] > now) continue;
          deadlines[k] = TimerQueue::kNever;
          ++fired[k];
        }
        break;
      default:
        deadlines[i] = now + static_cast<int64_t>(random() % 300) - 20;
        queue.arm(*timers[i], deadlines[i]);
    }
    const auto armed =
        std::count_if(deadlines.begin(), deadlines.end(), [](int64_t d) { return d != TimerQueue::kNever; });
    REQUIRE(queue.size() == static_cast<size_t>(armed));
    REQUIRE(queue.nextDeadline() == *std::min_element(deadlines.begin(), deadlines.end()));
    REQUIRE(timers[i]->fired == fired[i]);
    REQUIRE(timers[i]->armed() == (deadlines[i] != TimerQueue::kNever));
  }
}

TEST_CASE("timers: fire in the order of their deadlines", "[timer]") {
  TimerQueue queue;
  std::vector<int> order;
  TestTimer a, b, c;
  a.then = [&] { order.push_back(1); };
  b.then = [&] { order.push_back(2); };
  c.then = [&] { order.push_back(3); };
  queue.arm(c, 30);
  queue.arm(a, 10);
  queue.arm(b, 20);
  queue.expire(25);
  CHECK(order == std::vector<int>{1, 2});
  queue.expire(30);
  CHECK(order == std::vector<int>{1, 2, 3});
}

TEST_CASE("timers: a callback may cancel, move and arm others and itself", "[timer]") {
  TimerQueue queue;
  TestTimer a, b, c;
  a.then = [&] {
    queue.cancel(b);    // due in the same batch: not called any more
    queue.arm(c, 100);  // likewise due: waits for its new time
    queue.arm(a, 0);    // past, but not before the next call
  };
  queue.arm(a, 1);
  queue.arm(b, 2);
  queue.arm(c, 3);
  queue.expire(10);
  CHECK(a.fired == 1);
  CHECK(b.fired == 0);
  CHECK(c.fired == 0);
  a.then = nullptr;
  queue.expire(10);
  CHECK(a.fired == 2);
  queue.expire(100);
  CHECK(c.fired == 1);
  CHECK(queue.size() == 0);
  CHECK(queue.nextDeadline() == TimerQueue::kNever);
}

TEST_CASE("timers: one that is due may go away in another's callback", "[timer]") {
  TimerQueue queue;
  TestTimer a;
  auto b = std::make_unique<TestTimer>();
  a.then = [&] {
    queue.cancel(*b);
    b.reset();
  };
  queue.arm(a, 1);
  queue.arm(*b, 1);
  queue.arm(*b, 2);
  queue.expire(5);
  CHECK(a.fired == 1);
  CHECK(b == nullptr);
}

}  // namespace
}  // namespace roost::event
