#pragma once

#include "db/pool.h"
#include "metrics/registry.h"

namespace roost::db {

// One loop's shards of what the pool counts, which it alone writes. They live as long as the registry.
struct PoolCounters {
  explicit PoolCounters(metrics::Registry& registry);
  void addTo(Numbers& numbers) const noexcept;  // any thread

  static constexpr uint64_t kLongestNs = 120'000'000'000;
  static constexpr unsigned kSignificantBits = 5;  // within 6 %, in 4 KiB

  metrics::Gauge& connections;
  metrics::Gauge& in_use;
  metrics::Gauge& waiting;
  metrics::Counter& statements;
  metrics::Counter& prepared;
  metrics::Counter& connects;
  metrics::Counter& connect_failures;
  metrics::Counter& killed;
  metrics::Counter& queue_full;
  metrics::Counter& queue_timeouts;
  metrics::Counter& unavailable;
  metrics::Counter& lost;
  metrics::Counter& retried;
  metrics::Counter& slow_readers;
  metrics::Counter& leaks_reported;
  metrics::Counter& slow_statements;
  // In steps of the loop's clock, which is read once per batch of events.
  metrics::Histogram& wait_ns;
  metrics::Histogram& statement_ns;
};

}  // namespace roost::db
