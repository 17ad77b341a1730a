// The tree a configuration is kept in. For this folder only; everybody else reads it through Node.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roost::config {

// A place in a file, cheap to copy. The name belongs to the Tree.
struct Mark {
  const std::string* file = nullptr;
  uint32_t line = 0;  // from 1; 0: the file as a whole
  uint32_t column = 0;
};

enum class Kind : uint8_t { kNull, kBool, kInt, kDouble, kString, kArray, kObject };

// One JSON value and where it came from.
struct Value {
  Kind kind = Kind::kNull;
  bool boolean = false;
  bool is_default = false;
  bool is_reference = false;  // a string that consisted of one ${...} and nothing else
  bool is_secret = false;
  bool is_broken = false;  // an error has been reported that leaves no value to check
  int64_t integer = 0;
  double number = 0;
  std::string string;
  std::string key;              // when it is a member of an object
  std::vector<Value> children;  // items, or members in file order
  Mark at;
  Mark key_at;

  bool is(Kind k) const noexcept { return kind == k; }
  Value* find(std::string_view name) noexcept;
  const Value* find(std::string_view name) const noexcept;
  void erase(std::string_view name);
};

}  // namespace roost::config
