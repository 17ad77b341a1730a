// links: roost_tables benchmark::benchmark
// From a query string to the statement that answers it, without a database.
#include <benchmark/benchmark.h>

#include "tables/read.h"
#include "unit/tables/sample_schema.h"

namespace {

using namespace roost;          // NOLINT
using namespace roost::tables;  // NOLINT

void plan(benchmark::State& state, const char* name, const char* text) {
  const auto exposure = test::sampleExposure();
  const ExposedTable& table = *exposure->find(name);
  for (auto _ : state) {
    Query query;
    Problem problem;
    ReadPlan made;
    if (!parseQuery(text, exposure->config->limits, query, problem) ||
        !planRead(table, *exposure, query, {}, made, problem))
      state.SkipWithError(problem.detail.c_str());
    benchmark::DoNotOptimize(made);
  }
}

BENCHMARK_CAPTURE(plan, one_by_key, "customers", "id=eq.17");
BENCHMARK_CAPTURE(plan, list, "orders", "limit=100");
BENCHMARK_CAPTURE(plan, filtered, "orders", "status=in.(open,paid)&order=placed_at.desc&limit=100");
BENCHMARK_CAPTURE(plan, embedded, "orders", "select=*,customers!customer_id(name)&limit=20");
BENCHMARK_CAPTURE(plan, wide, "every_type", "");

}  // namespace

BENCHMARK_MAIN();
