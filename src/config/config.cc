#include "config/config.h"

#include <fmt/format.h>

#include <cstdlib>
#include <deque>
#include <filesystem>

#include "config/check.h"
#include "config/complete.h"
#include "config/include.h"
#include "config/schema_impl.h"

namespace roost::config {

struct Config::Impl {
  Value root;
  std::deque<std::string> names;  // what the Marks point to
  std::vector<std::string> files;
  std::string base_directory;
};

namespace {

// An absolute path without "." and "..", symbolic links left alone: a link to a configuration stays where it
// stands.
std::filesystem::path absolutePath(const std::string& path) {
  std::error_code ignored;
  const auto absolute = std::filesystem::absolute(path, ignored);
  return (ignored ? std::filesystem::path(path) : absolute).lexically_normal();
}

std::string baseDirectoryOf(const std::string& path) {
  const std::filesystem::path folder = absolutePath(path).parent_path();
  return (folder.filename() == "conf" ? folder.parent_path() : folder).string();
}

std::optional<std::string> fromEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

// Runs every step that the steps before it allow. Returns whether impl holds a configuration.
bool build(Config::Impl& impl, std::string_view text, const Schema& schema, const Surroundings& given,
           Errors& errors) {
  Surroundings surroundings = given;
  if (!surroundings.env) surroundings.env = fromEnvironment;
  if (!surroundings.files) surroundings.files = readConfigFile;
  Includer includer(surroundings, schema.impl().appended_keys, impl.names, errors);
  std::optional<Value> root = includer.read(text);
  if (!root) return false;
  checkTree(*root, schema.impl(), errors);
  if (errors.any()) return false;
  normaliseTree(*root, schema.impl(), errors);
  if (errors.any()) return false;
  completeTree(*root, schema.impl());
  schema.impl().validator->validate(*root, errors);
  resolvePaths(*root, schema.impl().json, impl.base_directory);
  impl.root = std::move(*root);
  return !errors.any();
}

}  // namespace

LoadResult loadText(std::string_view text, const std::string& name, const Schema& schema,
                    const Surroundings& surroundings) {
  LoadResult result;
  try {
    auto impl = std::make_unique<Config::Impl>();
    impl->names.push_back(name);
    impl->base_directory = baseDirectoryOf(name);
    Errors errors;
    bool ok = false;
    if (text.size() > kMaxFileBytes) {
      errors.add({&impl->names.front(), 0, 0},
                 fmt::format("the file is larger than {} MiB", kMaxFileBytes >> 20));
    } else {
      ok = build(*impl, text, schema, surroundings, errors);
    }
    std::vector<const std::string*> order;
    for (const std::string& file : impl->names) order.push_back(&file);
    result.errors = errors.take(order);
    impl->files.assign(impl->names.begin(), impl->names.end());
    if (ok) result.config.emplace(std::move(impl));
  } catch (const std::exception& error) {
    result.errors.push_back({{name, 0, 0}, fmt::format("cannot be read: {}", error.what()), {}});
  }
  return result;
}

LoadResult load(const std::string& path, const Schema& schema, const Surroundings& surroundings) {
  LoadResult result;
  try {
    const Result<std::string> text = surroundings.files ? surroundings.files(path) : readConfigFile(path);
    if (text.ok()) return loadText(text.value(), path, schema, surroundings);
    result.errors.push_back({{path, 0, 0}, text.status().message(), {}});
  } catch (const std::exception& error) {
    result.errors.push_back({{path, 0, 0}, fmt::format("cannot be read: {}", error.what()), {}});
  }
  return result;
}

std::string LoadResult::errorText() const {
  std::string text;
  for (const Diagnostic& error : errors) text += error.toString() + "\n";
  return text;
}

Config::Config(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Config::Config(Config&&) noexcept = default;
Config& Config::operator=(Config&&) noexcept = default;
Config::~Config() = default;

Node Config::root() const noexcept {
  return Node(&impl_->root);
}
const std::string& Config::baseDirectory() const noexcept {
  return impl_->base_directory;
}
const std::vector<std::string>& Config::files() const noexcept {
  return impl_->files;
}

std::string Config::dump() const {
  // An environment variable may hold bytes that are no UTF-8.
  constexpr auto kReplace = SchemaJson::error_handler_t::replace;
  return toOrderedJson(impl_->root, true).dump(2, ' ', false, kReplace) + "\n";
}

}  // namespace roost::config
