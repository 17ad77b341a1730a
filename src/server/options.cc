#include "server/options.h"

#include <fmt/format.h>
#include <getopt.h>

#include <algorithm>
#include <charconv>

#ifndef ROOST_VERSION
#error "the build names the version"
#endif

namespace roost::server {
namespace {

enum LongOnly : int { kDumpFlag = 256, kPrintSchemaFlag, kExplainFlag, kFromFlag, kCheckSystemFlag };

constexpr option kLongOptions[] = {
    {"file", required_argument, nullptr, 'f'},
    {"test", no_argument, nullptr, 't'},
    {"dump", no_argument, nullptr, kDumpFlag},
    {"explain", required_argument, nullptr, kExplainFlag},
    {"header", required_argument, nullptr, 'H'},
    {"from", required_argument, nullptr, kFromFlag},
    {"check-system", optional_argument, nullptr, kCheckSystemFlag},
    {"print-schema", no_argument, nullptr, kPrintSchemaFlag},
    {"version", no_argument, nullptr, 'V'},
    {"help", no_argument, nullptr, 'h'},
    {nullptr, 0, nullptr, 0},
};

// Higher wins.
int rank(Action action) noexcept {
  switch (action) {
    case Action::kServe:
      return 0;
    case Action::kTest:
      return 1;
    case Action::kDump:
      return 2;
    case Action::kExplain:
      return 3;
    case Action::kCheckSystem:
      return 4;
    case Action::kPrintSchema:
      return 5;
    case Action::kVersion:
      return 6;
    case Action::kHelp:
      return 7;
  }
  return 0;
}

constexpr const char* kSeeHelp = "; -h lists the options";

Status unknown(char* const* argv, int index_before) {
  // getopt names a bad short option by optopt and a bad long one only by its place.
  const std::string what = ::optopt > 0 && ::optopt < kDumpFlag
                               ? fmt::format("-{}", static_cast<char>(::optopt))
                               : std::string(argv[index_before]);
  return Status::error(fmt::format("unknown option {}{}", what, kSeeHelp));
}

constexpr uint64_t kMostClients = 100'000'000;

// "250000" or "250k" or "1M".
Result<uint64_t> parseClients(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  const uint64_t factor = unit == "k" || unit == "K" ? 1000 : unit == "M" ? 1'000'000 : unit.empty() ? 1 : 0;
  if (error != std::errc() || factor == 0 || number == 0 || number > kMostClients / factor) {
    return Status::error(
        fmt::format("--check-system={}: not a number of clients from 1 to {}, such as 250000, 250k or 1M{}",
                    text, kMostClients, kSeeHelp));
  }
  return number * factor;
}

}  // namespace

Result<CommandLine> parseCommandLine(int argc, char* const* argv) {
  CommandLine line;
  const auto want = [&line](Action action) {
    if (rank(action) > rank(line.action)) line.action = action;
  };
  bool from_given = false;
  ::optind = 0;  // begin anew
  ::opterr = 0;
  for (;;) {
    const int index_before = std::max(::optind, 1);
    const int flag = ::getopt_long(argc, argv, "+:f:H:tVh", kLongOptions, nullptr);
    if (flag == -1) break;
    switch (flag) {
      case 'f':
        line.config_path = ::optarg;
        line.config_named = true;
        break;
      case 't':
        want(Action::kTest);
        break;
      case kDumpFlag:
        want(Action::kDump);
        break;
      case kExplainFlag:
        line.explain = ::optarg;
        want(Action::kExplain);
        break;
      case 'H':
        line.fields.emplace_back(::optarg);
        break;
      case kFromFlag:
        line.client = ::optarg;
        from_given = true;
        break;
      case kCheckSystemFlag:
        if (::optarg != nullptr) {
          auto clients = parseClients(::optarg);
          if (!clients.ok()) return clients.status();
          line.clients = *clients;
        }
        want(Action::kCheckSystem);
        break;
      case kPrintSchemaFlag:
        want(Action::kPrintSchema);
        break;
      case 'V':
        want(Action::kVersion);
        break;
      case 'h':
        want(Action::kHelp);
        break;
      case ':':
        return Status::error(fmt::format("option {} needs a value{}", argv[index_before], kSeeHelp));
      default:
        return unknown(argv, index_before);
    }
  }
  if (::optind < argc) {
    return Status::error(fmt::format("\"{}\" is no option; a configuration file is named with -f{}",
                                     argv[::optind], kSeeHelp));
  }
  if (line.config_path.empty())
    return Status::error(fmt::format("option -f needs the name of a file{}", kSeeHelp));
  if (line.explain.empty() && (!line.fields.empty() || from_given || line.action == Action::kExplain))
    return Status::error(fmt::format("-H and --from go with --explain 'GET http://host/path'{}", kSeeHelp));
  return line;
}

std::string_view helpText() noexcept {
  return "usage: server [-f FILE] [-t | --dump | --print-schema | --check-system[=CLIENTS] | -V | -h]\n"
         "       server [-f FILE] --explain 'GET http://host/path' [-H 'Name: value']... [--from ADDRESS]\n"
         "\n"
         "Serves what FILE says, in the foreground, until it is told to stop.\n"
         "\n"
         "  -f, --file FILE     the configuration; conf/server.json if not given\n"
         "  -t, --test          check the configuration, and what a start needs of the system, and exit: 0 "
         "when it "
         "is good\n"
         "      --dump          print the configuration with every default, path and include filled in\n"
         "      --explain REQUEST\n"
         "                      answer one request without starting to serve, and tell which site, route, "
         "filters\n"
         "                      and file the answer comes from, and why\n"
         "  -H, --header FIELD  a field of that request; may be given many times\n"
         "      --from ADDRESS  who asks; 127.0.0.1 if not given\n"
         "      --check-system[=CLIENTS]\n"
         "                      what this machine must be set to for 10 k, 100 k, 1 M and 2 M clients, or "
         "for "
         "CLIENTS\n"
         "                      (then the exit code is 1 when something is short); with -f, for the IO "
         "threads and\n"
         "                      the \"fd_table\" of FILE\n"
         "      --print-schema  print the JSON Schema of the configuration, for editors\n"
         "  -V, --version       print the version\n"
         "  -h, --help          print this text\n"
         "\n"
         "Signals:\n"
         "  TERM, INT, QUIT  stop: no new connections, idle ones are closed, answers under way have up to 1 "
         "s\n"
         "                   to go out; a second signal ends it at once\n"
         "  USR1             opens the log's file anew\n"
         "  HUP              reads a database's schema anew; a changed configuration is not loaded\n"
         "  USR2             only logged: this version loads no new executable while it runs\n"
         "\n"
         "Exit codes: 0 stopped or checked, 1 cannot serve (one line says why), 2 wrong command line.\n";
}

std::string_view versionLine() noexcept {
  return "roost " ROOST_VERSION;
}

}  // namespace roost::server
