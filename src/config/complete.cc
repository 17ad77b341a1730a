#include "config/complete.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace roost::config {
namespace {

// The steps of a JSON pointer; ours never escape anything.
std::vector<std::string> stepsOf(const std::string& pointer) {
  std::vector<std::string> steps;
  for (size_t at = 0; at < pointer.size();) {
    const size_t end = std::min(pointer.find('/', at + 1), pointer.size());
    steps.push_back(pointer.substr(at + 1, end - at - 1));
    at = end;
  }
  return steps;
}

const Value* valueAt(const Value& root, const std::string& pointer) {
  const Value* value = &root;
  for (const std::string& step : stepsOf(pointer)) {
    value = value->find(step);
    if (value == nullptr) return nullptr;
  }
  return value;
}

// Sets the value at a pointer, making the objects on the way.
void place(Value& root, const std::string& pointer, Value value) {
  Value* at = &root;
  for (const std::string& step : stepsOf(pointer)) {
    Value* next = at->find(step);
    if (next == nullptr) {
      Value fresh;
      fresh.kind = Kind::kObject;
      fresh.at = fresh.key_at = value.key_at;
      fresh.key = step;
      next = &at->children.emplace_back(std::move(fresh));
    }
    at = next;
  }
  std::string key = at->key;
  *at = std::move(value);
  at->key = std::move(key);
}

// Of a member whose key is free: additionalProperties; nullptr where the key is a known one, or none is free.
const SchemaJson* freeSchemaOf(const SchemaJson& schema, std::string_view key) {
  const auto others = schema.find("additionalProperties");
  const bool is_free = others != schema.end() && others->is_object() && schemaOf(schema, key) == nullptr;
  return is_free ? &*others : nullptr;
}

const SchemaJson* memberSchemaOf(const SchemaJson& schema, std::string_view key) {
  const SchemaJson* known = schemaOf(schema, key);
  return known != nullptr ? known : freeSchemaOf(schema, key);
}

// Old spellings below value go where the schema says; what the schema ignores goes away.
void moveAliases(Value& root, Value& value, const SchemaJson& schema,
                 std::vector<std::pair<std::string, Value>>& moved, Errors& errors) {
  const auto properties = schema.find("properties");
  if (properties == schema.end() || !value.is(Kind::kObject)) return;
  for (const auto& [key, known] : properties->items()) {
    Value* member = value.find(key);
    if (member == nullptr) continue;
    const std::string target = textOf(known, "x-alias-for");
    if (!target.empty() && !member->is(Kind::kNull)) {
      if (valueAt(root, target) != nullptr) {
        errors.add(member->key_at, fmt::format("{} is an old spelling of {}, which is given too: remove it",
                                               inQuotes(key), inQuotes(stepsOf(target).back())));
      }
      moved.emplace_back(target, *member);
    }
    if (!target.empty() || flagOf(known, "x-ignored")) {
      value.erase(key);
    } else {
      moveAliases(root, *member, known, moved, errors);
    }
  }
}

// "address" and "port" into the one entry of "listen" that they stand for.
void spellOutListen(Value& root, const SchemaImpl& schema, Errors& errors) {
  if (schemaOf(schema.json, "listen") == nullptr) return;
  if (Value* listen = root.find("listen")) {
    for (const char* key : {"address", "port"}) {
      const Value* other = root.find(key);
      if (other != nullptr && !other->is_default) {
        errors.add(other->key_at, fmt::format("\"{0}\" and \"listen\" (line {1}) exclude each other: put the "
                                              "{0} into an entry of \"listen\"",
                                              key, listen->key_at.line));
      }
    }
    for (Value& entry : listen->children) {
      const Value* unix_path = entry.find("unix");
      if (unix_path == nullptr || unix_path->is(Kind::kNull)) continue;
      for (const char* key : {"address", "port"}) {
        if (const Value* other = entry.find(key)) {
          errors.add(other->key_at, fmt::format("\"{}\" and \"unix\" exclude each other", key));
        }
      }
    }
    return;
  }
  Value entry;
  entry.kind = Kind::kObject;
  entry.at = entry.key_at = root.at;
  for (const char* key : {"address", "port"}) {
    Value value;
    if (const Value* given = root.find(key)) {
      value = *given;
    } else {
      const SchemaJson& fallback = schemaOf(schema.json, key)->at("default");
      value.kind = fallback.is_string() ? Kind::kString : Kind::kInt;
      if (fallback.is_string()) value.string = fallback.get<std::string>();
      if (fallback.is_number()) value.integer = fallback.get<int64_t>();
      value.is_default = true;
      value.at = value.key_at = root.at;
      value.key = key;
    }
    root.erase(key);
    entry.at = value.is_default ? entry.at : value.key_at;
    entry.children.push_back(std::move(value));
  }
  Value listen;
  listen.kind = Kind::kArray;
  listen.is_default = true;
  listen.key = "listen";
  listen.at = listen.key_at = entry.at;
  listen.children.push_back(std::move(entry));
  root.children.push_back(std::move(listen));
}

Value fromDefault(const SchemaJson& json, const Mark& at) {
  Value value;
  value.at = at;
  value.is_default = true;
  if (json.is_boolean()) {
    value.kind = Kind::kBool;
    value.boolean = json.get<bool>();
  } else if (json.is_number_integer()) {
    value.kind = Kind::kInt;
    value.integer = json.get<int64_t>();
  } else if (json.is_number()) {
    value.kind = Kind::kDouble;
    value.number = json.get<double>();
  } else if (json.is_string()) {
    value.kind = Kind::kString;
    value.string = json.get<std::string>();
  } else if (json.is_array()) {
    value.kind = Kind::kArray;
    for (const SchemaJson& item : json) value.children.push_back(fromDefault(item, at));
  } else if (json.is_object()) {
    value.kind = Kind::kObject;
    for (const auto& [key, member] : json.items()) {
      value.children.push_back(fromDefault(member, at));
      value.children.back().key = key;
      value.children.back().key_at = at;
    }
  }
  return value;
}

std::string resolve(const std::string& path, const std::string& base_directory) {
  std::string text = (std::filesystem::path(base_directory) / path).lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

class Completer {
 public:
  explicit Completer(Value& root) : root_(root) {}

  void fill(Value& value, const SchemaJson& schema) {
    if (flagOf(schema, "x-secret")) value.is_secret = true;
    if (value.is(Kind::kArray) && schema.contains("items")) {
      for (Value& item : value.children) fill(item, schema["items"]);
    }
    if (value.is(Kind::kObject)) fillObject(value, schema);
  }

  // A second pass: what is inherited must be complete itself.
  void inherit(Value& value, const SchemaJson& schema) {
    if (const std::string from = textOf(schema, "x-inherit"); !from.empty() && value.is(Kind::kNull)) {
      if (const Value* source = valueAt(root_, from)) takeOver(value, *source);
    }
    if (value.is(Kind::kArray) && schema.contains("items")) {
      for (Value& item : value.children) inherit(item, schema["items"]);
    }
    for (Value& member : value.children) {
      if (!value.is(Kind::kObject)) break;
      if (const SchemaJson* known = memberSchemaOf(schema, member.key)) inherit(member, *known);
    }
  }

 private:
  void fillObject(Value& value, const SchemaJson& schema) {
    for (Value& member : value.children)
      if (const SchemaJson* free = freeSchemaOf(schema, member.key)) fill(member, *free);
    const auto properties = schema.find("properties");
    if (properties == schema.end()) return;
    for (const auto& [key, known] : properties->items()) {
      if (Value* member = value.find(key)) {
        fill(*member, known);
        continue;
      }
      const auto fallback = known.find("default");
      if (fallback == known.end() || known.contains("x-alias-for") || flagOf(known, "x-ignored")) continue;
      if (isElsewhere(value, key)) continue;
      Value fresh = fromDefault(*fallback, value.at);
      fresh.key = key;
      fresh.key_at = value.at;
      fill(value.children.emplace_back(std::move(fresh)), known);
    }
    std::map<std::string_view, size_t> order;
    for (const auto& [key, known] : properties->items()) order.emplace(key, order.size());
    std::stable_sort(value.children.begin(), value.children.end(),
                     [&order](const Value& a, const Value& b) { return order[a.key] < order[b.key]; });
  }

  // An address and a port that stand for nothing: beside "listen" at the top, beside "unix" in a listener.
  bool isElsewhere(const Value& object, const std::string& key) const {
    if (key != "address" && key != "port") return false;
    if (&object == &root_) return true;
    const Value* unix_path = object.find("unix");
    return unix_path != nullptr && unix_path->is(Kind::kString);
  }

  static void takeOver(Value& value, const Value& source) {
    Value copy = source;
    copy.key = std::move(value.key);
    copy.key_at = value.key_at;
    copy.at = value.at;
    copy.is_default = value.is_default;
    value = std::move(copy);
  }

  Value& root_;
};

}  // namespace

void normaliseTree(Value& root, const SchemaImpl& schema, Errors& errors) {
  std::vector<std::pair<std::string, Value>> moved;
  moveAliases(root, root, schema.json, moved, errors);
  for (auto& [target, value] : moved) place(root, target, std::move(value));
  spellOutListen(root, schema, errors);
}

void completeTree(Value& root, const SchemaImpl& schema) {
  Completer completer(root);
  completer.fill(root, schema.json);
  completer.inherit(root, schema.json);
}

void resolvePaths(Value& value, const SchemaJson& schema, const std::string& base_directory) {
  if (flagOf(schema, "x-path") && value.is(Kind::kString) && !value.string.empty()) {
    value.string = resolve(value.string, base_directory);
  }
  for (Value& child : value.children) {
    const auto items = schema.find("items");
    if (value.is(Kind::kArray) && items != schema.end()) resolvePaths(child, *items, base_directory);
    const SchemaJson* known = value.is(Kind::kObject) ? memberSchemaOf(schema, child.key) : nullptr;
    if (known != nullptr) resolvePaths(child, *known, base_directory);
  }
}

}  // namespace roost::config
