// The report for programs.
#include <fmt/format.h>

#include <cmath>

#include "tools/swarm/report.h"
#include "tools/swarm/text.h"

namespace roost::swarm {
namespace {

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null";
}

std::string latencyJson(const Latencies& latencies) {
  if (latencies.count() == 0) return "null";
  const auto at = [&](double percent) {
    return number(static_cast<double>(latencies.percentile(percent)) / 1e3);
  };
  return fmt::format(
      "{{\"count\": {}, \"mean_us\": {}, \"p50_us\": {}, \"p90_us\": {}, \"p99_us\": {}, \"p99_9_us\": {}, "
      "\"p99_99_us\": {}, \"max_us\": {}}}",
      latencies.count(), number(latencies.meanNs() / 1e3), at(50), at(90), at(99), at(99.9), at(99.99),
      number(static_cast<double>(latencies.max()) / 1e3));
}

std::string errorsJson(const Stats& total) {
  std::string text = fmt::format("{{\"total\": {}", total.errorCount());
  for (size_t i = 0; i < kErrorKinds; ++i) {
    const uint64_t count = total.errors[i].value();
    if (count == 0) continue;
    text += fmt::format(",\n    {}: {{\"count\": {}, \"first\": {}}}",
                        jsonText(errorKey(static_cast<ErrorKind>(i))), count, jsonText(total.first_error[i]));
  }
  return text + "}";
}

std::string samplesJson(const Outcome& outcome) {
  std::string text = "[";
  for (const Sample& sample : outcome.samples) {
    text += fmt::format(
        "{}\n    {{\"at_s\": {:.3f}, \"phase\": \"{}\", \"open\": {}, \"waiting\": {}, \"rate\": {}, "
        "\"errors\": {}}}",
        text.size() == 1 ? "" : ",", sample.at_s, phaseName(sample.phase), sample.open, sample.waiting,
        number(sample.rate), sample.errors);
  }
  return text + "]";
}

std::string broadcastsJson(const Broadcasts& broadcasts) {
  const auto us = [](double ns) { return number(ns / 1e3); };
  std::string text = "[";
  for (const auto& each : broadcasts.list()) {
    const metrics::Histogram& all = each->latencies;
    const auto at = [&](double percent) { return us(static_cast<double>(all.percentile(percent))); };
    text += fmt::format(
        "{}\n    {{\"number\": {}, \"receivers\": {}, \"first_us\": {}, \"mean_us\": {}, \"stddev_us\": {}, "
        "\"p50_us\": {}, \"p75_us\": {}, \"p95_us\": {}, \"p98_us\": {}, \"p99_us\": {}, \"p99_9_us\": {}, "
        "\"last_us\": {}, \"sent_ns\": {}}}",
        text.size() == 1 ? "" : ",", each->number, all.count(), us(static_cast<double>(each->least_ns)),
        us(each->meanNs()), us(each->deviationNs()), at(50), at(75), at(95), at(98), at(99), at(99.9),
        us(static_cast<double>(all.max())), each->sent_ns);
  }
  return text + "]";
}

// An object of JSON, a member a line.
class Members {
 public:
  void add(std::string_view key, const std::string& value) {
    text_ += fmt::format("{}  \"{}\": {}", text_.empty() ? "{\n" : ",\n", key, value);
  }
  void add(std::string_view key, uint64_t value) { add(key, fmt::format("{}", value)); }
  std::string text() const { return text_ + "\n}\n"; }

