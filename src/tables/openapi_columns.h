// What a column is in JSON Schema, and how requests may compare it. For this folder only.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "tables/exposure.h"

namespace roost::tables {

enum class Direction : uint8_t { kAnswer, kRequest };

// A value of the column as answers write it, or as requests may give it.
nlohmann::ordered_json columnSchema(const Column& column, const RestConfig& rest, Direction direction);

// A regular expression (ECMA-262, anchored) of the filters that a request may have on the column:
// "^(not\.)?(eq\.7|...)$". Not of all of them: of those that are sure to mean something.
std::string filterPattern(const Table& table, const Column& column);
// The filters on a key that name one row, "^eq\..*$", or also some, "in.(1,2)".
std::string keyPattern(const Column& column, bool many);

// The column's name where a query's parameter is named by it, in quotes where it would mean something else.
std::string parameterName(std::string_view column);
// The same within `select`, `order` and the like, where only commas and such matter.
std::string nameInList(std::string_view column);
// Of a text, what a regular expression has for it.
std::string escapedForPattern(std::string_view text);

}  // namespace roost::tables
