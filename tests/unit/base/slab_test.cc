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

}  // namespace
}  // namespace roost
