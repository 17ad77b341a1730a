// What is counted, as text for a scraper.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "log/options.h"
#include "metrics/registry.h"
#include "push/hub.h"

namespace roost::modules::metrics_page {

enum class Format : uint8_t { kText, kOpenMetrics };

// Content-Type of an answer.
std::string_view contentType(Format format) noexcept;

// Writes families one after the other. Histograms have a bucket for 1, 2 and 5 of each power of ten; a value
// counts in the next one where it lies less than 1.6 % below a bound. What is
// counted in nanoseconds ("..._nanoseconds") is told in seconds ("..._seconds").
class Exposition {
 public:
  explicit Exposition(Format format) noexcept : format_(format) {}

  // A family's metrics come one after the other.
  void add(const metrics::Registry::Reading& reading);
  // What is the hub's alone: who listens and what is delivered, routes count.
  void add(const push::HubNumbers& numbers);
  void add(const log::Stats& stats);
  std::string finish();

 private:
  void begin(const metrics::Description& description, std::string_view type);
  void addSample(std::string_view suffix, const metrics::Labels& labels, std::string_view le,
                 std::string_view value);
  void addHistogram(const metrics::Labels& labels, const metrics::Histogram& histogram);

  const Format format_;
  std::string family_;  // the one under way, by its name in the registry
  std::string name_;    // of its samples, without what they end in
  bool in_seconds_ = false;
  std::string text_;
};

}  // namespace roost::modules::metrics_page
