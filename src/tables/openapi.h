#pragma once

#include <string>

#include "tables/exposure.h"

namespace roost::tables {

// What stands around the tables.
struct OpenApiOptions {
  std::string base;  // the route's path, "/data/"
  bool batch = false;
};

// An OpenAPI 3.1 document of what the exposure lets clients do: a path for each table, with a parameter for
// each column, and schemas of rows as they come, are made and are changed. The same text for the same
// exposure.
std::string openApiDocument(const Exposure& exposure, const OpenApiOptions& options);

}  // namespace roost::tables
