#include "config/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/schema_impl.h"

namespace roost::embedded {
extern const std::string_view kCoreSchemaText;
}

namespace roost::config {
namespace {

constexpr size_t kLongestPatternText = 4096;  // std::regex recurses once per character

// Where a module's key goes.
const SchemaJson::json_pointer kRouteSchema(
    "/properties/http/properties/sites/items/properties/routes/items");

const SchemaJson::json_pointer kSiteSchema("/properties/http/properties/sites/items");
const SchemaJson::json_pointer kHttpSchema("/properties/http");
const SchemaJson::json_pointer kListenerSchema("/properties/listen/items");

// The words of JSON Schema that check.cc understands, and ours.
constexpr std::string_view kKnownWords[] = {
    "$schema",        "title",          "description", "type",
    "enum",           "minimum",        "maximum",     "pattern",
    "minLength",      "maxLength",      "items",       "minItems",
    "maxItems",       "properties",     "required",    "additionalProperties",
    "default",        "x-unit",         "x-path",      "x-secret",
    "x-switch",       "x-append",       "x-alias-for", "x-inherit",
    "x-pattern-text", "x-default-text", "x-map-key",   "x-ignored",
    "x-handler",      "x-inherited",    "x-example"};

// Objects may hold "include": said once, referred to from each of them, for the sake of editors.
const char* const kIncludeText =
    R"({"type": ["string", "array"], "items": {"type": "string", "description": "A file."},
        "description": "A file, or a list of files, relative to this one, whose object is merged into this object. What stands here wins; lists of listeners, sites, routes and blocked addresses are put one after the other."})";

[[noreturn]] void fail(const std::string& where, const std::string& message) {
  throw std::invalid_argument(fmt::format("schema {}: {}", where.empty() ? "/" : where, message));
}

// Refuses what check.cc would not see, and what a configuration could not be filled in from.
void checkWords(const SchemaJson& schema, const std::string& where) {
  if (!schema.is_object()) fail(where, "not an object");
  for (const auto& [word, value] : schema.items()) {
    if (std::find(std::begin(kKnownWords), std::end(kKnownWords), word) == std::end(kKnownWords)) {
      fail(where, fmt::format("the word {} is not known here", inQuotes(word)));
    }
  }
  if (schema.contains("pattern") &&
      (!schema.contains("maxLength") || schema["maxLength"].get<size_t>() > kLongestPatternText)) {
    fail(where, fmt::format("a pattern needs a maxLength of at most {}", kLongestPatternText));
  }
  if (!schema.contains("type")) fail(where, "no type");
  if (schema.contains("properties")) {
    for (const auto& [key, value] : schema["properties"].items()) {
      checkWords(value, fmt::format("{}/{}", where, key));
    }
  }
  if (schema.contains("items")) checkWords(schema["items"], where + "/items");
  if (schema.contains("additionalProperties") && schema["additionalProperties"].is_object()) {
    checkWords(schema["additionalProperties"], where + "/additionalProperties");
  }
}

void collectAppendedKeys(const SchemaJson& schema, std::set<std::string>& keys) {
  if (schema.contains("properties")) {
    for (const auto& [key, value] : schema["properties"].items()) {
      if (flagOf(value, "x-append")) keys.insert(key);
      collectAppendedKeys(value, keys);
    }
  }
  if (schema.contains("items")) collectAppendedKeys(schema["items"], keys);
}

void addInclude(SchemaJson& schema) {
  if (schema.contains("properties")) {
    for (auto& [key, value] : schema["properties"].items()) addInclude(value);
    schema["properties"]["include"] = {{"$ref", "#/definitions/include"}};
  }
  if (schema.contains("items")) addInclude(schema["items"]);
}

