#pragma once

#include <cstdint>
#include <string>

namespace roost::push::test {

// What a number of schedules did, so that one can see that they did something.
struct ScheduleTally {
  uint64_t messages = 0;  // published
  uint64_t delivered = 0;
  uint64_t resumed = 0;  // subscriptions that went on behind an id, without a gap
  uint64_t gaps = 0;
  uint64_t lagged = 0;  // of those, told to one who was slow
  uint64_t ended = 0;
  uint64_t refused = 0;  // publications and subscriptions
  uint64_t queued = 0;   // publications that waited for room, and were made
};

// Runs a hub through one random history of loops, delays and clients, all of it chosen by `seed`, beside a
// model that knows every message: each subscriber gets exactly what it must, in order, none twice; what it
// does not get is told, with the right count, and was really gone; what a publisher asks for is published in
// its order, or refused when it has waited for its time; counts are exact; at the end nothing is left. The
// answer says what was wrong; empty: nothing.
std::string runSchedule(uint64_t seed, ScheduleTally& tally);

}  // namespace roost::push::test
