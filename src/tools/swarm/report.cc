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
                     withUnit(static_cast<uint64_t>(latencies.meanNs())));
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
  if (scenario.publishes()) {
    row(text, "published",
        fmt::format("{} of {}{}", grouped(total.published.value()), grouped(scenario.publish_messages),
                    total.publishing.count() > 0
                        ? fmt::format(", answered after {} at most", withUnit(total.publishing.max()))
                        : ""));
  }
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

void errorRows(std::string& text, const Plan& plan, const Outcome& outcome) {
  const Stats& total = outcome.total;
  row(text, "errors", grouped(total.errorCount()) + (total.errorCount() > 0 ? " in the whole run" : ""));
  for (size_t i = 0; i < kErrorKinds; ++i) {
    const uint64_t count = total.errors[i].value();
    if (count == 0) continue;
    const std::string& first = total.first_error[i];
    text += fmt::format("    {:>9} {}{}\n", grouped(count), errorName(static_cast<ErrorKind>(i)),
                        first.empty() ? "" : "; the first: " + first);
  }
  for (const std::string& reason : shortcomings(plan, outcome)) row(text, "failed", reason);
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

std::vector<std::string> shortcomings(const Plan& plan, const Outcome& outcome) {
  const Stats& total = outcome.total;
  std::vector<std::string> reasons;
  if (total.connected.value() == 0) {
    reasons.emplace_back("nobody could connect");
  } else if (outcome.held == 0 && !outcome.interrupted) {
    reasons.emplace_back("no connection lasted until the load was to begin");
  }
  if (outcome.too_few && !outcome.interrupted) {
    reasons.push_back(fmt::format("only {} of {} clients were connected, and all are required (require_all)",
                                  grouped(outcome.held), grouped(plan.scenario.clients)));
  }
  if (total.requests.value() > 0 && total.replies.value() == 0) {
    reasons.emplace_back("not one request was answered");
  } else if (total.unanswered > 0 && !outcome.interrupted) {
    reasons.push_back(grouped(total.unanswered) + " requests were not answered");
  }
  if (total.unsent > 0 && !outcome.interrupted) {
    reasons.push_back(grouped(total.unsent) + " requests could not be sent: the server did not keep up");
  }
  const Scenario& scenario = plan.scenario;
  if (total.published.value() < scenario.publish_messages && !outcome.interrupted && !outcome.too_few) {
    reasons.push_back(fmt::format("only {} of {} messages were published", grouped(total.published.value()),
                                  grouped(scenario.publish_messages)));
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
  errorRows(text, plan, outcome);
  return text;
}

}  // namespace roost::swarm
