#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "base/word_sets.h"

namespace roost {

// So many requests in a time, and how many of them may come at once.
struct RateLimit {
  uint32_t requests = 0;
  uint32_t per_s = 0;
  uint32_t burst = 0;

  friend bool operator==(const RateLimit& a, const RateLimit& b) noexcept {
    return a.requests == b.requests && a.per_s == b.per_s && a.burst == b.burst;
  }
};

// Who has asked how often, by a keyed hash: the generic cell rate algorithm over a table of fixed size. Of
// one key at most burst + time * rate requests are admitted in any stretch of time, by all threads together.
// Any thread; no locks, no allocation, one compare-and-swap per admitted request and none per refused one.
//
// A key's state is one word: 22 bits of its hash and the 42-bit time, in ticks, at which all it has been
// granted is paid for. A key that owes nothing needs no state, so an entry whose time has passed is free. The
// tick is a power of two of nanoseconds: at most a millisecond and, where that is a nanosecond or more, at
// most 2^-14 of the time between two requests, so that rounding, in the client's favour, stays below 0.01 %
// up to 60,000 requests per second and 0.1 % beyond. (Longer only where a burst is worth more than 30 years.)
// Where a set is full of entries that are not free, the one that owes least is forgotten: its key starts with
// a full burst again. Who comes from more than `max_keys` addresses can cause that to others, who then are
// limited less, never more.
//
// Two keys of a set that agree in those 22 bits share one budget: one key in two million where a table is
// full. Two threads that see a new key at the same moment may both enter it: one request too many. Times
// wrap after 2^27 requests' worth of time or more (40 hours at 1,000 per second); an entry that lies
// untouched for exactly that long can then count as if just made.
class RateTable {
 public:
  static constexpr uint32_t kMostRequests = 1'000'000;  // and of `burst`
  static constexpr uint32_t kLongestS = 86400;

  // REQUIRES: 1 <= requests and burst <= kMostRequests, 1 <= per_s <= kLongestS, and at least 1 microsecond
  // per request. Errors: no memory.
  static Result<std::unique_ptr<RateTable>> create(const RateLimit& limit, uint64_t max_keys);

  struct Decision {
    bool admitted;
    // What the key owes for earlier requests, as time until that is paid for.
    int64_t debt_ns;
  };
  // Grants a request, or not. `now_ns` is monotonic; threads' clocks may differ by less than ten seconds.
  Decision take(uint64_t key_hash, int64_t now_ns) noexcept;

  // Of a refused request: when one would be admitted, if none comes before. At least 1.
  int64_t retryAfterNs(const Decision& refused) const noexcept;
  // Of an admitted one: how long it would have to wait so that beyond `at_once` requests all come at the
  // plain rate. REQUIRES: at_once >= 1.
  int64_t pacingNs(const Decision& admitted, uint32_t at_once) const noexcept;
  // How many more requests would be admitted right now, after this decision.
  uint32_t left(const Decision& decision) const noexcept;

  const RateLimit& limit() const noexcept { return limit_; }
  size_t bytes() const noexcept { return sets_.bytes(); }
  // Entries that were forgotten while they still owed.
  uint64_t forgotten() const noexcept { return forgotten_.load(std::memory_order_relaxed); }

 private:
  static constexpr unsigned kTimeBits = 42;
  static constexpr uint64_t kTimeMask = (uint64_t{1} << kTimeBits) - 1;
  static constexpr int64_t kSkewNs = 10'000'000'000;

  RateTable(const RateLimit& limit, WordSets sets) noexcept;
  uint64_t debtOf(uint64_t word, uint64_t now) const noexcept;
  int64_t toNs(uint64_t ticks) const noexcept { return static_cast<int64_t>(ticks << shift_); }

  const RateLimit limit_;
  WordSets sets_;
  const unsigned shift_;    // a tick is 2^shift_ ns
  uint64_t interval_ = 0;   // ticks between requests at the plain rate
  uint64_t most_debt_ = 0;  // beyond it no request is admitted
  uint64_t horizon_ = 0;    // times further ahead are long past
  std::atomic<uint64_t> forgotten_{0};
};

}  // namespace roost
