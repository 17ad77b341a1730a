#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "metrics/counter.h"
#include "metrics/histogram.h"
#include "metrics/registry.h"

namespace roost::metrics {
namespace {

const Description kRequests{"requests_total", "Requests answered.", ""};
const Description kOpen{"connections", "Connections open.", ""};
const Description kTime{"request_seconds", "Time to answer.", "seconds"};

}  // namespace

TEST_CASE("counters and gauges") {
  Counter counter;
  counter.add();
  counter.add(41);
  CHECK(counter.value() == 42);
  Gauge gauge;
  gauge.add(5);
  gauge.sub(7);
  CHECK(gauge.value() == -2);
  gauge.set(9);
  CHECK(gauge.value() == 9);
}

TEST_CASE("histogram buckets cover every value once and are as narrow as promised") {
  for (const unsigned bits : {1U, 3U, 7U, 12U}) {
    const Histogram histogram(uint64_t{1} << 40, bits);
    uint64_t next = 0;
    for (size_t i = 0; i < histogram.bucketCount(); ++i) {
      const uint64_t low = histogram.bucketLow(i), high = histogram.bucketHigh(i);
      REQUIRE(low == next);
      REQUIRE(high >= low);
      REQUIRE(histogram.indexOf(low) == i);
      REQUIRE(histogram.indexOf(high) == i);
      REQUIRE((high - low) <= (low >> (bits - 1)));
      next = high + 1;
    }
    REQUIRE(next > uint64_t{1} << 40);
  }
}

TEST_CASE("histogram covers the whole range of 64 bits") {
  Histogram histogram(UINT64_MAX, 5);
  histogram.record(UINT64_MAX);
  histogram.record(0);
  CHECK(histogram.count() == 2);
  CHECK(histogram.max() == UINT64_MAX);
  CHECK(histogram.percentile(100) == UINT64_MAX);
  CHECK(histogram.percentile(50) == 0);
}

TEST_CASE("histogram percentiles are exact for small values") {
  Histogram histogram(1'000'000, 7);
  CHECK(histogram.percentile(99) == 0);
  for (uint64_t value = 1; value <= 100; ++value) histogram.record(value);
  CHECK(histogram.count() == 100);
  CHECK(histogram.sum() == 5050);
  CHECK(histogram.percentile(0) == 1);
  CHECK(histogram.percentile(50) == 50);
  CHECK(histogram.percentile(99) == 99);
  CHECK(histogram.percentile(100) == 100);
  CHECK(histogram.countUpTo(10) == 10);
}

TEST_CASE("histogram percentiles of large values err by the bucket's width, upwards only") {
  Histogram histogram(10'000'000'000, 7);
  std::mt19937_64 random(7);
  std::vector<uint64_t> values;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(random() % 1'000'000'000);
    histogram.record(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double percent : {1.0, 25.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
    const auto rank = static_cast<size_t>(std::max(1.0, std::ceil(percent / 100 * 20'000)));
    const uint64_t exact = values[rank - 1];
    const uint64_t told = histogram.percentile(percent);
    CHECK(told >= exact);
    CHECK(told <= exact + exact / 64);
  }
}

TEST_CASE("histogram keeps values beyond its range") {
  Histogram histogram(1000, 7);
  histogram.record(5);
  histogram.record(1'000'000, 3);
  CHECK(histogram.count() == 4);
  CHECK(histogram.max() == 1'000'000);
  CHECK(histogram.sum() == 3'000'005);
  CHECK(histogram.percentile(99) == 1'000'000);
  CHECK(histogram.countUpTo(1'000) == 1);
  CHECK(histogram.countUpTo(1'000'000) == 4);
}

TEST_CASE("histograms merge and reset") {
  Histogram a(100'000, 7), b(100'000, 7), both(100'000, 7);
  for (uint64_t i = 0; i < 1000; ++i) {
    (i % 3 == 0 ? a : b).record(i * 37);
    both.record(i * 37);
  }
  a.merge(b);
  CHECK(a.count() == both.count());
  CHECK(a.sum() == both.sum());
  CHECK(a.max() == both.max());
  for (const double percent : {10.0, 50.0, 99.0}) CHECK(a.percentile(percent) == both.percentile(percent));
  a.reset();
  CHECK(a.count() == 0);
  CHECK(a.max() == 0);
}

TEST_CASE("registry sums shards by name and labels") {
  Registry registry;
  Counter& first = registry.counter(kRequests, {{"code", "200"}});
  Counter& second = registry.counter(kRequests, {{"code", "200"}});
  Counter& other = registry.counter(kRequests, {{"code", "404"}});
  CHECK(&first != &second);
  first.add(3);
  second.add(4);
  other.add(1);
  CHECK(registry.counterValue("requests_total", {{"code", "200"}}) == 7);
  CHECK(registry.counterValue("requests_total", {{"code", "404"}}) == 1);
  CHECK(registry.counterValue("requests_total") == 0);
  registry.gauge(kOpen).add(5);
  registry.gauge(kOpen).sub(2);
  CHECK(registry.gaugeValue("connections") == 3);
  registry.histogram(kTime, 1000).record(10);
  registry.histogram(kTime, 1000).record(20);
  const auto merged = registry.histogramValue("request_seconds");
  REQUIRE(merged);
  CHECK(merged->count() == 2);
  CHECK(merged->sum() == 30);
  CHECK(registry.histogramValue("nothing") == nullptr);
}

TEST_CASE("registry is read metric by metric in the order of the families") {
  Registry registry;
  registry.counter(kRequests, {{"code", "200"}}).add(2);
  registry.histogram(kTime, 1000).record(7);
  registry.counter(kRequests, {{"code", "404"}}).add(3);
  std::string seen;
  registry.forEach([&seen](const Registry::Reading& reading) {
    seen += reading.description.name;
    if (!reading.labels.empty()) seen += "{" + reading.labels[0].second + "}";
    if (const auto* count = std::get_if<uint64_t>(&reading.value)) seen += "=" + std::to_string(*count);
    if (const auto* histogram = std::get_if<const Histogram*>(&reading.value)) {
      seen += "#" + std::to_string((*histogram)->count());
    }
    seen += ' ';
  });
  CHECK(seen == "requests_total{200}=2 requests_total{404}=3 request_seconds#1 ");
}

TEST_CASE("loops count while another thread reads") {
  constexpr uint64_t kLoops = 3, kEach = 50'000;
  Registry registry;
  std::atomic<uint64_t> running{kLoops};
  std::vector<std::thread> loops;
  for (uint64_t i = 0; i < kLoops; ++i) {
    loops.emplace_back([&] {
      Counter& requests = registry.counter(kRequests);
      Histogram& time = registry.histogram(kTime, 1'000'000);
      for (uint64_t n = 0; n < kEach; ++n) {
        requests.add();
        time.record(n);
      }
      --running;
    });
  }
  uint64_t last = 0;
  while (running.load() != 0) {
    const uint64_t now = registry.counterValue("requests_total");
    REQUIRE(now >= last);
    last = now;
  }
  for (std::thread& loop : loops) loop.join();
  CHECK(registry.counterValue("requests_total") == kLoops * kEach);
  CHECK(registry.histogramValue("request_seconds")->count() == kLoops * kEach);
}

}  // namespace roost::metrics
