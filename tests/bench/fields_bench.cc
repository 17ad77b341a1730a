// links: roost_http benchmark::benchmark
// What reading one part of a request's meaning costs: paths, hosts, dates, preconditions, ranges, media
// types.
#include <benchmark/benchmark.h>

#include <string_view>

#include "http/conditional.h"
#include "http/date.h"
#include "http/etag.h"
#include "http/host.h"
#include "http/mime.h"
#include "http/range.h"
#include "http/target.h"
#include "unit/http/head_builder.h"

namespace {

using namespace roost::http;  // NOLINT

constexpr std::string_view kDate = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr int64_t kNow = 1763634306;

void decode(benchmark::State& state, std::string_view raw) {
  char out[256];
  for (auto _ : state) {
    benchmark::DoNotOptimize(raw);
    benchmark::DoNotOptimize(decodePath(raw, out, sizeof out));
  }
}
BENCHMARK_CAPTURE(decode, short_path, "/index.html");
BENCHMARK_CAPTURE(decode, long_path, "/assets/static/js/vendor/bundle-3f2a1c9d8e7b6a5f.min.js.map");
BENCHMARK_CAPTURE(decode, escapes_and_dots, "/a%20b/%C3%A9t%C3%A9/../x.html");

void host(benchmark::State& state, std::string_view value) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(value);
    benchmark::DoNotOptimize(parseHost(value));
  }
}
BENCHMARK_CAPTURE(host, name, "www.example.org:8080");
BENCHMARK_CAPTURE(host, ipv4, "127.0.0.1:4507");
BENCHMARK_CAPTURE(host, ipv6, "[::1]:80");

void formatDate(benchmark::State& state) {
  char out[kHttpDateSize];
  int64_t now = kNow;
  for (auto _ : state) {
    formatHttpDate(now++, out);
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK(formatDate);

void parseDate(benchmark::State& state, std::string_view text) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(text);
    benchmark::DoNotOptimize(parseHttpDate(text, kNow));
  }
}
BENCHMARK_CAPTURE(parseDate, imf_fixdate, kDate);
BENCHMARK_CAPTURE(parseDate, rfc850, "Sunday, 06-Nov-94 08:49:37 GMT");

void preconditions(benchmark::State& state, bool tag, bool date) {
  test::HeadBuilder builder;
  if (tag) builder.add(FieldId::kIfNoneMatch, "\"1879b00eaa2e6115-264\"");
  if (date) builder.add(FieldId::kIfModifiedSince, kDate);
  const RequestHead& head = builder.head();
  Validators validators;
  validators.has_last_modified = true;
  validators.etag = "\"1879b00eaa2e6115-264\"";
  validators.last_modified_s = 784111777;
  validators.now_s = kNow;
  for (auto _ : state) benchmark::DoNotOptimize(evaluate(head, validators));
}
BENCHMARK_CAPTURE(preconditions, none, false, false);
BENCHMARK_CAPTURE(preconditions, tag_and_date, true, true);
BENCHMARK_CAPTURE(preconditions, date, false, true);

void range(benchmark::State& state, std::string_view value) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(value);
    benchmark::DoNotOptimize(parseRange(value, 100000));
  }
}
BENCHMARK_CAPTURE(range, one, "bytes=0-499");
BENCHMARK_CAPTURE(range, four, "bytes=0-499,1000-1500,2000-3000,-5");

void fileEtag(benchmark::State& state) {
  int64_t mtime_ns = kNow * 1'000'000'000;
  for (auto _ : state) benchmark::DoNotOptimize(makeFileEtag(mtime_ns++, 612, 0, kNow));
}
BENCHMARK(fileEtag);

void mediaType(benchmark::State& state, std::string_view path) {
  MimeTable table;
  table.loadSystemTypes();
  for (auto _ : state) {
    benchmark::DoNotOptimize(path);
    benchmark::DoNotOptimize(table.lookup(path));
  }
}
BENCHMARK_CAPTURE(mediaType, known, "/assets/index.html");
BENCHMARK_CAPTURE(mediaType, none, "/assets/license");

}  // namespace

BENCHMARK_MAIN();
