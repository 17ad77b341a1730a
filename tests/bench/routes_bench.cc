// links: roost_http benchmark::benchmark
// What finding the route of a request costs, by how many routes, patterns, expressions and hosts there are:
// it must not grow with them. Paths are asked for in random order.
#include <benchmark/benchmark.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "http/router.h"

namespace {

using namespace roost::http;  // NOLINT

struct Counts {
  size_t literals = 0;
  size_t patterns = 0;
  size_t regexes = 0;
};

std::string literalPath(size_t i) {
  return "/section-" + std::to_string(i % 97) + "/page-" + std::to_string(i) + (i % 2 == 0 ? ".html" : "/");
}

void addRoute(Site& site, std::string path, bool is_regex = false) {
  auto route = std::make_unique<Route>();
  route->path = std::move(path);
  route->is_regex = is_regex;
  site.routes.push_back(std::move(route));
}

std::unique_ptr<Site> makeSite(const Counts& counts) {
  auto site = std::make_unique<Site>();
  site->hosts = {"*"};
  addRoute(*site, "/");
  for (size_t i = 0; i < counts.literals; ++i) addRoute(*site, literalPath(i));
  for (size_t i = 0; i < counts.patterns; ++i) {
    const std::string number = std::to_string(i);
    addRoute(*site, i % 2 == 0 ? "/api/kind-" + number + "/{id}/parts/{part}"
                               : "/api/{tenant}/kind-" + number + "/");
  }
  for (size_t i = 0; i < counts.regexes; ++i) {
    addRoute(*site, "^/old-" + std::to_string(i) + "/(?P<slug>[^/]+)/[0-9]+$", true);
  }
  return site;
}

Router makeRouter(std::unique_ptr<Site> site) {
  std::vector<std::unique_ptr<Site>> sites;
  sites.push_back(std::move(site));
  return std::move(Router::build(std::move(sites))).value();
}

void ask(benchmark::State& state, const Router& router, const std::vector<std::string>& paths) {
  RouteParams params;
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(&router.find("www.example.org", paths[i], params));
    benchmark::DoNotOptimize(params);
    if (++i == paths.size()) i = 0;
  }
}

// 4,096 paths in random order.
template <class Make>
std::vector<std::string> manyPaths(size_t kinds, Make&& make) {
  std::mt19937 random(1);
  std::vector<std::string> paths;
  for (size_t i = 0; i < 4096; ++i) paths.push_back(make(random() % kinds));
  return paths;
}

void literalOf(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  const Router router = makeRouter(makeSite({count, 0, 0}));
  ask(state, router, manyPaths(count, literalPath));
}
BENCHMARK(literalOf)->RangeMultiplier(10)->Range(10, 10000);

// A file below a prefix.
void belowPrefixOf(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  const Router router = makeRouter(makeSite({count, 0, 0}));
  ask(state, router,
      manyPaths(count / 2, [](size_t i) { return literalPath(2 * i + 1) + "images/picture.png"; }));
}
BENCHMARK(belowPrefixOf)->RangeMultiplier(10)->Range(10, 10000);

void patternOf(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  const Router router = makeRouter(makeSite({0, count, 0}));
  ask(state, router, manyPaths(count / 2, [](size_t i) {
        return "/api/kind-" + std::to_string(2 * i) + "/4711/parts/wheel";
      }));
}
BENCHMARK(patternOf)->RangeMultiplier(10)->Range(10, 1000);

// Everything in one site: 10,000 paths, 1,000 patterns, 100 expressions.
const Router& largeRouter() {
  static const Router router = makeRouter(makeSite({10000, 1000, 100}));
  return router;
}
void largeSiteExactPath(benchmark::State& state) {
  ask(state, largeRouter(), manyPaths(5000, [](size_t i) { return literalPath(2 * i); }));
}
BENCHMARK(largeSiteExactPath);
void largeSiteBelowPrefix(benchmark::State& state) {
  ask(state, largeRouter(), manyPaths(5000, [](size_t i) { return literalPath(2 * i + 1) + "a.png"; }));
}
BENCHMARK(largeSiteBelowPrefix);
void largeSitePattern(benchmark::State& state) {
  ask(state, largeRouter(),
      manyPaths(500, [](size_t i) { return "/api/kind-" + std::to_string(2 * i) + "/4711/parts/wheel"; }));
}
BENCHMARK(largeSitePattern);
// The first branch of the tree leads nowhere.
void largeSitePatternBehindAnother(benchmark::State& state) {
  ask(state, largeRouter(),
      manyPaths(500, [](size_t i) { return "/api/kind-2/kind-" + std::to_string(2 * i + 1) + "/x"; }));
}
BENCHMARK(largeSitePatternBehindAnother);
void largeSiteNothingFits(benchmark::State& state) {
  ask(state, largeRouter(), manyPaths(5000, [](size_t i) { return "/else/where-" + std::to_string(i); }));
}
BENCHMARK(largeSiteNothingFits);
void largeSiteExpression(benchmark::State& state) {
  ask(state, largeRouter(),
      manyPaths(100, [](size_t i) { return "/old-" + std::to_string(i) + "/some-slug/42"; }));
}
BENCHMARK(largeSiteExpression);

// The site by its host, of which half are wildcards.
void hostOf(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  std::vector<std::unique_ptr<Site>> sites;
  for (size_t i = 0; i < count; ++i) {
    sites.push_back(makeSite({}));
    sites.back()->hosts = {(i % 2 == 0 ? "www.site-" : "*.site-") + std::to_string(i) + ".example"};
  }
  const Router router = std::move(Router::build(std::move(sites))).value();
  const std::vector<std::string> hosts =
      manyPaths(count, [](size_t i) { return "www.site-" + std::to_string(i) + ".example"; });
  RouteParams params;
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(&router.find(hosts[i], "/index.html", params));
    if (++i == hosts.size()) i = 0;
  }
}
BENCHMARK(hostOf)->RangeMultiplier(10)->Range(10, 10000);

}  // namespace

BENCHMARK_MAIN();
