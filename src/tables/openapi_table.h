// For this folder only.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tables/exposure.h"

namespace roost::tables::openapi {

// Writes a table's part into an OpenAPI document that has the common parts: its path, and under `components`
// its schemas, parameters and responses, all named `name` or "name.part".
void describeTable(const ExposedTable& table, const Exposure& exposure, std::string name,
                   nlohmann::ordered_json& document);

}  // namespace roost::tables::openapi
