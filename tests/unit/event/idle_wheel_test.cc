#include "event/idle_wheel.h"

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace roost::event {
namespace {

struct Node : WheelNode {
  int fired = 0;
  std::function<void(Node&)> then;
};

void expired(WheelNode& node) noexcept {
  auto& mine = static_cast<Node&>(node);
  ++mine.fired;
  if (mine.then) mine.then(mine);
}

TEST_CASE("wheel: random use agrees with a plain list", "[wheel]") {
  constexpr uint32_t kNone = UINT32_MAX;
  IdleWheel wheel(&expired);
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<uint32_t> deadlines(100, kNone);
  std::vector<int> fired(100, 0);
  for (int i = 0; i < 100; ++i) nodes.push_back(std::make_unique<Node>());
  std::mt19937 engine(5);
  const auto random = [&engine] { return static_cast<uint32_t>(engine()); };
  uint32_t now = 0;
  for (int step = 0; step < 60000; ++step) {
    const size_t i = random() % nodes.size();
    const uint32_t what = random() % 10;
    if (what == 0) {
      wheel.remove(*nodes[i]);
      deadlines[i] = kNone;
    } else if (what <= 3) {
      // Mostly small steps, sometimes farther than the wheel is round.
      now += random() % 50 == 0 ? random() % (3 * IdleWheel::kSlots) : random() % 4;
      wheel.advance(now);
      for (size_t k = 0; k < nodes.size(); ++k) {
        if (deadlines[k] > now) continue;
        deadlines[k] = kNone;
        ++fired[k];
      }
      for (size_t k = 0; k < nodes.size(); ++k) REQUIRE(nodes[k]->fired == fired[k]);
    } else {
      // Beyond the horizon too.
      deadlines[i] = now + 1 + (random() % 4 == 0 ? random() % (3 * IdleWheel::kSlots) : random() % 100);
      wheel.set(*nodes[i], deadlines[i]);
    }
    uint32_t armed = 0;
    for (const uint32_t deadline : deadlines) armed += deadline != kNone ? 1 : 0;
    REQUIRE(wheel.size() == armed);
  }
  for (const auto& node : nodes) wheel.remove(*node);
}

TEST_CASE("wheel: callbacks may set themselves and remove others", "[wheel]") {
  IdleWheel wheel(&expired);
  Node a, b, c;
  a.then = [&](Node& self) {
    wheel.set(self, 20);
    wheel.remove(b);
    wheel.set(c, 30);
  };
  wheel.set(a, 10);
  wheel.set(b, 10);
  wheel.set(c, 10);
  wheel.advance(10);
  CHECK(a.fired == 1);
  CHECK(b.fired == 0);
  CHECK(c.fired == 0);
  a.then = nullptr;
  wheel.advance(19);
  CHECK(a.fired == 1);
  wheel.advance(30);
  CHECK(a.fired == 2);
  CHECK(c.fired == 1);
  CHECK(wheel.size() == 0);
}

}  // namespace
}  // namespace roost::event
