#include "config/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <regex>

#include "config/foreign_words.h"

namespace roost::config {
namespace {

bool allows(const SchemaJson& schema, std::string_view type) {
  const SchemaJson& types = schema.at("type");
  if (types.is_string()) return types.get_ref<const std::string&>() == type;
  return std::any_of(types.begin(), types.end(), [type](const SchemaJson& t) { return t == type; });
}

bool kindFits(const Value& value, const SchemaJson& schema) {
  switch (value.kind) {
    case Kind::kNull:
      return allows(schema, "null");
    case Kind::kBool:
      return allows(schema, "boolean");
    case Kind::kInt:
      return allows(schema, "integer") || allows(schema, "number");
    case Kind::kDouble:
      return allows(schema, "number");
    case Kind::kString:
      return allows(schema, "string");
    case Kind::kArray:
      return allows(schema, "array");
    case Kind::kObject:
      return allows(schema, "object");
  }
  return false;
}

const char* kindName(Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return "a boolean";
    case Kind::kInt:
      return "an integer";
    case Kind::kDouble:
      return "a number";
    case Kind::kString:
      return "a string";
    case Kind::kArray:
      return "a list";
    case Kind::kObject:
      return "an object";
  }
  return "";
}

// "an integer or "auto"": what may stand here.
std::string expectation(const SchemaJson& schema) {
  std::vector<std::string> words;
  const bool is_switch = flagOf(schema, "x-switch");
  if (allows(schema, "integer")) words.emplace_back("an integer");
  if (allows(schema, "number")) words.emplace_back("a number");
  if (is_switch) words.emplace_back("\"on\" or \"off\"");
  if (allows(schema, "boolean") && !is_switch) words.emplace_back("true or false");
  if (allows(schema, "string") && !is_switch) {
    const std::string pattern = textOf(schema, "x-pattern-text");
    words.push_back(pattern.empty() ? "a string" : pattern);
  }
  if (allows(schema, "array")) words.emplace_back("a list");
  if (allows(schema, "object")) words.emplace_back("an object");
  if (allows(schema, "null")) words.emplace_back("null");
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " or ") + word;
  return text;
}

template <class Number>
bool parseWhole(const std::string& text, Number& out) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out);
  return error == std::errc() && stop == end && !text.empty();
}

// A text of bounded length, counted as JSON Schema counts: in characters.
size_t characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// A number for a message; of a whole one no digit may be hidden.
std::string numberText(const SchemaJson& number) {
  return number.is_number_integer() ? fmt::format("{}", number.get<int64_t>())
                                    : fmt::format("{}", number.get<double>());
}

class Checker {
 public:
  Checker(const SchemaImpl& schema, Errors& errors) : schema_(schema), errors_(errors) {}

  void check(Value& value, const SchemaJson& schema, const std::string& path) {
    if (value.is_broken) return;
    if (flagOf(schema, "x-secret")) value.is_secret = true;
    takeMeantForm(value, schema);
    if (!kindFits(value, schema)) {
      wrongType(value, schema, path);
      return;
    }
    if (schema.contains("enum") && !checkEnum(value, schema, path)) return;
    switch (value.kind) {
      case Kind::kInt:
      case Kind::kDouble:
        checkRange(value, schema, path);
        break;
      case Kind::kString:
        checkString(value, schema, path);
        break;
      case Kind::kArray:
        checkArray(value, schema, path);
        break;
      case Kind::kObject:
        checkObject(value, schema, path);
        break;
      case Kind::kNull:
      case Kind::kBool:
        break;
    }
  }

 private:
  static void takeMeantForm(Value& value, const SchemaJson& schema) {
    if (value.is(Kind::kString) && value.is_reference) convertReference(value, schema);
    if (value.is(Kind::kString) && flagOf(schema, "x-switch") &&
        (value.string == "on" || value.string == "off")) {
      value.kind = Kind::kBool;
      value.boolean = value.string == "on";
    }
    constexpr double kExact = 9007199254740992.0;  // 2^53: whole doubles up to here are exact
    if (value.is(Kind::kDouble) && allows(schema, "integer") && std::abs(value.number) <= kExact &&
        std::trunc(value.number) == value.number) {
      value.kind = Kind::kInt;
      value.integer = static_cast<int64_t>(value.number);
    }
  }

