#include "server/startup.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "config/config.h"
#include "log/log.h"
#include "module/registry.h"
#include "server/builtin_modules.h"
#include "server/database_host.h"
#include "server/explain.h"
#include "server/io_thread.h"
#include "server/options.h"
#include "server/processors.h"
#include "server/server.h"
#include "server/server_config.h"
#include "server/signals.h"
#include "server/system_check.h"

namespace roost::server {
namespace {

constexpr int kCannotServe = 1;
constexpr int kWrongUsage = 2;

int fail(std::string_view message) {
  fmt::print(stderr, "roost: {}\n", message);
  return kCannotServe;
}

int failAll(const std::vector<config::Diagnostic>& errors) {
  for (const config::Diagnostic& error : errors) fmt::print(stderr, "{}\n", error.toString());
  return kCannotServe;
}

// Each connection is a descriptor, and the usual soft limit of 1024 is meant for programs that use select().
void raiseDescriptorLimit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

int print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return std::fflush(stdout) == 0 && written ? 0 : kCannotServe;
}

int serve(ServerConfig config, config::Node root, module::Registry& registry) {
  Signals::block();
  raiseDescriptorLimit();
  const bool mysql_wanted = config.mysql_wanted;
  const log::Options log_options = config.log;
  Server server(std::move(config), root, registry, realSys());
  Status status = log::start(log_options);
  if (!status.ok()) return fail(status.message());
  log::setThreadName("roost-main");
  status = server.start();
  if (!status.ok()) {
    // A log that is standard error would say the same line twice there.
    if (!log_options.directory.empty()) LOG_ERROR("{}", status.message());
    log::stop();
    return fail(status.message());
  }
  if (mysql_wanted && !registry.usesDatabase()) {
    LOG_WARN("mysql.mysql_started is on, but {}: nothing is connected to",
             DatabaseHost::supported() ? "no route uses the database" : "this build has no MySQL client");
  }
  const std::string description = server.description();
  LOG_INFO("{} serving {}", versionLine(), description);
  print(fmt::format("roost: serving {}\n", description));
  server.run();
  const metrics::Registry& metrics = server.metrics();
  const uint64_t cut_short = metrics.counterValue(IoThread::kCutShortMetric);
  if (cut_short > 0) {
    LOG_WARN("{} answer{} cut short: not through within {} ms of the signal", cut_short,
             cut_short == 1 ? "" : "s", IoThread::kDrainMs);
  }
  LOG_INFO("stopped after {} requests on {} connections; {} refused by address",
           metrics.counterValue("roost_http_requests_total"),
           metrics.counterValue("roost_connections_accepted_total"),
           metrics.counterValue("roost_connections_refused_total"));
  return 0;
}

int explainOne(const ExplainRequest& request, const ServerConfig& config, config::Node root,
               module::Registry& registry) {
  const auto explanation = explain(config, root, registry, realSys(), request);
  if (!explanation.ok()) return fail(explanation.status().message());
  const int code = print(report(request, *explanation));
  const Answer& answer = explanation->answer;
  return answer.head.empty() && !answer.given_up ? kCannotServe : code;
}

int checkSystemFor(const CommandLine& line, const CheckedConfig& config) {
  return printSystemCheck(line.clients, config) ? 0 : kCannotServe;
}

CheckedConfig checkedConfigOf(const ServerConfig& config) {
  CheckedConfig checked;
  if (config.own_fd_tables) checked.fd_tables = config.io_threads;
  if (config.accept == AcceptMode::kReusePort) checked.accept_queues = config.io_threads;
  for (const net::ListenOptions& listener : config.listeners) {
    const auto backlog = static_cast<uint64_t>(listener.backlog);
    checked.backlog = std::min(checked.backlog.value_or(backlog), backlog);
  }
  return checked;
}

int runConfigured(const CommandLine& line) {
  ExplainRequest request;
  if (line.action == Action::kExplain) {
    auto parsed = parseExplainRequest(line.explain, line.fields, line.client);
    if (!parsed.ok()) {
      fail(parsed.status().message());
      return kWrongUsage;
    }
    request = std::move(parsed).value();
  }
  module::Registry registry(makeBuiltinModules());
  auto schema = registry.schema();
  if (!schema.ok()) return fail(schema.status().message());
  if (line.action == Action::kPrintSchema) return print(schema->text());
  config::LoadResult loaded = config::load(line.config_path, *schema);
  if (!loaded.ok()) return failAll(loaded.errors);
  if (line.action == Action::kDump) return print(loaded.config->dump());
  ServerConfigResult result = readServerConfig(loaded.config->root(), registry, allowedProcessors());
  if (!result.config) return failAll(result.errors);
  if (line.action == Action::kCheckSystem) return checkSystemFor(line, checkedConfigOf(*result.config));
  if (line.action == Action::kTest) return print(fmt::format("roost: {} is good\n", line.config_path));
  if (line.action == Action::kExplain)
    return explainOne(request, *result.config, loaded.config->root(), registry);
  const int code = serve(std::move(*result.config), loaded.config->root(), registry);
  log::stop();
  return code;
}

}  // namespace

int runProgram(int argc, char** argv) {
  try {
    const auto line = parseCommandLine(argc, argv);
    if (!line.ok()) {
      fail(line.status().message());
      return kWrongUsage;
    }
    if (line->action == Action::kHelp) return print(helpText());
    if (line->action == Action::kVersion) return print(fmt::format("{}\n", versionLine()));
    if (line->action == Action::kCheckSystem && !line->config_named) return checkSystemFor(*line, {});
    return runConfigured(*line);
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

}  // namespace roost::server