 private:
  std::string text_;
};

void addScenario(Members& json, const Plan& plan, const Outcome& outcome) {
  const Scenario& scenario = plan.scenario;
  json.add("scenario", jsonText(scenario.name));
  json.add("kind", jsonText(kindName(scenario.kind)));
  json.add("url", jsonText(scenario.url));
  json.add("clients", scenario.clients);
  json.add("threads", plan.threads);
  json.add("source_addresses", plan.sources.size());
  json.add("target_rate", number(scenario.rate));
  json.add("interrupted", outcome.interrupted ? "true" : "false");
}

void addCounts(Members& json, const Outcome& outcome) {
  const Stats& total = outcome.total;
  json.add("connections_held", outcome.held);
  json.add("connect_attempts", total.attempts.value());
  json.add("connections_reopened", total.reopened.value());
  json.add("begin_ns", static_cast<uint64_t>(outcome.begin_ns));
  json.add("connect_s", number(outcome.connect_s));
  json.add("connect_rate",
           number(outcome.connect_s > 0 ? static_cast<double>(outcome.held) / outcome.connect_s : 0));
  json.add("measured_s", number(outcome.measured_s));
  json.add("requests_total", total.requests.value());
  json.add("replies_total", total.replies.value());
  json.add("messages_total", total.messages.value());
  json.add("replies", outcome.replies);
  json.add("replies_per_s", number(outcome.replies_per_s));
  json.add("messages", outcome.messages);
  json.add("messages_per_s", number(outcome.messages_per_s));
  json.add("bytes_in", outcome.bytes_in);
  json.add("bytes_out", outcome.bytes_out);
  json.add("empty_answers", total.empty_answers.value());
  json.add("published", total.published.value());
  json.add("unanswered", total.unanswered);
  json.add("unsent", total.unsent);
  json.add("unsent_own", total.unsent_own);
}

void addLatencies(Members& json, const Plan& plan, const Outcome& outcome) {
  const Scenario& scenario = plan.scenario;
  const Stats& total = outcome.total;
  json.add("connect_latency", latencyJson(total.connect));
  json.add("latency", latencyJson(total.latency));
  json.add("latency_at_least", total.least_latency);
  json.add("latency_from_send", latencyJson(scenario.rate > 0 ? total.service : total.latency));
  json.add("send_delay", latencyJson(total.send_delay));
  json.add("delivery_latency", latencyJson(total.delivery));
  json.add("publish_latency", latencyJson(total.publishing));
}

void addCosts(Members& json, const Plan& plan, const Outcome& outcome) {
  const Costs costs = costsOf(plan, outcome);
  const auto part = [&](double s) { return number(outcome.measured_s > 0 ? s / outcome.measured_s : 0); };
  json.add("own_cpu_us_per_request", number(costs.own_cpu_us));
  json.add("own_cpu_busy", number(costs.own_cpu_busy));
  json.add("own_bytes_per_client", number(costs.own_bytes));
  json.add("server_cpu_us_per_request", number(costs.server_cpu_us));
  json.add("server_cpu_busy", number(costs.server_cpu_busy));
  json.add("server_bytes_per_client", number(costs.server_bytes));
  json.add("server_bytes_before", outcome.server.before.anon_bytes);
  json.add("server_bytes_held", outcome.server.held.anon_bytes);
  json.add("kernel_slab_bytes_per_client", number(costs.kernel_slab_bytes));
  json.add("kernel_tcp_bytes_per_client", number(costs.kernel_tcp_bytes));
  json.add("server_ended", outcome.server_ended ? "true" : "false");
  json.add("server_waiting", std::isnan(costs.server_cpu_busy) ? "null" : part(outcome.server_waited_s));
  json.add("own_waiting", part(outcome.own_waited_s));
}

}  // namespace

std::string jsonReport(const Plan& plan, const Outcome& outcome) {
  const Stats& total = outcome.total;
  Members json;
  addScenario(json, plan, outcome);
  addCounts(json, outcome);
  addLatencies(json, plan, outcome);
  addCosts(json, plan, outcome);
  json.add("head_bytes", total.head_bytes);
  json.add("body_hash", total.has_body_hash ? fmt::format("\"{:016x}\"", total.body_hash) : "null");
  json.add("errors", errorsJson(total));
  std::string failed;
  for (const std::string& reason : shortcomings(plan, outcome)) {
    failed += (failed.empty() ? "" : ", ") + jsonText(reason);
  }
  json.add("failed", "[" + failed + "]");
  json.add("broadcasts", broadcastsJson(total.broadcasts));
  json.add("broadcast_deliveries_left_out", total.broadcasts.leftOut());
  json.add("samples", samplesJson(outcome));
  return json.text();
}

}  // namespace roost::swarm
