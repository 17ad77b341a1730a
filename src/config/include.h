// Reading a file and what it includes. For this folder only.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/diagnostics.h"
#include "config/value.h"

namespace roost::config {

// Reads the text of the first file, replaces references, and puts included files in place of the "include"
// keys, in any object. Lives on the loader's stack for one load.
//
// What an object says itself wins over what it includes, and a later file of a list over an earlier one.
// Objects are merged key by key; a list replaces a list, except where its key is one of appended_keys: there
// the object's own entries come first, then those of the included files in their order.
class Includer {
 public:
  // names holds the first file's name; included ones are added, and Marks point there.
  Includer(const Surroundings& surroundings, const std::set<std::string>& appended_keys,
           std::deque<std::string>& names, Errors& errors)
      : surroundings_(surroundings), appended_keys_(appended_keys), names_(names), errors_(errors) {}

  std::optional<Value> read(std::string_view text);

 private:
  std::optional<Value> readOne(std::string_view text, const std::string* file);
  void expand(Value& value, const std::string& file);
  void expandObject(Value& object, const std::string& file);
  std::optional<Value> readIncluded(const Value& path, const std::string& including_file);
  enum class Wins : uint8_t { kEarlier, kLater };  // of two values under one key, beside objects and lists
  void merge(Value& into, Value from, Wins wins) const;

  const Surroundings& surroundings_;
  const std::set<std::string>& appended_keys_;
  std::deque<std::string>& names_;
  Errors& errors_;
  std::vector<std::string> open_;  // the files being read, outermost first
  size_t files_ = 1;
};

}  // namespace roost::config
