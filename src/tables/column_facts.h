// What information_schema says of a column, and what that means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tables/catalog.h"

namespace roost::tables {

// One row of information_schema.COLUMNS.
struct ColumnFacts {
  std::string name;
  std::string data_type;    // "varchar"
  std::string column_type;  // "varchar(20)", "enum('a','b')", "int(10) unsigned"
  std::optional<std::string> default_text;
  bool nullable = false;
  std::optional<uint64_t> max_length;         // CHARACTER_MAXIMUM_LENGTH
  std::optional<uint64_t> numeric_precision;  // of BIT: its bits
  std::optional<uint64_t> numeric_scale;
  std::optional<uint64_t> datetime_precision;  // fractional digits
  std::string collation;
  std::string extra;  // "auto_increment", "STORED GENERATED", "INVISIBLE", "DEFAULT_GENERATED on update ..."
  std::string generation;  // the expression of a generated column
  std::string comment;
};

Column columnOf(const ColumnFacts& facts);

// The members of "enum('a','it''s')" or "set(...)", unescaped; none where it is neither.
std::vector<std::string> membersOf(std::string_view column_type);

// The columns that a CHECK clause, as MariaDB writes it ("json_valid(`doc`)"), lets hold nothing but JSON: by
// itself or among others that are joined by "and".
std::vector<std::string> jsonColumnsOf(std::string_view check_clause);

}  // namespace roost::tables
