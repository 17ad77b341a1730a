#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace roost::swarm {

// What the command line says. Keys of the scenario become an object that is laid over the file's.
struct Options {
  enum class Action : uint8_t { kRun, kHelp, kVersion, kPrintSchema, kCheck };
  Action action = Action::kRun;
  std::string scenario_file;               // "": none
  std::string overlay;                     // JSON, one key a line
  std::vector<std::string> overlay_names;  // "--clients" for line 1 of it, ...
  bool allow_remote = false;
  bool quiet = false;
  std::string json_file, svg_file;  // "": none; "-": standard output
};

// Errors: unknown options, missing values, more than one target.
Result<Options> parseOptions(const std::vector<std::string>& arguments);

std::string helpText();

}  // namespace roost::swarm
