// From a parsed query to the statements that answer it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/value.h"
#include "tables/exposure.h"
#include "tables/output.h"
#include "tables/preferences.h"
#include "tables/query.h"

namespace roost::tables {

// The rows of another table that stand within each row, found by a second statement along a foreign key.
struct EmbedPlan {
  std::string json_key;        // "\"customer\":"
  bool many = false;           // an array; else an object or null
  bool inner = false;          // (the first statement has seen to it)
  std::vector<uint16_t> from;  // the joining cells' positions in the outer row
  std::vector<OutputColumn>
      columns;                 // of its rows; the first from.size() are the joining ones, in that order
  uint32_t max_rows = 0;       // of all together; beyond it the answer is refused
  uint32_t max_rows_each = 0;  // of one outer row, the table's own max_rows: the rest is left out. 0: any
  // The statement for the joining values of the outer rows (`keys`: from.size() values for each, without
  // NULLs and repeats). As many marks as the next power of two needs, the last key repeated.
  db::Statement forKeys(const std::vector<db::Value>& keys) const;

  db::SqlText head;  // SELECT ... WHERE (k) IN (
  db::SqlText tail;  // ) AND ... ORDER BY ... LIMIT ?, which is max_rows + 1
  std::vector<db::Value> head_values;
  std::vector<db::Value> tail_values;
};

struct ReadPlan {
  db::Statement rows;
  std::vector<OutputColumn> columns;  // of `rows`, in order; hidden ones last
  std::vector<EmbedPlan> embeds;
  std::optional<db::Statement> count;    // one row, one number: Preferences::Count::kExact (or kEstimated)
  std::optional<db::Statement> explain;  // EXPLAIN of it: planned, estimated
  uint64_t offset = 0;
  std::optional<uint64_t> limit;        // that the client asked for, or that the route sets
  bool one_by_key = false;              // all of the primary key is compared with eq: one row or none
  std::vector<uint16_t> order_columns;  // for keyset paging: positions of order's cells in the row
};

struct ReadOptions {
  Preferences preferences;
  std::optional<RowRange> range;
  bool single = false;  // one row is expected: two are asked for, to tell
};

// False: `problem`.
bool planRead(const ExposedTable& table, const Exposure& exposure, const Query& query,
              const ReadOptions& options, ReadPlan& plan, Problem& problem);

// For writes too: appends " WHERE ..." of the query's conditions and the table's fixed ones. Nothing where
// there are none. Writes: what is embedded is refused, as is `after`.
bool appendWhere(const ExposedTable& table, const Exposure& exposure, const Query& query, db::Statement& out,
                 Problem& problem);
// "a, b, c" and what they are, of the query's select; places in JSON have values. What is embedded is
// refused.
bool appendSelect(const ExposedTable& table, const Exposure& exposure, const Query& query, db::Statement& out,
                  std::vector<OutputColumn>& columns, Problem& problem);
// A value that a client wrote as text, for a column: checked and converted to the column's type. False: 400.
bool convertText(const Column& column, std::string_view text, std::string_view time_zone, db::Value& out,
                 Problem& problem);

}  // namespace roost::tables
