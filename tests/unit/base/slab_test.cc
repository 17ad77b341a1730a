#include "base/slab.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <string>

namespace roost {
namespace {

struct Item {
  Item(uint32_t slot_number, std::string text, int& alive)
      : slot(slot_number), value(std::move(text)), count(alive) {
    ++count;
  }
  ~Item() { --count; }
  uint32_t slot;
  std::string value;
  int& count;
};

TEST_CASE("slab: a name outlives its object", "[slab]") {
  int alive = 0;
  Slab<Item, 4> slab;
  Item& first = slab.emplace("a", alive);
  const uint32_t slot = first.slot;
  const uint32_t generation = slab.generation(slot);
  CHECK(slab.find(slot, generation) == &first);
  CHECK(slab.find(slot, generation + 1) == nullptr);
  CHECK(slab.find(99, 0) == nullptr);
  slab.erase(slot);
  CHECK(alive == 0);
  CHECK(slab.find(slot, generation) == nullptr);
  Item& second = slab.emplace("b", alive);
  CHECK(second.slot == slot);  // the slot is used again
  CHECK(slab.find(slot, generation) == nullptr);
  CHECK(slab.find(slot, slab.generation(slot)) == &second);
}

TEST_CASE("slab: random use agrees with a map, and addresses stay", "[slab]") {
  int alive = 0;
  {
    Slab<Item, 8> slab;
    std::map<uint32_t, std::pair<Item*, std::string>> model;
    std::set<std::pair<uint32_t, uint32_t>> dead;
    std::mt19937 random(7);
    for (int step = 0; step < 20000; ++step) {
      if (model.empty() || random() % 5 < 3) {
        const std::string text = std::to_string(step);
        Item& item = slab.emplace(text, alive);
        REQUIRE(model.count(item.slot) == 0);
        model[item.slot] = {&item, text};
      } else {
        const auto victim = std::next(model.begin(), static_cast<int>(random() % model.size()));
        dead.emplace(victim->first, slab.generation(victim->first));
        slab.erase(victim->first);
        model.erase(victim);
      }
      REQUIRE(slab.size() == model.size());
    }
    size_t wrong = 0;
    for (const auto& [slot, entry] : model) {
      Item* found = slab.find(slot, slab.generation(slot));
      if (found != entry.first || found->value != entry.second) ++wrong;
    }
    for (const auto& [slot, generation] : dead) {
      if (slab.find(slot, generation) != nullptr) ++wrong;
    }
    CHECK(wrong == 0);
    CHECK(alive == static_cast<int>(model.size()));
    slab.forEach([&](Item& item) { slab.erase(item.slot); });
    CHECK(slab.size() == 0);
    CHECK(alive == 0);
    slab.emplace("left behind", alive);
  }
  CHECK(alive == 0);
}

struct Small {
  Small(uint32_t, uint64_t number) : value(number) {}
  uint64_t value;
};

TEST_CASE("slab: emptied blocks are given back, but for one", "[slab]") {
  Slab<Small, 4> slab;
  const size_t block = [] {
    Slab<Small, 4> one;
    one.emplace(0);
    return one.heldBytes();
  }();
  for (uint64_t i = 0; i < 4 * 100; ++i) slab.emplace(i);
  CHECK(slab.heldBytes() == 100 * block);
  CHECK(slab.reusableBytes() == 0);
  CHECK(slab.slotLimit() == 400);
  for (uint32_t slot = 0; slot < 400; ++slot) slab.erase(slot);
  CHECK(slab.heldBytes() == block);
  CHECK(slab.reusableBytes() == block);
  CHECK(slab.slotLimit() == 4);
  // At the edge of a block nothing is taken and given in turn.
  for (int i = 0; i < 10; ++i) {
    const uint32_t slot = Slab<Small, 4>::slotOf(slab.emplace(1));
    CHECK(slab.heldBytes() == block);
    slab.erase(slot);
  }
}

TEST_CASE("slab: one object in a block keeps that block alone, and its room is used first", "[slab]") {
  Slab<Small, 4> slab;
  for (uint64_t i = 0; i < 400; ++i) slab.emplace(i);
  const size_t block = slab.heldBytes() / 100;
  for (uint32_t slot = 0; slot < 400; ++slot) {
    if (slot % 40 != 7) slab.erase(slot);
  }
  CHECK(slab.size() == 10);
  CHECK(slab.heldBytes() <= 11 * block);
  const size_t held = slab.heldBytes();
  const size_t room = slab.reusableBytes() / (block / 4);
  CHECK(room >= 30);
  for (size_t i = 0; i < room; ++i) slab.emplace(i);
  CHECK(slab.heldBytes() == held);
  CHECK(slab.reusableBytes() == 0);
  slab.emplace(1);
  CHECK(slab.heldBytes() == held + block);
}

TEST_CASE("slab: a new object goes to the lowest block with room", "[slab]") {
  Slab<Small, 4> slab;
  for (uint64_t i = 0; i < 40; ++i) slab.emplace(i);
  slab.erase(37);
  slab.erase(21);
  slab.erase(2);
  CHECK(Slab<Small, 4>::slotOf(slab.emplace(1)) == 2);
  CHECK(Slab<Small, 4>::slotOf(slab.emplace(1)) == 21);
  CHECK(Slab<Small, 4>::slotOf(slab.emplace(1)) == 37);
  CHECK(Slab<Small, 4>::slotOf(slab.emplace(1)) == 40);
}

TEST_CASE("slab: a name stays stale when its block was given back and made anew", "[slab]") {
  Slab<Small, 4> slab;
  std::set<std::pair<uint32_t, uint32_t>> dead;
  for (int round = 0; round < 50; ++round) {
    for (uint64_t i = 0; i < 40; ++i) slab.emplace(i);
    for (const auto& [slot, generation] : dead) REQUIRE(slab.find(slot, generation) == nullptr);
    for (uint32_t slot = 0; slot < 40; ++slot) {
      dead.emplace(slot, slab.generation(slot));
      slab.erase(slot);
    }
    for (const auto& [slot, generation] : dead) REQUIRE(slab.find(slot, generation) == nullptr);
  }
  CHECK(dead.size() == 50 * 40);
}

TEST_CASE("slab: random bursts agree with a model, and memory follows the objects", "[slab]") {
  Slab<Small, 8> slab;
  std::map<uint32_t, std::pair<uint32_t, uint64_t>> model;  // slot -> generation, value
  std::mt19937 random(11);
  for (int burst = 0; burst < 60; ++burst) {
    const size_t top = random() % 3000;
    while (model.size() < top) {
      const uint64_t value = random();
      const uint32_t slot = Slab<Small, 8>::slotOf(slab.emplace(value));
      REQUIRE(model.emplace(slot, std::make_pair(slab.generation(slot), value)).second);
    }
    const size_t stay = 1 + random() % 100;
    for (auto it = model.begin(); it != model.end();) {
      if (random() % stay == 0) {
        ++it;
        continue;
      }
      const auto [slot, entry] = *it;
      slab.erase(slot);
      REQUIRE(slab.find(slot, entry.first) == nullptr);
      it = model.erase(it);
    }
    REQUIRE(slab.size() == model.size());
    std::set<uint32_t> blocks;
    size_t wrong = 0;
    for (const auto& [slot, entry] : model) {
      blocks.insert(slot / 8);
      const Small* found = slab.find(slot, entry.first);
      if (found == nullptr || found->value != entry.second) ++wrong;
    }
    REQUIRE(wrong == 0);
    const size_t block = slab.heldBytes() == 0 ? 0
                                               : (slab.heldBytes() - slab.reusableBytes()) /
                                                     std::max<size_t>(1, slab.size()) * 8;
    if (!model.empty()) REQUIRE(slab.heldBytes() <= (blocks.size() + 1) * block);
    size_t visited = 0;
    slab.forEach([&](Small& object) {
      ++visited;
      if (model.at(Slab<Small, 8>::slotOf(object)).second != object.value) ++wrong;
    });
    REQUIRE(visited == model.size());
    REQUIRE(wrong == 0);
  }
}

}  // namespace
}  // namespace roost
