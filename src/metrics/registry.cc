#include "metrics/registry.h"

#include <cassert>

namespace roost::metrics {

Registry::~Registry() = default;

Registry::Metric& Registry::metricFor(const Description& description, const Labels& labels, Kind kind) {
  Family* family = nullptr;
  for (const auto& known : families_) {
    if (known->description.name == description.name) family = known.get();
  }
  if (family == nullptr) {
    families_.push_back(std::make_unique<Family>(Family{description, kind, {}}));
    family = families_.back().get();
  }
  assert(family->kind == kind);
  for (const auto& metric : family->metrics) {
    if (metric->labels == labels) return *metric;
  }
  family->metrics.push_back(std::make_unique<Metric>());
  family->metrics.back()->labels = labels;
  return *family->metrics.back();
}

const Registry::Metric* Registry::find(std::string_view name, const Labels& labels) const {
  for (const auto& family : families_) {
    if (family->description.name != name) continue;
    for (const auto& metric : family->metrics) {
      if (metric->labels == labels) return metric.get();
    }
  }
  return nullptr;
}

template <class Shard, class... Args>
Shard& Registry::addShard(std::vector<std::unique_ptr<Shard>>& shards, Args&&... args) {
  shards.push_back(std::make_unique<Shard>(std::forward<Args>(args)...));
  return *shards.back();
}

Counter& Registry::counter(const Description& description, const Labels& labels) {
  const std::lock_guard<std::mutex> guard(lock_);
  return addShard(metricFor(description, labels, Kind::kCounter).counters);
}

Gauge& Registry::gauge(const Description& description, const Labels& labels) {
  const std::lock_guard<std::mutex> guard(lock_);
  return addShard(metricFor(description, labels, Kind::kGauge).gauges);
}

Histogram& Registry::histogram(const Description& description, uint64_t max_value, const Labels& labels,
                               unsigned significant_bits) {
  const std::lock_guard<std::mutex> guard(lock_);
  return addShard(metricFor(description, labels, Kind::kHistogram).histograms, max_value, significant_bits);
}

uint64_t Registry::counterValue(std::string_view name, const Labels& labels) const {
  const std::lock_guard<std::mutex> guard(lock_);
  const Metric* metric = find(name, labels);
  return metric != nullptr ? metric->counterSum() : 0;
}

int64_t Registry::gaugeValue(std::string_view name, const Labels& labels) const {
  const std::lock_guard<std::mutex> guard(lock_);
  const Metric* metric = find(name, labels);
  return metric != nullptr ? metric->gaugeSum() : 0;
}

std::unique_ptr<Histogram> Registry::histogramValue(std::string_view name, const Labels& labels) const {
  const std::lock_guard<std::mutex> guard(lock_);
  const Metric* metric = find(name, labels);
  return metric != nullptr ? metric->merged() : nullptr;
}

uint64_t Registry::Metric::counterSum() const noexcept {
  uint64_t sum = 0;
  for (const auto& shard : counters) sum += shard->value();
  return sum;
}

int64_t Registry::Metric::gaugeSum() const noexcept {
  int64_t sum = 0;
  for (const auto& shard : gauges) sum += shard->value();
  return sum;
}

std::unique_ptr<Histogram> Registry::Metric::merged() const {
  if (histograms.empty()) return nullptr;
  auto sum =
      std::make_unique<Histogram>(histograms.front()->maxValue(), histograms.front()->significantBits());
  for (const auto& shard : histograms) sum->merge(*shard);
  return sum;
}

}  // namespace roost::metrics