  static void convertReference(Value& value, const SchemaJson& schema) {
    if (allows(schema, "boolean") && (value.string == "true" || value.string == "false")) {
      value.kind = Kind::kBool;
      value.boolean = value.string == "true";
    } else if ((allows(schema, "integer") || allows(schema, "number")) &&
               parseWhole(value.string, value.integer)) {
      value.kind = Kind::kInt;
    } else if (allows(schema, "number") && parseWhole(value.string, value.number) &&
               std::isfinite(value.number)) {
      value.kind = Kind::kDouble;
    }
  }

  void add(const Value& value, std::string message) { errors_.add(value.at, std::move(message)); }

  // What stands there, for a message; never a secret.
  static std::string shown(const Value& value) {
    if (value.is_secret) return kindName(value.kind);
    switch (value.kind) {
      case Kind::kInt:
        return fmt::format("{}", value.integer);
      case Kind::kDouble:
        return fmt::format("{}", value.number);
      case Kind::kString:
        return inQuotes(value.string);
      case Kind::kBool:
        return value.boolean ? "true" : "false";
      default:
        return kindName(value.kind);
    }
  }

  void wrongType(const Value& value, const SchemaJson& schema, const std::string& path) {
    if (value.is(Kind::kDouble) && allows(schema, "integer") && std::trunc(value.number) == value.number) {
      return add(value, fmt::format("{} is too large a number", path));
    }
    std::string what = kindName(value.kind);
    if (!value.is(Kind::kNull) && shown(value) != what) what += " (" + shown(value) + ")";
    std::string message = fmt::format("{} must be {}, not {}", path, expectation(schema), what);
    int64_t number = 0;
    if (value.is(Kind::kString) && allows(schema, "integer") && !value.is_secret &&
        parseWhole(value.string, number)) {
      message += fmt::format(": write {} without quotes", number);
    }
    if (value.is(Kind::kString) && value.is_reference) message += " (the value of its ${})";
    add(value, std::move(message));
  }

  bool checkEnum(const Value& value, const SchemaJson& schema, const std::string& path) {
    std::vector<std::string_view> words;
    std::vector<std::string> allowed;
    for (const SchemaJson& word : schema["enum"]) {
      const bool is_switch = word.is_boolean() && flagOf(schema, "x-switch");
      if (!is_switch) allowed.push_back(word.is_string() ? inQuotes(word.get<std::string>()) : word.dump());
      if (word.is_boolean() && value.is(Kind::kBool) && word.get<bool>() == value.boolean) return true;
      if (word.is_number_integer() && value.is(Kind::kInt) && word.get<int64_t>() == value.integer)
        return true;
      if (word.is_null() && value.is(Kind::kNull)) return true;
      if (!word.is_string()) continue;
      words.push_back(word.get_ref<const std::string&>());
      if (value.is(Kind::kString) && words.back() == value.string) return true;
    }
    std::string list;
    for (size_t i = 0; i < allowed.size(); ++i) {
      list += (i == 0 ? "" : i + 1 == allowed.size() ? " or " : ", ") + allowed[i];
    }
    const std::string hint =
        value.is(Kind::kString) && !errors_.full() ? didYouMean(value.string, words) : "";
    add(value, fmt::format("{} must be {}, not {}{}", path, list, shown(value), hint));
    return false;
  }

