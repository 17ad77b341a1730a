// Rows as clients send them, checked against a table and turned into values of statements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/value.h"
#include "tables/body_budget.h"
#include "tables/exposure.h"
#include "tables/problem.h"

namespace roost::tables {

// One row: what it gives, in the order of its table's columns. Columns that it does not give take their
// defaults.
struct BodyRow {
  std::vector<uint16_t> columns;  // positions in Table::columns, ascending
  std::vector<db::Value> values;  // of each
  // nullptr: not given.
  const db::Value* find(uint16_t column) const noexcept;
  void set(uint16_t column, db::Value value);  // in its place, or in addition
};

struct Body {
  std::vector<BodyRow> rows;
  bool is_list = false;           // an array, lines, CSV: answered by one too
  std::vector<uint16_t> columns;  // given by any row, ascending
};

enum class BodyFormat : uint8_t { kJson, kNdjson, kCsv };

struct BodyOptions {
  // `columns=`: only these count, the rest of each row is passed over. Empty: all, and what is not known is
  // refused.
  const std::vector<std::string>* columns = nullptr;
  uint32_t max_rows = 1000;
  std::string_view time_zone = "+00:00";
  BodyLease* lease = nullptr;  // pays for the rows, and for the statements that are made of them
  bool names_rows = false;     // rows say which row they are: keys that may not be written can stand in them
  bool missing_is_null = false;  // Prefer: missing=null: what any row gives is NULL in those that do not
};

// 503: the BodyBudget is spent.
Problem bodiesFull();

// How deeply a value of a JSON column may nest.
constexpr uint32_t kMaxJsonDepth = 64;

// Reads an object or an array of objects (kJson), an object a line (kNdjson), or lines under a heading (kCsv;
// RFC 4180; an unquoted NULL or nothing at all is NULL, "" the empty text). Numbers keep the digits that they
// were written with. False: `problem` says what may not be, and where.
bool readBody(std::string_view text, BodyFormat format, const ExposedTable& table, const BodyOptions& options,
              Body& out, Problem& problem);

// A value as it stands in JSON.
struct JsonValue {
  enum class Kind : uint8_t { kNull, kTrue, kFalse, kNumber, kString, kDocument } kind = Kind::kNull;
  std::string text;  // of a number as written; of a string its content; of an array or object its JSON
};
// Checked and converted to the column's type. False: 400.
bool convertJson(const Column& column, JsonValue value, std::string_view time_zone, db::Value& out,
                 Problem& problem);

}  // namespace roost::tables
