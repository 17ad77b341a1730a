// What a route's own path answers: an OpenAPI document of its tables, or a page to try them with.
#pragma once

#include <string>

#include "modules/mysql/rest_config.h"
#include "tables/exposure.h"

namespace roost::http {
class Exchange;
}

namespace roost::modules::mysql {

// Made with each schema, immutable, shared by all loops.
struct Description {
  std::string document;
  uint64_t hash = 0;  // of it
};

Description describe(const tables::Exposure& exposure, const RestRouteConfig& route);

// By Accept: the document, or for browsers the page; what the page needs besides is asked for by the query.
// GET, HEAD and OPTIONS.
void replyDescription(http::Exchange& exchange, const Description& description) noexcept;

}  // namespace roost::modules::mysql