// Of several that may speak on a listener, no two at once.
void addSpeaker(SchemaImpl& impl, const std::string& key, SchemaJson json) {
  if (!impl.json.contains(kListenerSchema)) fail(key, "no listeners to put a module's key in");
  SchemaJson& listener = impl.json[kListenerSchema];
  if (listener["properties"].contains(key)) fail(key, "this key is taken");
  for (const std::string& other : impl.speakers)
    listener["not"]["anyOf"].push_back({{"required", {other, key}}});
  impl.speakers.push_back(key);
  json["x-speaker"] = true;
  listener["properties"][key] = std::move(json);
}

void addFragment(SchemaImpl& impl, const SchemaFragment& fragment) {
  SchemaJson json = SchemaJson::parse(fragment.text, nullptr, false);
  if (json.is_discarded()) fail(fragment.key, "the module's schema is not JSON");
  checkWords(json, fragment.key);
  if (fragment.is_listener) return addSpeaker(impl, fragment.key, std::move(json));
  if (!impl.json.contains(kRouteSchema)) fail(fragment.key, "no routes to put a module's key in");
  if (impl.json[kRouteSchema]["properties"].contains(fragment.key))
    fail(fragment.key, "two modules have this key");
  if (fragment.is_inherited) {
    SchemaJson& types = json["type"];
    if (types.is_string()) types = SchemaJson::array({types});
    if (std::find(types.begin(), types.end(), "null") == types.end()) types.push_back("null");
    json["x-inherited"] = true;
    for (const auto& place : {kSiteSchema, kHttpSchema}) {
      SchemaJson& properties = impl.json[place]["properties"];
      if (properties.contains(fragment.key)) fail(fragment.key, "this key is taken");
      properties[fragment.key] = json;
    }
  }
  SchemaJson& route = impl.json[kRouteSchema];  // only now: the places above hold it, and have grown
  if (fragment.is_handler) {
    impl.handlers.push_back(fragment.key);
    json["x-handler"] = true;
    route["oneOf"].push_back({{"required", {fragment.key}}});
  }
  route["properties"][fragment.key] = std::move(json);
}

void assembleInto(SchemaImpl& impl, std::string_view core, const std::vector<SchemaFragment>& fragments) {
  impl.json = SchemaJson::parse(core, nullptr, false);
  if (impl.json.is_discarded()) fail("core", "not JSON");
  checkWords(impl.json, "");
  for (const SchemaFragment& fragment : fragments) addFragment(impl, fragment);
  collectAppendedKeys(impl.json, impl.appended_keys);

  SchemaJson with_include = impl.json;
  addInclude(with_include);
  with_include["definitions"]["include"] = SchemaJson::parse(kIncludeText);
  impl.text = with_include.dump(2) + "\n";
  impl.validator = std::make_unique<Validator>(nlohmann::json::parse(impl.text));
}

}  // namespace

const SchemaJson* schemaOf(const SchemaJson& schema, std::string_view key) {
  const auto properties = schema.find("properties");
  if (properties == schema.end()) return nullptr;
  const auto found = properties->find(std::string(key));
  return found == properties->end() ? nullptr : &*found;
}

std::string textOf(const SchemaJson& schema, const char* word) {
  const auto found = schema.find(word);
  return found != schema.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool flagOf(const SchemaJson& schema, const char* word) {
  const auto found = schema.find(word);
  return found != schema.end() && found->is_boolean() && found->get<bool>();
}

Result<Schema> Schema::assemble(std::string_view core, const std::vector<SchemaFragment>& fragments) {
  auto impl = std::make_unique<SchemaImpl>();
  try {
    assembleInto(*impl, core, fragments);
  } catch (const std::exception& error) {
    return Status::error(error.what());
  }
  return Schema(std::move(impl));
}

Schema::Schema(std::unique_ptr<SchemaImpl> impl) noexcept : impl_(std::move(impl)) {}
Schema::Schema(Schema&&) noexcept = default;
Schema& Schema::operator=(Schema&&) noexcept = default;
Schema::~Schema() = default;

const std::string& Schema::text() const noexcept {
  return impl_->text;
}

std::string_view coreSchemaText() noexcept {
  return embedded::kCoreSchemaText;
}

}  // namespace roost::config
