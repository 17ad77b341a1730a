// All the process's metrics: named families, one shard of each per loop, summed when read.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "metrics/counter.h"
#include "metrics/histogram.h"

namespace roost::metrics {

using Labels = std::vector<std::pair<std::string, std::string>>;

// What a metric is called and means. The name is Prometheus': letters, digits and underscores, the unit and
// then "_total" (of counters) at its end. The same name may be asked for with several label sets.
struct Description {
  std::string name;  // "roost_http_response_bytes_total"
  std::string help;  // one sentence
  std::string unit;  // "bytes", "seconds", "" for mere numbers
};

// Owned by the server, made before the loops, outlives them. Any thread may ask for a shard or read; the lock
// is not on the path of a count: a loop asks for its shards when it starts and keeps the references, which
// stay valid as long as the registry lives. Each call of counter(), gauge() or histogram() makes a shard of
// its own, on cache lines of its own; shards of the same name and labels are one metric to a reader. A shard
// of a loop that ended keeps its value.
class Registry {
 public:
  Registry() = default;
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;
  ~Registry();

  // REQUIRES: a name stands for one kind, and histograms of one name have one range.
  Counter& counter(const Description& description, const Labels& labels = {});
  Gauge& gauge(const Description& description, const Labels& labels = {});
  Histogram& histogram(const Description& description, uint64_t max_value, const Labels& labels = {},
                       unsigned significant_bits = Histogram::kDefaultSignificantBits);

  // The sum over all shards; 0 or null when there is no such metric. Shards are read one after the other
  // while their loops go on: a sum is at least what it was before the call and at most what it is after it
  // (counters).
  uint64_t counterValue(std::string_view name, const Labels& labels = {}) const;
  int64_t gaugeValue(std::string_view name, const Labels& labels = {}) const;
  std::unique_ptr<Histogram> histogramValue(std::string_view name, const Labels& labels = {}) const;

  // One metric as a reader sees it, for exposition.
  struct Reading {
    const Description& description;
    const Labels& labels;
    std::variant<uint64_t, int64_t, const Histogram*> value;  // counter, gauge, histogram (merged)
  };
  // Calls visit(Reading) for every metric, families in the order in which they were first asked for. The lock
  // is held: the visitor must not come back to the registry. What it is given ends with the call.
  template <class Visitor>
  void forEach(Visitor&& visit) const;

 private:
  struct Metric;
  struct Family;

  enum class Kind : uint8_t { kCounter, kGauge, kHistogram };

  Metric& metricFor(const Description& description, const Labels& labels, Kind kind);
  const Metric* find(std::string_view name, const Labels& labels) const;
  template <class Shard, class... Args>
  static Shard& addShard(std::vector<std::unique_ptr<Shard>>& shards, Args&&... args);

  mutable std::mutex lock_;
  std::vector<std::unique_ptr<Family>> families_;
};

// One name and label set. Shards stand alone on their cache lines, so that loops do not disturb each other.
struct Registry::Metric {
  struct alignas(64) CounterShard : Counter {};
  struct alignas(64) GaugeShard : Gauge {};
  struct alignas(64) HistogramShard : Histogram {
    using Histogram::Histogram;
  };

  uint64_t counterSum() const noexcept;
  int64_t gaugeSum() const noexcept;
  std::unique_ptr<Histogram> merged() const;

  Labels labels;
  std::vector<std::unique_ptr<CounterShard>> counters;
  std::vector<std::unique_ptr<GaugeShard>> gauges;
  std::vector<std::unique_ptr<HistogramShard>> histograms;
};

struct Registry::Family {
  Description description;
  Kind kind;
  std::vector<std::unique_ptr<Metric>> metrics;
};

template <class Visitor>
void Registry::forEach(Visitor&& visit) const {
  const std::lock_guard<std::mutex> guard(lock_);
  for (const auto& family : families_) {
    for (const auto& metric : family->metrics) {
      switch (family->kind) {
        case Kind::kCounter:
          visit(Reading{family->description, metric->labels, metric->counterSum()});
          break;
        case Kind::kGauge:
          visit(Reading{family->description, metric->labels, metric->gaugeSum()});
          break;
        case Kind::kHistogram: {
          const std::unique_ptr<Histogram> merged = metric->merged();
          visit(Reading{family->description, metric->labels, static_cast<const Histogram*>(merged.get())});
          break;
        }
      }
    }
  }
}

}  // namespace roost::metrics
