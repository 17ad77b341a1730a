#include "base/count_table.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

#include "base/sip_hash.h"

using namespace roost;
using Entry = CountTable::Entry;

namespace {

uint64_t key(uint64_t number) {
  return sipHash13(SipKey{3, 4}, {reinterpret_cast<const char*>(&number), sizeof number});
}

std::unique_ptr<CountTable> table(uint64_t keys) {
  return std::move(CountTable::create(keys)).value();
}

}  // namespace

TEST_CASE("count table: up to the limit and back", "[count_table]") {
  const auto counts = table(100);
  CHECK(counts->enter(key(1), 2) == Entry::kCounted);
  CHECK(counts->enter(key(1), 2) == Entry::kCounted);
  CHECK(counts->enter(key(1), 2) == Entry::kRefused);
  CHECK(counts->enter(key(1), 3) == Entry::kCounted);  // places may have limits of their own
  CHECK(counts->enter(key(2), 1) == Entry::kCounted);
  CHECK(counts->count(key(1)) == 3);
  for (int i = 0; i < 3; ++i) counts->leave(key(1));
  CHECK(counts->count(key(1)) == 0);
  CHECK(counts->count(key(2)) == 1);
  CHECK(counts->enter(key(1), 1) == Entry::kCounted);
}

TEST_CASE("count table: a key of zeroes is a key too", "[count_table]") {
  const auto counts = table(100);
  CHECK(counts->enter(0, 1) == Entry::kCounted);
  CHECK(counts->enter(0, 1) == Entry::kRefused);
  counts->leave(0);
  CHECK(counts->count(0) == 0);
}

TEST_CASE("count table: agrees with a map over random comings and goings", "[count_table]") {
  const auto counts = table(4000);
  std::map<uint64_t, uint32_t> model;
  std::vector<uint64_t> inside;
  std::mt19937_64 random(1);  // NOLINT: the same run every time
  for (int i = 0; i < 200000; ++i) {
    if (random() % 2 == 0 || inside.empty()) {
      const uint64_t of = random() % 200;
      const Entry entry = counts->enter(key(of), 8);
      REQUIRE(entry == (model[of] < 8 ? Entry::kCounted : Entry::kRefused));
      if (entry == Entry::kRefused) continue;
      ++model[of];
      inside.push_back(of);
    } else {
      std::swap(inside[random() % inside.size()], inside.back());
      counts->leave(key(inside.back()));
      --model[inside.back()];
      inside.pop_back();
    }
  }
  for (const auto& [of, count] : model) CHECK(counts->count(key(of)) == count);
}

TEST_CASE("count table: without room a new key is let in uncounted", "[count_table]") {
  const auto counts = table(1);  // one set of eight
  for (uint64_t k = 0; k < 8; ++k) REQUIRE(counts->enter(key(k), 1) == Entry::kCounted);
  CHECK(counts->enter(key(8), 1) == Entry::kUncounted);
  for (uint64_t k = 0; k < 8; ++k) CHECK(counts->enter(key(k), 1) == Entry::kRefused);
  counts->leave(key(3));
  CHECK(counts->enter(key(8), 1) == Entry::kCounted);
  CHECK(counts->enter(key(8), 1) == Entry::kRefused);
}
