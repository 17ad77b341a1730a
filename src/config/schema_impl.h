// What a Schema holds. For this folder only.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "config/diagnostics.h"
#include "config/value.h"

namespace roost::config {

using SchemaJson = nlohmann::ordered_json;  // keeps the order of keys: manual and dump follow it

// The validating library, kept out of every other file because of what it costs to compile.
class Validator {
 public:
  explicit Validator(const nlohmann::json& schema);  // throws what the library throws on a broken schema
  ~Validator();
  // Adds an error for each thing the library finds wrong.
  void validate(const Value& tree, Errors& errors) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct SchemaImpl {
  SchemaJson json;
  std::string text;
  std::vector<std::string> handlers;    // keys of a route of which exactly one must stand
  std::vector<std::string> speakers;    // keys of a listener of which at most one may stand
  std::set<std::string> appended_keys;  // lists that grow by include
  std::unique_ptr<Validator> validator;
};

nlohmann::json toJson(const Value& value);
SchemaJson toOrderedJson(const Value& value, bool for_people);  // for_people: secrets masked, "${" escaped

// The member of an object schema, or nullptr.
const SchemaJson* schemaOf(const SchemaJson& schema, std::string_view key);
std::string textOf(const SchemaJson& schema, const char* word);  // "" when it is missing
bool flagOf(const SchemaJson& schema, const char* word);

}  // namespace roost::config
