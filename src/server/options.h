#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace roost::server {

// What the command line asks for.
enum class Action : unsigned char {
  kServe,
  kTest,
  kDump,
  kExplain,
  kCheckSystem,
  kPrintSchema,
  kVersion,
  kHelp
};

struct CommandLine {
  Action action = Action::kServe;
  std::string config_path = "conf/server.json";
  bool config_named = false;         // by -f
  std::string explain;               // the request to explain, with kExplain
  std::vector<std::string> fields;   // further fields of it
  std::string client = "127.0.0.1";  // who asks
  uint64_t clients = 0;              // how many, with kCheckSystem; 0: not named
};

// Reads the arguments of main(). Where several actions are named, the first in this order counts: help,
// version, print-schema, check-system, explain, dump, test. Errors are one line for people. Main thread
// (getopt keeps state of its own).
Result<CommandLine> parseCommandLine(int argc, char* const* argv);

std::string_view helpText() noexcept;     // ends with a newline
std::string_view versionLine() noexcept;  // "roost 1.2.3"

}  // namespace roost::server
