// What this layer counts, and under which names.
#pragma once

#include "metrics/registry.h"

namespace roost::net {

// One loop's shards of the process's counters, which it alone writes. They live as long as the registry they
// were taken from.
struct IoCounters {
  explicit IoCounters(metrics::Registry& registry)
      : opened(registry.counter(
            {"roost_connections_opened_total", "Accepted connections an IO thread took over.", ""})),
        closed(registry.counter(
            {"roost_connections_closed_total", "Accepted connections that have ended.", ""})),
        bytes_in(
            registry.counter({"roost_received_bytes_total", "Received on accepted connections.", "bytes"})),
        bytes_out(registry.counter({"roost_sent_bytes_total", "Sent on accepted connections.", "bytes"})),
        no_memory(registry.counter(
            {"roost_connections_no_memory_total", "Connections closed because memory was out.", ""})) {}

  // Accepted connections alone, here and below: those made to others are not counted.
  metrics::Counter& opened;
  metrics::Counter& closed;
  metrics::Counter& bytes_in;
  metrics::Counter& bytes_out;
  metrics::Counter& no_memory;
};

// The same of a thread that accepts.
struct AcceptCounters {
  explicit AcceptCounters(metrics::Registry& registry)
      : accepted(
            registry.counter({"roost_connections_accepted_total", "Connections accepted and kept.", ""})),
        refused(registry.counter(
            {"roost_connections_refused_total", "Connections closed for their address.", ""})),
        over_limit(registry.counter({"roost_connections_over_limit_total",
                                     "Connections closed for the number of others of their address.", ""})),
        turned_away(registry.counter(
            {"roost_connections_turned_away_total", "Connections closed for want of descriptors.", ""})),
        pauses(
            registry.counter({"roost_accept_pauses_total", "Pauses of accepting, for want of room.", ""})) {}

  metrics::Counter& accepted;
  metrics::Counter& refused;
  metrics::Counter& over_limit;
  metrics::Counter& turned_away;
  metrics::Counter& pauses;
};

}  // namespace roost::net
