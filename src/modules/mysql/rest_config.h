#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "config/node.h"
#include "tables/exposure.h"

namespace roost::modules::mysql {

// What a route's `mysql_rest` says. Read once, immutable, kept by the route's handler.
struct RestRouteConfig {
  std::shared_ptr<const tables::RestConfig> tables;
  std::string path;     // the route's, "/data/"
  bool openapi = true;  // the route's own path answers the document
  bool batch = false;
  uint32_t max_body_bytes = 1u << 20;

  // Of the keys of rest_schema.json. Errors, by the key's name: two tables of one name in the path, columns
  // that contradict each other, a `where` that is no query.
  static Result<RestRouteConfig> fromConfig(config::Node node, std::string path);
};

}  // namespace roost::modules::mysql
