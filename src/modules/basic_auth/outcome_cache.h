#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roost::modules::basic_auth {

// A name and a password, hashed with a secret key.
struct OutcomeKey {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const OutcomeKey& other) const noexcept { return low == other.low && high == other.high; }
};

// What verifications came to, so that a client that asks a thousand times is verified once. A fixed number of
// entries; when there is no room a failure makes way before a success, and the older before the newer: who
// guesses does not drive those out who know. One loop's; loop thread.
class OutcomeCache {
 public:
  static constexpr size_t kWays = 4;
  static constexpr size_t kSets = 1024;
  static constexpr int64_t kFailureNs = 3'000'000'000;  // how long a failure counts

  enum class Outcome : uint8_t { kUnknown, kFits, kFails };
  // What `generation` of the users' file came to within the last `max_age_ns`, failures within kFailureNs at
  // most.
  Outcome find(const OutcomeKey& key, uint64_t generation, int64_t now_ns, int64_t max_age_ns) const noexcept;
  void put(const OutcomeKey& key, uint64_t generation, int64_t now_ns, bool fits);

 private:
  struct Entry {
    OutcomeKey key;
    uint64_t generation = 0;
    int64_t made_ns = 0;
    Outcome outcome = Outcome::kUnknown;
  };
  std::vector<Entry> entries_;  // kSets times kWays, once there is one
};

}  // namespace roost::modules::basic_auth
