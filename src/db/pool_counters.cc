#include "db/pool_counters.h"

namespace roost::db {
namespace {

uint64_t countOf(const metrics::Gauge& gauge) noexcept {
  const int64_t value = gauge.value();
  return value > 0 ? static_cast<uint64_t>(value) : 0;
}

}  // namespace

PoolCounters::PoolCounters(metrics::Registry& registry)
    : connections(registry.gauge({"roost_mysql_connections", "Open connections to the database.", ""})),
      in_use(registry.gauge({"roost_mysql_connections_in_use", "Of those, lent to a request.", ""})),
      waiting(registry.gauge({"roost_mysql_waiting", "Requests that wait for a connection.", ""})),
      statements(registry.counter({"roost_mysql_statements_total", "Statements of requests.", ""})),
      prepared(registry.counter({"roost_mysql_prepared_total", "Times that a statement was prepared.", ""})),
      connects(registry.counter({"roost_mysql_connects_total", "Connections opened.", ""})),
      connect_failures(
          registry.counter({"roost_mysql_connect_failures_total", "Connections that failed to open.", ""})),
      killed(registry.counter(
          {"roost_mysql_killed_total", "Kills carried out: too slow, or their client had gone.", ""})),
      queue_full(
          registry.counter({"roost_mysql_queue_full_total", "Requests refused: too many were waiting.", ""})),
      queue_timeouts(registry.counter(
          {"roost_mysql_queue_timeouts_total", "Requests that waited too long for a connection.", ""})),
      unavailable(registry.counter(
          {"roost_mysql_unavailable_total", "Requests refused: no server could be reached.", ""})),
      lost(registry.counter({"roost_mysql_lost_total", "Connections that died in use.", ""})),
      retried(registry.counter(
          {"roost_mysql_retried_total", "Reads done again because their connection had died.", ""})),
      slow_readers(
          registry.counter({"roost_mysql_slow_readers_total",
                            "Answers cut off because their reader was slow while others waited.", ""})),
      leaks_reported(registry.counter(
          {"roost_mysql_leaks_reported_total", "Connections held for longer than leak_report_s.", ""})),
      slow_statements(registry.counter(
          {"roost_mysql_slow_statements_total", "Statements that took slow_statement_ms or longer.", ""})),
      wait_ns(
          registry.histogram({"roost_mysql_wait_nanoseconds",
                              "How long requests waited for a connection, those that had to.", "nanoseconds"},
                             kLongestNs, {}, kSignificantBits)),
      statement_ns(registry.histogram(
          {"roost_mysql_statement_nanoseconds", "From a statement to the end of its result.", "nanoseconds"},
          kLongestNs, {}, kSignificantBits)) {}

void PoolCounters::addTo(Numbers& numbers) const noexcept {
  numbers.connections += countOf(connections);
  numbers.in_use += countOf(in_use);
  numbers.waiting += countOf(waiting);
  numbers.statements += statements.value();
  numbers.prepared += prepared.value();
  numbers.connects += connects.value();
  numbers.connect_failures += connect_failures.value();
  numbers.killed += killed.value();
  numbers.queue_full += queue_full.value();
  numbers.queue_timeouts += queue_timeouts.value();
  numbers.lost += lost.value();
  numbers.leaks_reported += leaks_reported.value();
}

}  // namespace roost::db