  void checkRange(const Value& value, const SchemaJson& schema, const std::string& path) {
    const auto low = schema.find("minimum"), high = schema.find("maximum");
    // Whole numbers are compared as such, unless the limit is none: 0.01 would become 0.
    const double number = value.is(Kind::kInt) ? static_cast<double>(value.integer) : value.number;
    const auto whole = [&value](const SchemaJson& limit) {
      return value.is(Kind::kInt) && limit.is_number_integer();
    };
    const auto below = [&](const SchemaJson& limit) {
      return whole(limit) ? value.integer < limit.get<int64_t>() : number < limit.get<double>();
    };
    const auto above = [&](const SchemaJson& limit) {
      return whole(limit) ? value.integer > limit.get<int64_t>() : number > limit.get<double>();
    };
    const bool wrong = (low != schema.end() && below(*low)) || (high != schema.end() && above(*high));
    if (!wrong) return;
    std::string range = low == schema.end()    ? "at most " + numberText(*high)
                        : high == schema.end() ? "at least " + numberText(*low)
                                               : "between " + numberText(*low) + " and " + numberText(*high);
    const std::string unit = textOf(schema, "x-unit");
    if (!unit.empty()) range += " " + unit;
    std::string message = fmt::format("{} must be {}, not {}", path, range, shown(value));
    const std::string other = textOf(schema, "x-pattern-text");
    if (!other.empty() && allows(schema, "string"))
      message = fmt::format("{} must be {} or {}, not {}", path, range, other, shown(value));
    add(value, std::move(message));
  }

  void checkString(const Value& value, const SchemaJson& schema, const std::string& path) {
    const size_t length = characters(value.string);
    if (const auto least = schema.find("minLength"); least != schema.end() && length < least->get<size_t>()) {
      if (length == 0) return add(value, fmt::format("{} must not be empty", path));
      return add(value, fmt::format("{} must be at least {} characters long", path, least->get<size_t>()));
    }
    const std::string pattern = textOf(schema, "pattern");
    if (const auto most = schema.find("maxLength"); most != schema.end() && length > most->get<size_t>()) {
      if (!pattern.empty() && schema.contains("x-pattern-text")) return wrongPattern(value, schema, path);
      return add(value, fmt::format("{} must be at most {} characters long, not {}", path,
                                    most->get<size_t>(), length));
    }
    if (!pattern.empty() && !std::regex_search(value.string, regexOf(pattern)))
      wrongPattern(value, schema, path);
  }

  const std::regex& regexOf(const std::string& pattern) {
    const auto known = patterns_.find(pattern);
    return known != patterns_.end() ? known->second : patterns_.emplace(pattern, pattern).first->second;
  }

  void wrongPattern(const Value& value, const SchemaJson& schema, const std::string& path) {
    int64_t number = 0;
    std::string message = fmt::format("{} must be {}, not {}", path, expectation(schema), shown(value));
    if (allows(schema, "integer") && parseWhole(value.string, number)) {
      message += fmt::format(": write {} without quotes", number);
    }
    add(value, std::move(message));
  }

  void checkArray(Value& value, const SchemaJson& schema, const std::string& path) {
    const size_t size = value.children.size();
    if (const auto least = schema.find("minItems"); least != schema.end() && size < least->get<size_t>()) {
      add(value, size == 0 ? fmt::format("{} must not be empty", path)
                           : fmt::format("{} must have at least {} entries", path, least->get<size_t>()));
    }
    if (const auto most = schema.find("maxItems"); most != schema.end() && size > most->get<size_t>()) {
      return add(value,
                 fmt::format("{} must have at most {} entries, not {}", path, most->get<size_t>(), size));
    }
    const auto items = schema.find("items");
    if (items == schema.end()) return;
    for (size_t i = 0; i < size; ++i) check(value.children[i], *items, fmt::format("{}[{}]", path, i));
  }

  void checkObject(Value& value, const SchemaJson& schema, const std::string& path) {
    const auto others = schema.find("additionalProperties");
    for (Value& member : value.children) {
      const std::string member_path = path.empty() ? member.key : path + "." + member.key;
      if (const SchemaJson* known = schemaOf(schema, member.key)) {
        check(member, *known, member_path);
      } else if (others != schema.end() && others->is_object()) {
        check(member, *others, member_path);
      } else if (others != schema.end() && others->is_boolean() && !others->get<bool>()) {
        unknownKey(member, schema, path);
      }
    }
    if (const auto required = schema.find("required"); required != schema.end()) {
      for (const SchemaJson& key : *required) {
        const auto& name = key.get_ref<const std::string&>();
        if (value.find(name) == nullptr) add(value, fmt::format("{} has no {}", path, inQuotes(name)));
      }
    }
    if (schema.contains("oneOf")) checkHandler(value, schema, path);
    if (schema.contains("not")) checkSpeakers(value, path);
  }

