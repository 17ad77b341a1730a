#include "base/low_water.h"

#include <catch2/catch.hpp>
#include <cstdint>

namespace roost {
namespace {

TEST_CASE("low water: what lay spare between two looks is unused", "[low_water]") {
  LowWater low;
  size_t count = 100;                     // given to the store since the beginning
  CHECK(low.look(count, SIZE_MAX) == 0);  // nobody knows yet whether they are needed
  for (int taken = 0; taken < 30; ++taken) low.taken(--count);
  count += 30;
  CHECK(low.look(count, SIZE_MAX) == 70);
  count -= 70;
  CHECK(low.look(count, SIZE_MAX) == 30);  // and nobody has come since
  CHECK(low.look(0, SIZE_MAX) == 0);
}

TEST_CASE("low water: a store that is emptied between two looks keeps all", "[low_water]") {
  LowWater low;
  for (int round = 0; round < 5; ++round) {
    low.taken(0);
    CHECK(low.look(50, SIZE_MAX) == 0);
  }
}

TEST_CASE("low water: much is freed in steps", "[low_water]") {
  LowWater low;
  size_t count = 1000;
  CHECK(low.look(count, 300) == 0);
  for (const size_t step : {300, 300, 300, 100}) {
    REQUIRE(low.look(count, 300) == step);
    count -= step;
  }
  CHECK(count == 0);
  CHECK(low.look(count, 300) == 0);
}

}  // namespace
}  // namespace roost
