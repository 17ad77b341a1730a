#include "modules/basic_auth/outcome_cache.h"

#include <algorithm>

namespace roost::modules::basic_auth {

OutcomeCache::Outcome OutcomeCache::find(const OutcomeKey& key, uint64_t generation, int64_t now_ns,
                                         int64_t max_age_ns) const noexcept {
  if (entries_.empty()) return Outcome::kUnknown;
  const Entry* set = &entries_[key.low % kSets * kWays];
  for (const Entry* entry = set; entry != set + kWays; ++entry) {
    if (!(entry->key == key) || entry->generation != generation) continue;
    const bool fails = entry->outcome == Outcome::kFails;
    const int64_t limit_ns = fails ? std::min(max_age_ns, kFailureNs) : max_age_ns;
    return now_ns - entry->made_ns < limit_ns ? entry->outcome : Outcome::kUnknown;
  }
  return Outcome::kUnknown;
}

void OutcomeCache::put(const OutcomeKey& key, uint64_t generation, int64_t now_ns, bool fits) {
  if (entries_.empty()) entries_.resize(kSets * kWays);
  Entry* set = &entries_[key.low % kSets * kWays];
  const auto worth = [&key](const Entry& entry) {  // what to part with first
    if (entry.key == key || entry.outcome == Outcome::kUnknown) return 0;
    return entry.outcome == Outcome::kFails ? 1 : 2;
  };
  Entry* place = std::min_element(set, set + kWays, [&](const Entry& a, const Entry& b) {
    return worth(a) != worth(b) ? worth(a) < worth(b) : a.made_ns < b.made_ns;
  });
  if (!fits && worth(*place) == 2) return;
  *place = {key, generation, now_ns, fits ? Outcome::kFits : Outcome::kFails};
}

}  // namespace roost::modules::basic_auth
