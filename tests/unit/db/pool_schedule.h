#pragma once

#include <cstdint>
#include <string>

namespace roost::db::test {

// What a number of schedules did, so that one can see that they did something.
struct ScheduleTally {
  uint64_t works = 0;
  uint64_t statements = 0;
  uint64_t rows = 0;
  uint64_t retried = 0;
  uint64_t killed = 0;
  uint64_t rolled_back = 0;
  uint64_t lost = 0;
  uint64_t timeouts = 0;
  uint64_t queue_timeouts = 0;
  uint64_t refused = 0;  // no place in the queue, nothing to be reached
  uint64_t given_up = 0;
};

// Runs the pools of some loops through one random history of clients, servers and delays, all of it chosen by
// `seed`, beside a model that knows who has what: no connection beyond the cap, none lent to two, nobody
// called after the end, nobody forgotten, no write sent twice, nothing executed that a late kill could hit or
// within a transaction of somebody else's; at the end everything stops in bounded time and nothing is left.
// The answer says what was wrong; empty: nothing.
std::string runSchedule(uint64_t seed, ScheduleTally& tally);

}  // namespace roost::db::test
