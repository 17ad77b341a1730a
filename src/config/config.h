// Loading a configuration: JSON with comments, trailing commas, ${ENV:default} and includes, checked against
// a Schema. Nothing here throws; whatever is wrong comes back as Diagnostics, all of it at once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "config/node.h"
#include "config/schema.h"

namespace roost::config {

// A loaded configuration: correct by its schema, every default filled in, paths absolute, switches booleans.
// Two short forms have been spelt out: "listen" always stands (the top-level "address" and "port" have moved
// into it), and "sites" always holds a site. Immutable; any thread may read it; Nodes borrow from it (moving
// the Config keeps them valid).
class Config {
 public:
  Config(Config&&) noexcept;
  Config& operator=(Config&&) noexcept;
  ~Config();

  Node root() const noexcept;
  const std::string& baseDirectory()
      const noexcept;  // absolute; relative paths have been resolved against it
  const std::vector<std::string>& files() const noexcept;  // the file itself, then what it includes
  std::string dump() const;  // pretty JSON, secrets masked; loads again to the same

  struct Impl;
  explicit Config(std::unique_ptr<Impl> impl) noexcept;

 private:
  std::unique_ptr<Impl> impl_;
};

// Either a config and no errors, or at least one error and no config.
struct LoadResult {
  std::optional<Config> config;
  std::vector<Diagnostic> errors;  // the first file first, by line

  bool ok() const noexcept { return config.has_value(); }
  std::string errorText() const;  // each error on its own line(s)
};

using EnvLookup = std::function<std::optional<std::string>(const std::string& name)>;
using FileLookup = std::function<Result<std::string>(const std::string& path)>;  // the whole text of a file

// The world as the loader sees it; tests bring their own.
struct Surroundings {
  EnvLookup env;     // empty: getenv
  FileLookup files;  // empty: readConfigFile
};

constexpr std::size_t kMaxFileBytes = 4 << 20;  // of one file
constexpr int kMaxDepth = 64;                   // of nested arrays and objects
constexpr int kMaxIncludeDepth = 8;
constexpr std::size_t kMaxFiles = 256;   // one configuration, includes and repetitions counted
constexpr std::size_t kMaxErrors = 100;  // reported; the rest is counted

// A regular file of at most kMaxFileBytes. Errors: missing, a directory, unreadable, too large: one clear
// line each.
Result<std::string> readConfigFile(const std::string& path);

// Main thread at start-up and reload (reads files). Never throws.
LoadResult load(const std::string& path, const Schema& schema, const Surroundings& surroundings = {});

// The same from text; name stands for the file in messages and decides the base directory.
LoadResult loadText(std::string_view text, const std::string& name, const Schema& schema,
                    const Surroundings& surroundings = {});

}  // namespace roost::config
