#include "tools/swarm/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/grouped.h"
#include "tools/swarm/text.h"

namespace roost::swarm {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double mean(const Latencies& latencies) {
  const uint64_t count = latencies.count();
  return count == 0 ? 0 : static_cast<double>(latencies.sum()) / static_cast<double>(count);
}

double perHeld(const Outcome& outcome, uint64_t before, uint64_t held) {
  if (outcome.held == 0) return kUnknown;
  return (static_cast<double>(held) - static_cast<double>(before)) / static_cast<double>(outcome.held);
}

uint64_t eventsOf(const Plan& plan, const Outcome& outcome) {
  return plan.scenario.listens() ? outcome.messages : outcome.replies;
}

// ---- text ----

std::string latencyLine(const Latencies& latencies) {
  return fmt::format("p50 {}  p90 {}  p99 {}  p99.9 {}  max {}  mean {}", withUnit(latencies.percentile(50)),
                     withUnit(latencies.percentile(90)), withUnit(latencies.percentile(99)),
                     withUnit(latencies.percentile(99.9)), withUnit(latencies.max()),
                     withUnit(static_cast<uint64_t>(mean(latencies))));
}

void row(std::string& text, std::string_view name, const std::string& value) {
  text += fmt::format("  {:<11}{}\n", name, value);
}

std::string loadText(const Scenario& scenario) {
  if (scenario.listens())
    return scenario.kind == Kind::kWs && scenario.ws_mode == WsMode::kQuiet ? "quiet" : "listening";
  if (scenario.rate > 0)
    return fmt::format("fixed rate of {}/s", std::trunc(scenario.rate) == scenario.rate
                                                 ? grouped(static_cast<uint64_t>(scenario.rate))
                                                 : fmt::format("{:.6g}", scenario.rate));
  if (scenario.think_ns > 0) return fmt::format("{} ms between requests", scenario.think_ns / 1'000'000);
  return "each asks again when answered";
}

std::string headText(const Plan& plan) {
  const Scenario& s = plan.scenario;
  return fmt::format(
      "swarm: {} · {} · {} client{}, {} thread{}{} · {}\n", kindName(s.kind), s.url, grouped(s.clients),
      s.clients == 1 ? "" : "s", plan.threads, plan.threads == 1 ? "" : "s",
      plan.sources.size() > 1 ? fmt::format(", {} source addresses", plan.sources.size()) : "", loadText(s));
}

void connectRows(std::string& text, const Plan& plan, const Outcome& outcome) {
  const Stats& total = outcome.total;
  const double rate = outcome.connect_s > 0 ? static_cast<double>(outcome.held) / outcome.connect_s : 0;
  row(text, "connected",
      fmt::format("{} of {} in {:.2f} s ({}/s){}", grouped(outcome.held), grouped(plan.scenario.clients),
                  outcome.connect_s, grouped(static_cast<uint64_t>(rate)),
                  total.reopened.value() > 0
                      ? fmt::format(", {} opened again", grouped(total.reopened.value()))
                      : ""));
  if (total.connect.count() > 0) row(text, "connecting", latencyLine(total.connect));
}

void latencyRows(std::string& text, const Scenario& scenario, const Outcome& outcome) {
  const Stats& total = outcome.total;
  if (total.latency.count() > 0) row(text, "latency", latencyLine(total.latency));
  if (total.least_latency > 0) {
    row(text, "at least",
        fmt::format("{} of these {} had no answer at the end: they count with the time until then",
                    grouped(total.least_latency), grouped(total.latency.count())));
  }
  if (outcome.replies > 0 && total.latency.count() == total.least_latency) {
    row(text, "note",
        std::string("no request that was due within the measured time was answered") +
            (scenario.rate > 0 ? ": the backlog of the warm-up outlasted the run" : ""));
  }
  if (total.service.count() > 0) row(text, "from send", latencyLine(total.service));
  if (total.send_delay.count() > 0) row(text, "sent late", latencyLine(total.send_delay));
}

// A message that went to one client is no broadcast.
void broadcastRows(std::string& text, const std::vector<std::unique_ptr<Broadcast>>& list) {
  constexpr size_t kMostShown = 12;
  if (list.empty() || list.front()->latencies.count() < 2) return;
  for (size_t i = 0; i < std::min(list.size(), kMostShown); ++i) {
    const Broadcast& each = *list[i];
    row(text, i == 0 ? "broadcasts" : "",
        fmt::format("{} to {}: first {}  p50 {}  p99 {}  last {}", each.number,
                    grouped(each.latencies.count()), withUnit(each.least_ns),
                    withUnit(each.latencies.percentile(50)), withUnit(each.latencies.percentile(99)),
                    withUnit(each.latencies.max())));
  }
  if (list.size() > kMostShown) row(text, "", fmt::format("and {} more", grouped(list.size() - kMostShown)));
}

void loadRows(std::string& text, const Plan& plan, const Outcome& outcome) {
  const Stats& total = outcome.total;
  const Scenario& scenario = plan.scenario;
  const bool listens = scenario.listens();
  if (scenario.kind != Kind::kWs || scenario.ws_mode != WsMode::kQuiet) {
    row(text, listens ? "messages" : "answers",
        fmt::format(
            "{} in {:.2f} s: {}/s", grouped(eventsOf(plan, outcome)), outcome.measured_s,
            grouped(static_cast<uint64_t>(listens ? outcome.messages_per_s : outcome.replies_per_s))));
  }
  if (!listens && outcome.replies == 0 && total.replies.value() > 0) {
    row(text, "note",
        fmt::format("all of {} answers came before the measured time or after it (warmup_s, duration_s)",
                    grouped(total.replies.value())));
  }
  if (scenario.asksAtEnd()) {
    row(text, "at the end",
        fmt::format("{} of {} answered a ping", grouped(total.replies.value()), grouped(scenario.clients)));
  }
  if (outcome.measured_s > 0 && outcome.bytes_in + outcome.bytes_out > 0) {
    row(text, "transfer",
        fmt::format("{}/s in, {}/s out",
                    bytesText(static_cast<double>(outcome.bytes_in) / outcome.measured_s),
                    bytesText(static_cast<double>(outcome.bytes_out) / outcome.measured_s)));
  }
  latencyRows(text, scenario, outcome);
  if (total.delivery.count() > 0) row(text, "delivery", latencyLine(total.delivery));
  if (total.empty_answers.value() > 0) {
    row(text, "polls", grouped(total.empty_answers.value()) + " were answered that there was nothing new");
  }
  broadcastRows(text, total.broadcasts.list());
  if (total.unsent > 0) {
    row(text, "not sent",
        grouped(total.unsent) +
            " requests were due, and their clients still waiting for an answer or a connection");
  }
  if (total.unsent_own > 0) {
    row(text, "not sent",
        grouped(total.unsent_own) + " requests were due, and swarm itself was late: not the server's doing");
  }
  if (total.unanswered > 0) row(text, "unanswered", grouped(total.unanswered) + " at the end");
}

std::string cpuText(double us, double busy) {
  return std::isnan(us) ? fmt::format("CPU {:.0f} % of a core", busy * 100)
                        : fmt::format("CPU {:.2f} µs each ({:.0f} % of a core)", us, busy * 100);
}

void costRows(std::string& text, const Plan& plan, const Outcome& outcome) {
  const Costs costs = costsOf(plan, outcome);
  const auto memory = [](double bytes) {
    return std::isnan(bytes) ? "" : ", memory " + bytesText(bytes) + " per client";
  };
  row(text, "swarm", cpuText(costs.own_cpu_us, costs.own_cpu_busy) + memory(costs.own_bytes));
  if (!plan.scenario.pids.empty()) {
    row(text, "server",
        (outcome.server_ended                ? "it ended during the run"
         : std::isnan(costs.server_cpu_busy) ? "CPU not measured"
                                             : cpuText(costs.server_cpu_us, costs.server_cpu_busy)) +
            memory(costs.server_bytes));
  }
  if (!std::isnan(costs.kernel_slab_bytes) && outcome.held >= 100) {
    row(text, "kernel",
        fmt::format("{} of slab, {} of TCP buffers per client, {}", bytesText(costs.kernel_slab_bytes),
                    bytesText(costs.kernel_tcp_bytes),
                    plan.scenario.loopback ? "both ends together" : "this end"));
  }
}

void errorRows(std::string& text, const Outcome& outcome) {
  const Stats& total = outcome.total;
  row(text, "errors", grouped(total.errorCount()) + (total.errorCount() > 0 ? " in the whole run" : ""));
  for (size_t i = 0; i < kErrorKinds; ++i) {
    const uint64_t count = total.errors[i].value();
    if (count == 0) continue;
    const std::string& first = total.first_error[i];
    text += fmt::format("    {:>9} {}{}\n", grouped(count), errorName(static_cast<ErrorKind>(i)),
                        first.empty() ? "" : "; the first: " + first);
  }
  for (const std::string& reason : shortcomings(outcome)) row(text, "failed", reason);
}

// ---- JSON ----

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
      latencies.count(), number(mean(latencies) / 1e3), at(50), at(90), at(99), at(99.9), at(99.99),
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

Costs costsOf(const Plan& plan, const Outcome& outcome) {
  const auto events = static_cast<double>(eventsOf(plan, outcome));
  const auto each = [&](double cpu_s) { return events > 0 ? cpu_s * 1e6 / events : kUnknown; };
  const auto busy = [&](double cpu_s) { return outcome.measured_s > 0 ? cpu_s / outcome.measured_s : 0; };
  Costs costs{};
  costs.own_cpu_us = each(outcome.own_cpu_s);
  costs.own_cpu_busy = busy(outcome.own_cpu_s);
  const bool known = outcome.server.begin.ok && outcome.server.end.ok;
  costs.server_cpu_us = known ? each(outcome.server_cpu_s) : kUnknown;
  costs.server_cpu_busy = known ? busy(outcome.server_cpu_s) : kUnknown;
  costs.own_bytes = perHeld(outcome, outcome.own.before.anon_bytes, outcome.own.held.anon_bytes);
  costs.server_bytes =
      outcome.server.before.ok && outcome.server.held.ok
          ? perHeld(outcome, outcome.server.before.anon_bytes, outcome.server.held.anon_bytes)
          : kUnknown;
  costs.kernel_slab_bytes =
      perHeld(outcome, outcome.kernel_before.slab_bytes, outcome.kernel_held.slab_bytes);
  costs.kernel_tcp_bytes = perHeld(outcome, outcome.kernel_before.tcp_bytes, outcome.kernel_held.tcp_bytes);
  return costs;
}

std::vector<std::string> shortcomings(const Outcome& outcome) {
  const Stats& total = outcome.total;
  std::vector<std::string> reasons;
  if (total.connected.value() == 0) {
    reasons.emplace_back("nobody could connect");
  } else if (outcome.held == 0 && !outcome.interrupted) {
    reasons.emplace_back("no connection lasted until the load was to begin");
  }
  if (total.requests.value() > 0 && total.replies.value() == 0) {
    reasons.emplace_back("not one request was answered");
  } else if (total.unanswered > 0 && !outcome.interrupted) {
    reasons.push_back(grouped(total.unanswered) + " requests were not answered");
  }
  if (total.unsent > 0 && !outcome.interrupted) {
    reasons.push_back(grouped(total.unsent) + " requests could not be sent: the server did not keep up");
  }
  if (outcome.server_ended) reasons.emplace_back("the server, or one of its processes, ended during the run");
  return reasons;
}

std::string textReport(const Plan& plan, const Outcome& outcome) {
  std::string text = headText(plan);
  if (!plan.scenario.description.empty()) text += "  " + plan.scenario.description + "\n";
  if (outcome.interrupted) text += "  Interrupted: what follows is what was measured until then.\n";
  connectRows(text, plan, outcome);
  loadRows(text, plan, outcome);
  costRows(text, plan, outcome);
  errorRows(text, outcome);
  return text;
}

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
  for (const std::string& reason : shortcomings(outcome)) {
    failed += (failed.empty() ? "" : ", ") + jsonText(reason);
  }
  json.add("failed", "[" + failed + "]");
  json.add("broadcasts", broadcastsJson(total.broadcasts));
  json.add("broadcast_deliveries_left_out", total.broadcasts.leftOut());
  json.add("samples", samplesJson(outcome));
  return json.text();
}

}  // namespace roost::swarm
