#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "config/node.h"
#include "db/value.h"
#include "http/message.h"
#include "tables/catalog.h"
#include "tables/exposure.h"
#include "tables/named_sql.h"

namespace roost::modules::mysql {

// One parameter of a configured statement.
struct QueryParameter {
  enum class From : uint8_t { kPath, kQuery, kBody, kQueryOrBody };
  std::string name;
  From from = From::kQueryOrBody;
  tables::Column column;  // what its value is read as
  bool required = true;   // has no default
  bool nullable = false;
  std::string fallback;  // the default, as a query would say it; NULL where fallback_is_null
  bool fallback_is_null = false;
  std::optional<double> minimum;
  std::optional<double> maximum;
  uint32_t min_chars = 0;
  uint32_t max_chars = 0;
  std::vector<std::string> members;  // empty: any

  // Whether a value of its type is one that it may have; `why` says in words what is wrong.
  bool admits(const db::Value& value, std::string& why) const;
};

enum class QueryResult : uint8_t { kRows, kRow, kValue, kAffected, kNone };

// What a route's `mysql_query` says. Read once, immutable, kept by the route's handler.
struct QueryRouteConfig {
  std::vector<QueryParameter> parameters;
  std::vector<tables::NamedSql> statements;
  bool writes = false;           // any of them may
  bool returns_rows = false;     // the last of them may
  bool touches_session = false;  // any of them may change what its session is to others
  bool transaction = true;
  uint8_t methods = 0;  // bits of methodBit()
  QueryResult result = QueryResult::kRows;
  uint32_t max_rows = 0;
  uint32_t max_body_bytes = 0;
  uint32_t max_answer_bytes = 0;
  uint32_t cache_s = 0;
  tables::BigNumber bigint = tables::BigNumber::kNumber;
  tables::BigNumber decimal = tables::BigNumber::kNumber;

  static uint8_t methodBit(http::Method method) noexcept;  // GET's for HEAD; 0: none of them
  bool allows(http::Method method) const noexcept { return (methods & methodBit(method)) != 0; }
  std::string allow() const;  // for the Allow field

  // At most one row is told.
  bool answersOne() const noexcept { return result == QueryResult::kRow || result == QueryResult::kValue; }
  // Whether what is executed is committed only when its answer is there. `single`: the client takes one
  // object alone.
  bool isTransaction(bool single) const noexcept;

  // Of the keys of query_schema.json; `path_names` are the parts of the route's path. Errors, by the key's
  // name: a statement that cannot be read, parameters that contradict each other or are not used, a default
  // that may not be, a statement that may write to be asked for by GET.
  static Result<QueryRouteConfig> fromConfig(config::Node node, const std::vector<std::string>& path_names);
};

}  // namespace roost::modules::mysql
