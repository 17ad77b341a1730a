#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tables/problem.h"

namespace roost::modules::mysql {

// One operation of a batch, as it is asked for.
struct BatchEntry {
  std::string method;  // "GET", "POST" ...
  std::string table;   // its name in the path
  std::string query;   // as behind '?'
  std::string prefer;
  std::string accept;
  std::string if_match;
  std::string if_none_match;
  std::string body;  // JSON; empty: there is none
};

// Reads [{"method": "POST", "path": "orders", "query": "select=id", "headers": {"Prefer": "..."}, "body":
// {...}},
// ...]. `path` may begin with `base` ("/data/") and may have the query behind '?'. Of headers Prefer, Accept,
// If-Match and If-None-Match; `prefer` beside them says the same as the first. False: `problem`, which names
// the operation.
bool readBatch(std::string_view text, std::string_view base, uint32_t max_entries,
               std::vector<BatchEntry>& out, tables::Problem& problem);

// "operation 3: " in front of the detail.
void nameOperation(size_t index, tables::Problem& problem);

}  // namespace roost::modules::mysql
