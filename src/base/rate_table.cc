#include "base/rate_table.h"

#include <algorithm>
#include <utility>

namespace roost {
namespace {

constexpr uint64_t kFinestTicks = 1 << 14;  // between two requests
constexpr unsigned kCoarsestShift = 20;     // a millisecond, unless a burst is worth more time than fits
constexpr uint64_t kNsPerS = 1'000'000'000;

unsigned tickShift(const RateLimit& limit, unsigned time_bits) noexcept {
  const uint64_t interval_ns = limit.per_s * kNsPerS / limit.requests;
  const double burst_ns = static_cast<double>(interval_ns) * limit.burst;
  unsigned shift = 0;
  while (shift < kCoarsestShift && interval_ns >> (shift + 1) >= kFinestTicks) ++shift;
  while (burst_ns / static_cast<double>(uint64_t{1} << shift) >=
         static_cast<double>(uint64_t{1} << (time_bits - 2))) {
    ++shift;
  }
  return shift;
}

}  // namespace

Result<std::unique_ptr<RateTable>> RateTable::create(const RateLimit& limit, uint64_t max_keys) {
  auto sets = WordSets::create(max_keys);
  if (!sets.ok()) return sets.status();
  return std::unique_ptr<RateTable>(new RateTable(limit, std::move(sets).value()));
}

RateTable::RateTable(const RateLimit& limit, WordSets sets) noexcept
    : limit_(limit), sets_(std::move(sets)), shift_(tickShift(limit, kTimeBits)) {
  // Rounded down: who keeps to the rate exactly must not be refused.
  interval_ = limit.per_s * kNsPerS / limit.requests >> shift_;
  most_debt_ = (limit.burst - 1) * interval_;
  horizon_ = most_debt_ + interval_ + (static_cast<uint64_t>(kSkewNs) >> shift_);
}

// In ticks; 0: the entry is free.
uint64_t RateTable::debtOf(uint64_t word, uint64_t now) const noexcept {
  const uint64_t ahead = (word - now) & kTimeMask;
  return ahead <= horizon_ ? ahead : 0;
}

RateTable::Decision RateTable::take(uint64_t key_hash, int64_t now_ns) noexcept {
  WordSets::Set& set = sets_.setOf(key_hash);
  const uint64_t now = (static_cast<uint64_t>(now_ns) >> shift_) & kTimeMask;
  const uint64_t low = key_hash & ((uint64_t{1} << (64 - kTimeBits)) - 1);
  const uint64_t tag = (low != 0 ? low : 1) << kTimeBits;  // 0 is an entry never used
  for (;;) {
    size_t place = 0;
    uint64_t word = 0;
    uint64_t debt = UINT64_MAX;
    bool known = false;
    for (size_t i = 0; i < WordSets::kWays && !known; ++i) {
      const uint64_t seen = set.words[i].load(std::memory_order_relaxed);
      const uint64_t owes = debtOf(seen, now);
      known = (seen & ~kTimeMask) == tag;
      if (!known && owes >= debt) continue;
      place = i;
      word = seen;
      debt = owes;
    }
    const uint64_t own = known ? debt : 0;
    if (own > most_debt_) return {false, toNs(own)};
    const uint64_t next = tag | ((now + own + interval_) & kTimeMask);
    if (!set.words[place].compare_exchange_weak(word, next, std::memory_order_relaxed)) continue;
    if (!known && debt > 0) forgotten_.fetch_add(1, std::memory_order_relaxed);
    return {true, toNs(own)};
  }
}

int64_t RateTable::retryAfterNs(const Decision& refused) const noexcept {
  return std::max<int64_t>(1, refused.debt_ns - toNs(most_debt_));
}

int64_t RateTable::pacingNs(const Decision& admitted, uint32_t at_once) const noexcept {
  return std::max<int64_t>(0, admitted.debt_ns - toNs((at_once - 1) * interval_));
}

uint32_t RateTable::left(const Decision& decision) const noexcept {
  const int64_t owed = decision.debt_ns + (decision.admitted ? toNs(interval_) : 0);
  const int64_t room = toNs(most_debt_) - owed;
  return room < 0 ? 0 : static_cast<uint32_t>(room / toNs(interval_)) + 1;
}

}  // namespace roost
