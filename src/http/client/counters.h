// What the client counts, and under which names.
#pragma once

#include <array>

#include "http/client/failure.h"
#include "metrics/registry.h"

namespace roost::http::client {

// One loop's shards of the process's counters. They live as long as the registry they were taken from.
struct ClientCounters {
  explicit ClientCounters(metrics::Registry& registry)
      : calls(registry.counter({"roost_client_calls_total", "Requests to other servers.", ""})),
        opened(registry.counter(
            {"roost_client_connections_opened_total", "Connections begun to other servers.", ""})),
        reused(registry.counter({"roost_client_reused_total", "Requests on a kept connection.", ""})),
        retries(registry.counter(
            {"roost_client_retries_total", "Requests repeated because their connection was closed.", ""})),
        connections(registry.gauge({"roost_client_connections", "Connections to other servers.", ""})),
        idle(registry.gauge(
            {"roost_client_idle_connections", "Of them, those kept for the next request.", ""})),
        waiting(registry.gauge({"roost_client_waiting_calls", "Requests that wait for a connection.", ""})) {
    for (size_t i = 0; i < failures.size(); ++i) {
      failures[i] =
          &registry.counter({"roost_client_failures_total", "Requests without a complete answer.", ""},
                            {{"error", clientErrorName(static_cast<ClientError>(i))}});
    }
  }

  metrics::Counter& calls;
  metrics::Counter& opened;
  metrics::Counter& reused;
  metrics::Counter& retries;
  metrics::Gauge& connections;
  metrics::Gauge& idle;
  metrics::Gauge& waiting;
  std::array<metrics::Counter*, kClientErrorCount> failures{};
};

}  // namespace roost::http::client
