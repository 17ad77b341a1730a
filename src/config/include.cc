#include "config/include.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <unordered_map>

#include "config/env.h"
#include "config/reader.h"

namespace roost::config {
namespace {

std::string relativeTo(const std::string& file, const std::string& path) {
  return (std::filesystem::path(file).parent_path() / path).lexically_normal().string();
}

}  // namespace

std::optional<Value> Includer::read(std::string_view text) {
  return readOne(text, &names_.front());
}

std::optional<Value> Includer::readOne(std::string_view text, const std::string* file) {
  std::optional<Value> root = readText(text, file, errors_);
  if (!root) return std::nullopt;
  expandReferences(*root, surroundings_.env, errors_);
  open_.push_back(std::filesystem::path(*file).lexically_normal().string());
  expand(*root, *file);
  open_.pop_back();
  return root;
}

void Includer::expand(Value& value, const std::string& file) {
  // Inner objects first, so that what is merged in below is not gone through again.
  for (Value& child : value.children) {
    if (child.is(Kind::kObject) || child.is(Kind::kArray)) expand(child, file);
  }
  if (value.is(Kind::kObject) && value.find("include") != nullptr) expandObject(value, file);
}

void Includer::expandObject(Value& object, const std::string& file) {
  const Value include = *object.find("include");
  object.erase("include");
  std::vector<Value> paths;
  if (include.is(Kind::kString)) paths.push_back(include);
  if (include.is(Kind::kArray)) paths = include.children;
  const bool all_strings =
      std::all_of(paths.begin(), paths.end(), [](const Value& p) { return p.is(Kind::kString); });
  if (!all_strings || (!include.is(Kind::kString) && !include.is(Kind::kArray))) {
    errors_.add(include.at, "\"include\" must be a file name or a list of file names");
    return;
  }
  Value included;
  included.kind = Kind::kObject;
  for (const Value& path : paths) {
    if (files_ > kMaxFiles) break;  // said already
    std::optional<Value> value = readIncluded(path, file);
    if (!value) continue;
    merge(included, std::move(*value), Wins::kLater);
  }
  merge(object, std::move(included), Wins::kEarlier);
}

std::optional<Value> Includer::readIncluded(const Value& path, const std::string& including_file) {
  const std::string name = relativeTo(including_file, path.string);
  const auto refuse = [&](const std::string& why) {
    errors_.add(path.at, fmt::format("cannot include {}: {}", inQuotes(name), why));
    return std::nullopt;
  };
  if (std::find(open_.begin(), open_.end(), name) != open_.end()) return refuse("the file includes itself");
  if (open_.size() > static_cast<size_t>(kMaxIncludeDepth)) {
    return refuse(fmt::format("files include each other more than {} levels deep", kMaxIncludeDepth));
  }
  if (++files_ > kMaxFiles) return refuse(fmt::format("more than {} files", kMaxFiles));
  const Result<std::string> text = surroundings_.files(name);
  if (!text.ok()) return refuse(text.status().message());
  if (text.value().size() > kMaxFileBytes)
    return refuse(fmt::format("larger than {} MiB", kMaxFileBytes >> 20));
  auto known = std::find(names_.begin(), names_.end(), name);
  if (known == names_.end()) {
    names_.push_back(name);
    known = std::prev(names_.end());
  }
  std::optional<Value> value = readOne(text.value(), &*known);
  if (value && !value->is(Kind::kObject)) {
    errors_.add(value->at, "an included file must hold an object, { ... }");
    return std::nullopt;
  }
  return value;
}

// Lists of appended keys grow by those of `from`, at any depth; objects are merged; of other values one wins.
void Includer::merge(Value& into, Value from, Wins wins) const {
  std::unordered_map<std::string, size_t> places;
  for (size_t i = 0; i < into.children.size(); ++i) places.emplace(into.children[i].key, i);
  for (Value& member : from.children) {
    const auto place = places.find(member.key);
    if (place == places.end()) {
      into.children.push_back(std::move(member));
      continue;
    }
    Value& own = into.children[place->second];
    if (own.is(Kind::kObject) && member.is(Kind::kObject)) {
      merge(own, std::move(member), wins);
    } else if (own.is(Kind::kArray) && member.is(Kind::kArray) && appended_keys_.count(member.key) > 0) {
      own.children.insert(own.children.end(), std::make_move_iterator(member.children.begin()),
                          std::make_move_iterator(member.children.end()));
    } else if (wins == Wins::kLater) {
      own = std::move(member);
    }
  }
}

}  // namespace roost::config
