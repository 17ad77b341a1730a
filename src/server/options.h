#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace roost::server {

// What the command line asks for.
enum class Action : unsigned char { kServe, kTest, kDump, kPrintSchema, kVersion, kHelp };

struct CommandLine {
  Action action = Action::kServe;
  std::string config_path = "conf/server.json";
};

// Reads the arguments of main(). Where several actions are named, the first in this order counts: help,
// version, print-schema, dump, test. Errors are one line for people. Main thread (getopt keeps state of its
// own).
Result<CommandLine> parseCommandLine(int argc, char* const* argv);

std::string_view helpText() noexcept;     // ends with a newline
std::string_view versionLine() noexcept;  // "roost 1.2.3"

}  // namespace roost::server