  void checkSpeakers(const Value& listener, const std::string& path) {
    const Value* first = nullptr;
    for (const Value& member : listener.children) {
      const auto& names = schema_.speakers;
      if (std::find(names.begin(), names.end(), member.key) == names.end()) continue;
      if (first == nullptr) {
        first = &member;
      } else {
        errors_.add(member.key_at, fmt::format("{}: {} and {} exclude each other", path, inQuotes(first->key),
                                               inQuotes(member.key)));
      }
    }
  }

  void unknownKey(const Value& member, const SchemaJson& schema, const std::string& path) {
    if (errors_.full()) return errors_.add(member.key_at, {});
    std::vector<std::string_view> candidates;
    if (const auto properties = schema.find("properties"); properties != schema.end()) {
      for (const auto& [key, known] : properties->items()) {
        if (!known.contains("x-alias-for")) candidates.push_back(key);
      }
    }
    std::string message = "unknown key " + inQuotes(member.key);
    if (!path.empty()) message += " in " + path;
    // A key of another object is no misspelling of one that happens to look alike.
    const std::string home = homeOf(member.key, schema_.json, "");
    std::string hint = home.empty() ? foreignHint(member.key) : ": it belongs in " + home;
    if (hint.empty()) hint = didYouMean(member.key, candidates);
    errors_.add(member.key_at, message + hint);
  }

  // The object that knows this key, for keys that stand in the wrong one. "" when there is none.
  static std::string homeOf(const std::string& key, const SchemaJson& schema, const std::string& path) {
    const auto properties = schema.find("properties");
    if (properties == schema.end())
      return schema.contains("items") ? homeOf(key, schema["items"], path + "[]") : "";
    if (properties->contains(key)) return path.empty() ? "the outermost object" : inQuotes(path);
    for (const auto& [name, below] : properties->items()) {
      std::string below_path = path;
      below_path.append(path.empty() ? "" : ".").append(name);
      std::string home = homeOf(key, below, below_path);
      if (!home.empty()) return home;
    }
    return {};
  }

  void checkHandler(const Value& route, const SchemaJson& schema, const std::string& path) {
    std::vector<const Value*> found;
    for (const Value& member : route.children) {
      const auto& names = schema_.handlers;
      if (std::find(names.begin(), names.end(), member.key) != names.end()) found.push_back(&member);
    }
    const bool has_unknown =
        std::any_of(route.children.begin(), route.children.end(),
                    [&schema](const Value& member) { return schemaOf(schema, member.key) == nullptr; });
    if (found.empty() && has_unknown) return;  // most likely the handler, misspelt: said already
    if (found.empty()) {
      std::string names;
      for (const std::string& name : schema_.handlers) names += (names.empty() ? "" : ", ") + inQuotes(name);
      add(route, fmt::format("{} has no handler: one of {}", path, names));
    } else if (found.size() > 1) {
      std::string names;
      for (const Value* member : found) names += (names.empty() ? "" : ", ") + member->key;
      const char* count = found.size() == 2 ? "two" : "several";
      errors_.add(found[1]->key_at, fmt::format("{} has {} handlers: {}", path, count, names));
    }
  }

  const SchemaImpl& schema_;
  Errors& errors_;
  std::map<std::string, std::regex> patterns_;  // compiled once per load
};

}  // namespace

void checkTree(Value& root, const SchemaImpl& schema, Errors& errors) {
  if (!root.is(Kind::kObject)) {
    errors.add(root.at,
               fmt::format("the configuration must be an object, {{ ... }}, not {}", kindName(root.kind)));
    return;
  }
  Checker(schema, errors).check(root, schema.json, "");
}

}  // namespace roost::config
