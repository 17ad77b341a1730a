#include "modules/metrics_page/exposition.h"

#include <catch2/catch.hpp>
#include <string>

using namespace roost;
using modules::metrics_page::Exposition;
using modules::metrics_page::Format;

namespace {

std::string textOf(const metrics::Registry& registry, Format format = Format::kText) {
  Exposition exposition(format);
  registry.forEach([&](const metrics::Registry::Reading& reading) { exposition.add(reading); });
  return exposition.finish();
}

}  // namespace

TEST_CASE("metrics: counters and gauges", "[metrics_page]") {
  metrics::Registry registry;
  registry.counter({"calls_total", "Calls, \\ and\nlines.", ""}, {{"kind", "a\"b\\c\nd"}, {"x", ""}}).add(3);
  registry.counter({"calls_total", "Calls, \\ and\nlines.", ""}, {{"kind", "other"}}).add(4);
  registry.counter({"calls_total", "Calls, \\ and\nlines.", ""}, {{"kind", "other"}}).add(5);
  registry.gauge({"room_bytes", "Room.", "bytes"}).set(-7);
  CHECK(textOf(registry) ==
        "# HELP calls_total Calls, \\\\ and\\nlines.\n# TYPE calls_total counter\n"
        "calls_total{kind=\"a\\\"b\\\\c\\nd\",x=\"\"} 3\ncalls_total{kind=\"other\"} 9\n"
        "# HELP room_bytes Room.\n# TYPE room_bytes gauge\nroom_bytes -7\n");
  CHECK(textOf(registry, Format::kOpenMetrics) ==
        "# HELP calls Calls, \\\\ and\\nlines.\n# TYPE calls counter\n"
        "calls_total{kind=\"a\\\"b\\\\c\\nd\",x=\"\"} 3\ncalls_total{kind=\"other\"} 9\n"
        "# HELP room_bytes Room.\n# TYPE room_bytes gauge\n# UNIT room_bytes bytes\nroom_bytes -7\n# EOF\n");
}

TEST_CASE("metrics: a histogram in nanoseconds is told in seconds", "[metrics_page]") {
  metrics::Registry registry;
  metrics::Histogram& took = registry.histogram({"took_nanoseconds", "It took.", "nanoseconds"}, 100'000'000);
  took.record(5'000);
  took.record(150'000, 2);
  took.record(90'000'000);
  took.record(7'000'000'000);
  CHECK(textOf(registry, Format::kOpenMetrics) ==
        "# HELP took_seconds It took.\n# TYPE took_seconds histogram\n# UNIT took_seconds seconds\n"
        "took_seconds_bucket{le=\"1e-05\"} 1\ntook_seconds_bucket{le=\"2e-05\"} 1\n"
        "took_seconds_bucket{le=\"5e-05\"} 1\ntook_seconds_bucket{le=\"0.0001\"} 1\n"
        "took_seconds_bucket{le=\"0.0002\"} 3\ntook_seconds_bucket{le=\"0.0005\"} 3\n"
        "took_seconds_bucket{le=\"0.001\"} 3\ntook_seconds_bucket{le=\"0.002\"} 3\n"
        "took_seconds_bucket{le=\"0.005\"} 3\ntook_seconds_bucket{le=\"0.01\"} 3\n"
        "took_seconds_bucket{le=\"0.02\"} 3\ntook_seconds_bucket{le=\"0.05\"} 3\n"
        "took_seconds_bucket{le=\"0.1\"} 4\ntook_seconds_bucket{le=\"+Inf\"} 5\n"
        "took_seconds_sum 7.090305\ntook_seconds_count 5\n# EOF\n");
}

TEST_CASE("metrics: a histogram of mere numbers", "[metrics_page]") {
  metrics::Registry registry;
  metrics::Histogram& sizes =
      registry.histogram({"sizes_bytes", "Sizes.", "bytes"}, 20, metrics::Labels{{"route", "/"}});
  for (const uint64_t size : {0, 1, 2, 2, 6, 11, 300}) sizes.record(size);
  CHECK(textOf(registry) ==
        "# HELP sizes_bytes Sizes.\n# TYPE sizes_bytes histogram\n"
        "sizes_bytes_bucket{route=\"/\",le=\"1\"} 2\nsizes_bytes_bucket{route=\"/\",le=\"2\"} 4\n"
        "sizes_bytes_bucket{route=\"/\",le=\"5\"} 4\nsizes_bytes_bucket{route=\"/\",le=\"10\"} 5\n"
        "sizes_bytes_bucket{route=\"/\",le=\"20\"} 6\nsizes_bytes_bucket{route=\"/\",le=\"+Inf\"} 7\n"
        "sizes_bytes_sum{route=\"/\"} 322\nsizes_bytes_count{route=\"/\"} 7\n");
}
