// What the parts of an OpenAPI document are made of. For this folder only.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace roost::tables::openapi {

using Json = nlohmann::ordered_json;

constexpr std::string_view kJsonType = "application/json";

// {"$ref": "#/components/<kind>/<name>"}
Json refTo(std::string_view kind, std::string_view name);
// What may be a key of `components`.
std::string componentName(std::string_view text);
std::string pathSegment(std::string_view name);
Json parameter(std::string_view name, std::string_view in, std::string_view description, Json schema);
Json listParameter(std::string_view name, std::string_view description, uint32_t most, Json items);
// Of a response.
Json header(std::string_view description, std::string_view pattern);
void addRefusals(Json& responses, std::initializer_list<int> statuses);

// What all tables have in common, as `components` has it.
Json commonParameters();
Json commonResponses();
Json problemSchema();

}  // namespace roost::tables::openapi
