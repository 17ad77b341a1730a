// What this layer counts, and under which names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "http/origin_rule.h"
#include "metrics/registry.h"

namespace roost::http {

// One loop's shards of the process's counters, which it alone writes, at the time things happen. They live as
// long as the registry they were taken from.
struct HttpCounters {
  explicit HttpCounters(metrics::Registry& registry)
      : requests(registry.counter({"roost_http_requests_total", "Requests whose head was read.", ""})),
        answer_ns(registry.histogram(
            {"roost_http_answer_nanoseconds", "From a request's whole head to its answer being handed over.",
             "nanoseconds"},
            kLongestNs, {}, kSignificantBits)),
        timeouts(
            registry.counter({"roost_http_timeouts_total",
                              "Requests that came too slowly, and answers that a client did not take.", ""})),
        aborted(registry.counter(
            {"roost_http_aborted_total", "Exchanges that ended before their answer was complete.", ""})),
        rate_limited(registry.counter(
            {"roost_http_rate_limited_total", "Requests beyond a rate limit, those of dry runs too.", ""})),
        connection_limited(registry.counter(
            {"roost_http_connection_limited_total", "Requests beyond a limit of requests at a time.", ""})),
        pipeline_waits(registry.counter(
            {"roost_http_pipeline_waits_total",
             "Pipelined requests that waited until the client had taken earlier answers.", ""})),
        shed(registry.counter(
            {"roost_http_shed_total", "Requests refused because the server was overloaded.", ""})),
        no_memory(registry.counter(
            {"roost_http_no_memory_total", "Requests refused because there was no memory for them.", ""})),
        slow_bodies(registry.counter(
            {"roost_http_slow_bodies_total", "Request bodies below min_body_rate, refused with 408.", ""})),
        slow_readers(
            registry.counter({"roost_http_slow_readers_total",
                              "Connections closed because their client read below min_send_rate.", ""})),
        logins_refused(registry.counter(
            {"roost_http_logins_refused_total",
             "Passwords that were not verified because too many of their client's or of all waited.", ""})),
        lookups_refused(registry.counter(
            {"roost_http_file_lookups_refused_total",
             "Files that were not looked up on disk because too many of their folder waited.", ""})) {
    for (size_t i = 0; i < responses.size(); ++i) {
      responses[i] =
          &registry.counter({"roost_http_responses_total", "Heads of answers, interim ones included.", ""},
                            {{"class", std::to_string(i + 1) + "xx"}});
    }
    for (size_t i = 1; i < foreign_origins.size(); ++i) {
      foreign_origins[i] =
          &registry.counter({"roost_http_foreign_origins_total",
                             "Writes and WebSockets that a page of another origin asked for, refused.", ""},
                            {{"reason", std::string(faultName(static_cast<OriginFault>(i)))}});
    }
  }

  void countResponse(int status) const noexcept {
    const auto index = static_cast<size_t>(status / 100 - 1);
    if (index < responses.size()) responses[index]->add();
  }

  static constexpr uint64_t kLongestNs = 120'000'000'000;
  static constexpr unsigned kSignificantBits = 5;  // within 6 %, in 4 KiB

  metrics::Counter& requests;
  // In steps of the loop's clock, which is read once per batch of events: what is answered within its batch
  // counts as 0.
  metrics::Histogram& answer_ns;
  metrics::Counter& timeouts;
  metrics::Counter& aborted;
  metrics::Counter& rate_limited;
  metrics::Counter& connection_limited;
  metrics::Counter& pipeline_waits;
  metrics::Counter& shed;
  metrics::Counter& no_memory;
  metrics::Counter& slow_bodies;  // counted as timeouts, too
  metrics::Counter& slow_readers;
  metrics::Counter& logins_refused;
  metrics::Counter& lookups_refused;
  std::array<metrics::Counter*, 5> responses{};                    // 1xx to 5xx
  std::array<metrics::Counter*, kOriginFaults> foreign_origins{};  // nullptr for OriginFault::kNone
};

}  // namespace roost::http
