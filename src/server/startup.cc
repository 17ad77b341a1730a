#include "server/startup.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file_trust.h"
#include "config/config.h"
#include "log/log.h"
#include "module/registry.h"
#include "server/builtin_modules.h"
#include "server/database_host.h"
#include "server/explain.h"
#include "server/io_thread.h"
#include "server/options.h"
#include "server/privileges.h"
#include "server/processors.h"
#include "server/server.h"
#include "server/server_config.h"
#include "server/signals.h"
#include "server/start_check.h"
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

// What takes root is open by now; the rest is opened, and threads are started, with the rights that they will
// have.
Status giveUpRoot(const Server& server, const std::optional<Identity>& identity,
                  const log::Options& log_options, bool is_root) {
  forbidNewPrivileges();
  if (!is_root) return dropCapabilities();
  if (!identity || identity->uid == 0) return {};
  Status status = log::makeFilesFor(log_options, {identity->uid, identity->gid});
  if (status.ok()) status = server.giveSockets(identity->uid, identity->gid);
  return status.ok() ? becomeUser(*identity) : status;
}

void warnOfRights(const std::optional<Identity>& identity, bool was_root, bool gave_up_root,
                  const std::vector<std::string>& files) {
  if (was_root && !identity) {
    LOG_WARN(
        "running as root: whoever takes over the server has the machine; write \"user\": \"www-data\" "
        "(any user without rights of its own) to give root up once the listeners are open");
  } else if (!was_root && identity && identity->uid != ::geteuid()) {
    LOG_WARN("user {} is ignored: only root can become another user, and this is user {}", identity->name,
             ::geteuid());
  }
  for (const std::string& file : files) {
    const std::string who = whoMayChange(file.c_str(), gave_up_root);
    if (!who.empty()) LOG_WARN("{} may be changed by {}, who then decides what the server does", file, who);
  }
}

void tellEnd(const metrics::Registry& metrics) {
  const uint64_t cut_short = metrics.counterValue(IoThread::kCutShortMetric);
  if (cut_short > 0) {
    LOG_WARN("{} answer{} cut short: not through within {} ms of the signal", cut_short,
             cut_short == 1 ? "" : "s", IoThread::kDrainMs);
  }
  LOG_INFO("stopped after {} requests on {} connections; {} refused by address",
           metrics.counterValue("roost_http_requests_total"),
           metrics.counterValue("roost_connections_accepted_total"),
           metrics.counterValue("roost_connections_refused_total"));
}

int serve(ServerConfig config, const config::Config& loaded, module::Registry& registry) {
  Signals::block();
  raiseDescriptorLimit();
  const bool mysql_wanted = config.mysql_wanted;
  const log::Options log_options = config.log;
  const std::optional<Identity> identity = config.identity;
  const bool was_root = ::geteuid() == 0;
  Server server(std::move(config), loaded.root(), registry, realSys());
  Status status = server.open();
  if (Status given_up = giveUpRoot(server, identity, log_options, was_root); !given_up.ok())
    return fail(given_up.message());
  if (Status started = log::start(log_options); !started.ok()) return fail(started.message());
  log::setThreadName("roost-main");
  const bool gave_up_root = was_root && ::geteuid() != 0;
  if (status.ok()) status = server.start(gave_up_root);
  if (!status.ok()) {
    // A log that is standard error would say the same line twice there.
    if (!log_options.directory.empty()) LOG_ERROR("{}", status.message());
    log::stop();
    return fail(status.message());
  }
  warnOfRights(identity, was_root, gave_up_root, loaded.files());
  if (mysql_wanted && !registry.usesDatabase()) {
    LOG_WARN("mysql.mysql_started is on, but {}: nothing is connected to",
             DatabaseHost::supported() ? "no route uses the database" : "this build has no MySQL client");
  }
  const std::string description = server.description();
  LOG_INFO("{} serving {}", versionLine(), description);
  const std::string exposure = server.exposure();
  if (!exposure.empty()) LOG_INFO("{}", exposure);
  print(fmt::format("roost: serving {}\n{}{}{}", description, exposure.empty() ? "" : "roost: ", exposure,
                    exposure.empty() ? "" : "\n"));
  server.run();
  tellEnd(server.metrics());
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

int testStart(const std::string& path, const ServerConfig& config) {
  const StartCheck check = checkStart(config, realSys());
  for (const std::string& note : check.notes) fmt::print(stderr, "roost: note: {}\n", note);
  for (const std::string& problem : check.problems) fail(problem);
  return check.problems.empty() ? print(fmt::format("roost: {} is good\n", path)) : kCannotServe;
}

// Whether nobody has said what to serve: no file was named, and there is none where one is looked for.
bool hasNothingToServe(const CommandLine& line) {
  return !line.config_named && line.action != Action::kPrintSchema &&
         ::access(line.config_path.c_str(), F_OK) != 0 && errno == ENOENT;
}

int sayHowToBegin(const CommandLine& line) {
  fmt::print(
      stderr,
      "roost: there is no {} here, and no other configuration was named with -f\n"
      "usage: server -f FILE (serves what FILE says), -t -f FILE (checks it), -h (lists all options)\n"
      "to serve this folder at http://127.0.0.1:4507/: echo '{{\"http\": {{\"root_path\": \".\"}}}}' > "
      "roost.json && server -f roost.json\n",
      line.config_path);
  return kWrongUsage;
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
  if (line.action == Action::kTest) return testStart(line.config_path, *result.config);
  if (line.action == Action::kExplain)
    return explainOne(request, *result.config, loaded.config->root(), registry);
  const int code = serve(std::move(*result.config), *loaded.config, registry);
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
    if (hasNothingToServe(*line)) return sayHowToBegin(*line);
    return runConfigured(*line);
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

}  // namespace roost::server
