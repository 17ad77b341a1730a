#include "tools/swarm/swarm.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <vector>

#include "tools/swarm/options.h"
#include "tools/swarm/preflight.h"
#include "tools/swarm/progress.h"
#include "tools/swarm/report.h"
#include "tools/swarm/request.h"
#include "tools/swarm/run.h"
#include "tools/swarm/svg_plot.h"
#include "tools/swarm/targets.h"

#ifndef ROOST_VERSION
#error "the build names the version"
#endif

namespace roost::swarm {
namespace {

enum ExitCode : int { kAllRight = 0, kErrors = 1, kWrongUse = 2, kCannot = 3 };

std::atomic<int> g_interrupts{0};

void onSignal(int) {
  if (g_interrupts.fetch_add(1) > 0) ::_exit(130);
}

void catchSignals() {
  struct sigaction action {};
  action.sa_handler = onSignal;
  for (const int number : {SIGINT, SIGTERM}) ::sigaction(number, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

int complain(const std::string& text, ExitCode code) {
  std::fprintf(stderr, "swarm: %s\n", text.c_str());
  return code;
}

Status writeFile(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return {};
  }
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return Status::fromErrno(errno, path);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written) return Status::fromErrno(errno, path);
  return {};
}

// A report that cannot be written must be known of before the run, not after it.
Status checkWritable(const std::string& path) {
  if (path.empty() || path == "-") return {};
  std::FILE* file = std::fopen(path.c_str(), "ae");
  if (file == nullptr) return Status::fromErrno(errno, path);
  std::fclose(file);
  return {};
}

std::string layoutText(const Plan& plan, const Machine& machine) {
  const Scenario& s = plan.scenario;
  return fmt::format(
      "swarm: {}: good\n  {} clients on {} threads, up to {} descriptors in each\n  {} source addresses, {} "
      "quick local ports each\n  {} to {} ({})\n",
      s.name, s.clients, plan.threads, machine.descriptors, plan.sources.size(), machine.quickPorts(),
      kindName(s.kind), s.url, s.target.toString());
}

int report(const Options& options, const Plan& plan, const Outcome& outcome) {
  if (options.json_file != "-" && options.svg_file != "-") {
    std::fputs(textReport(plan, outcome).c_str(), stdout);
  }
  if (outcome.shared_table) {
    std::fputs("  note: threads could not have descriptor tables of their own here (unshare)\n", stderr);
  }
  Status status;
  if (!options.json_file.empty()) status = writeFile(options.json_file, jsonReport(plan, outcome));
  if (status.ok() && !options.svg_file.empty()) status = writeFile(options.svg_file, svgPlot(plan, outcome));
  if (!status.ok()) return complain(status.message(), kCannot);
  return outcome.total.errorCount() > 0 || !shortcomings(plan, outcome).empty() ? kErrors : kAllRight;
}

int execute(const Options& options) {
  auto scenario =
      loadScenario(options.scenario_file, options.overlay, options.overlay_names, options.allow_remote);
  if (!scenario.ok()) return complain(scenario.status().message(), kWrongUse);
  const Status found = resolveTargets(*scenario, options.allow_remote);
  if (!found.ok()) return complain(found.message(), kWrongUse);
  const Status processes = checkProcesses(scenario->pids);
  if (!processes.ok()) return complain(processes.message(), kWrongUse);
  const Machine machine = readMachine();
  auto layout = planLayout(*scenario, machine);
  if (!layout.ok()) return complain(layout.status().message(), kCannot);
  Plan plan(std::move(scenario).value());
  plan.threads = layout->threads;
  plan.sources = loopbackSources(layout->source_addresses);
  buildRequest(plan);
  for (const std::string& warning : layout->warnings) std::fprintf(stderr, "swarm: %s\n", warning.c_str());
  if (options.action == Options::Action::kCheck) {
    std::fputs(layoutText(plan, machine).c_str(), stdout);
    return kAllRight;
  }
  for (const std::string& path : {options.json_file, options.svg_file}) {
    const Status writable = checkWritable(path);
    if (!writable.ok()) return complain(writable.message(), kWrongUse);
  }
  catchSignals();
  Progress progress = Progress::forStandardError(plan.scenario, options.quiet);
  const auto outcome = std::make_unique<Outcome>();
  Run run(plan, g_interrupts, [&progress](const Sample& sample) { progress.show(sample); });
  const Status status = run.execute(*outcome);
  progress.end();
  if (!status.ok()) return complain(status.message(), kCannot);
  return report(options, plan, *outcome);
}

}  // namespace

int runSwarm(int argc, char** argv) {
  if (argc < 2) {
    std::fputs(helpText().c_str(), stderr);
    return kWrongUse;
  }
  auto options = parseOptions(std::vector<std::string>(argv + 1, argv + argc));
  if (!options.ok()) return complain(options.status().message(), kWrongUse);
  switch (options->action) {
    case Options::Action::kHelp:
      std::fputs(helpText().c_str(), stdout);
      return kAllRight;
    case Options::Action::kVersion:
      std::puts("swarm, of roost " ROOST_VERSION);
      return kAllRight;
    case Options::Action::kPrintSchema: {
      const auto schema = scenarioSchema();
      if (!schema.ok()) return complain(schema.status().message(), kCannot);
      std::fputs(schema.value().c_str(), stdout);
      return kAllRight;
    }
    case Options::Action::kRun:
    case Options::Action::kCheck:
      break;
  }
  return execute(*options);
}

}  // namespace roost::swarm
