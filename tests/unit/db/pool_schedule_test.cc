#include "unit/db/pool_schedule.h"

#include <catch2/catch.hpp>
#include <cstdlib>

namespace roost::db::test {
namespace {

// One thread: nothing for ThreadSanitizer to see, at many times the price.
#ifdef __SANITIZE_THREAD__
constexpr uint64_t kCount = 100;
#else
constexpr uint64_t kCount = 1'500;
#endif

void runSchedules(uint64_t first, uint64_t count) {
  ScheduleTally tally;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string wrong = runSchedule(seed, tally);
    INFO("ROOST_SCHEDULE=" << seed << " runs this one alone");
    REQUIRE(wrong == "");
  }
  WARN(count << " schedules: " << tally.works << " works, " << tally.statements << " statements, "
             << tally.rows << " rows, " << tally.retried << " retried, " << tally.killed << " killed, "
             << tally.rolled_back << " rolled back, " << tally.lost << " connections lost, " << tally.timeouts
             << " timeouts, " << tally.queue_timeouts << " waited too long, " << tally.refused << " refused, "
             << tally.given_up << " given up");
}

TEST_CASE("db: nobody is forgotten, nothing is done twice or by two, whatever happens") {
  if (const char* seed = std::getenv("ROOST_SCHEDULE"))
    runSchedules(std::strtoull(seed, nullptr, 10), 1);
  else
    runSchedules(1, kCount);
}

TEST_CASE("db: many schedules", "[.][schedules]") {
  runSchedules(1, 300'000);
}

}  // namespace
}  // namespace roost::db::test
