#include "unit/push/hub_schedule.h"

#include <catch2/catch.hpp>
#include <cstdlib>

namespace roost::push::test {
namespace {

// One thread: nothing for ThreadSanitizer to see, at thirty times the price.
#ifdef __SANITIZE_THREAD__
constexpr uint64_t kCount = 500;
#else
constexpr uint64_t kCount = 30'000;
#endif

void runSchedules(uint64_t first, uint64_t count) {
  ScheduleTally tally;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string wrong = runSchedule(seed, tally);
    INFO("ROOST_SCHEDULE=" << seed << " runs this one alone");
    REQUIRE(wrong == "");
  }
  WARN(count << " schedules: " << tally.messages << " messages, " << tally.delivered << " deliveries, "
             << tally.resumed << " resumed, " << tally.gaps << " gaps (" << tally.lagged << " of the slow), "
             << tally.ended << " ended, " << tally.refused << " refused, " << tally.queued << " queued");
}

TEST_CASE("push: nothing is lost, told twice or out of order, whatever the loops do") {
  if (const char* seed = std::getenv("ROOST_SCHEDULE"))
    runSchedules(std::strtoull(seed, nullptr, 10), 1);
  else
    runSchedules(1, kCount);
}

TEST_CASE("push: a million schedules", "[.][schedules]") {
  runSchedules(1, 1'000'000);
}

}  // namespace
}  // namespace roost::push::test
