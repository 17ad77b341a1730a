#include "base/lowest_set.h"

#include <catch2/catch.hpp>
#include <random>
#include <set>

namespace roost {
namespace {

TEST_CASE("lowest set: agrees with std::set", "[lowest_set]") {
  LowestSet set;
  CHECK(set.lowest() == LowestSet::kNone);
  set.reserve(1000);
  std::set<uint32_t> model;
  std::mt19937 random(3);
  for (int step = 0; step < 20000; ++step) {
    const auto number = static_cast<uint32_t>(random() % 1000);
    if (random() % 2 == 0) {
      set.insert(number);
      model.insert(number);
    } else {
      set.erase(number);
      model.erase(number);
    }
    REQUIRE(set.lowest() == (model.empty() ? LowestSet::kNone : *model.begin()));
  }
}

TEST_CASE("lowest set: room is made without losing what is there", "[lowest_set]") {
  LowestSet set;
  set.reserve(1);
  set.insert(0);
  set.reserve(65);
  set.insert(64);
  set.erase(0);
  CHECK(set.lowest() == 64);
  set.reserve(10);
  CHECK(set.lowest() == 64);
}

}  // namespace
}  // namespace roost
