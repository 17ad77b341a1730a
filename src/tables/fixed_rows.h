#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "db/value.h"
#include "tables/body.h"
#include "tables/exposure.h"
#include "tables/problem.h"

namespace roost::tables {

// What a table's fixed conditions mean for rows that are written: columns that always have one value, and
// conditions that have to be looked at once the row is there.
class FixedRows {
 public:
  // False: the configuration's value is none of the column's.
  bool read(const ExposedTable& table, std::string_view time_zone, Problem& problem);

  bool any() const noexcept { return !forced_.empty() || general_; }
  // Gives the row the values that it has to have. False: it has others (403).
  bool force(BodyRow& row, Problem& problem) const;
  // Whether it has no others; nothing is added.
  bool allows(const BodyRow& row, Problem& problem) const;
  // Rows that are new have to be looked at.
  bool looksAtNew() const noexcept { return general_; }
  // Rows have to be looked at once these columns have changed.
  bool looksAt(const std::vector<uint16_t>& columns) const;

 private:
  void readGeneral(const ExposedTable& table, const Condition& condition);

  // Whether the column, given so, has the value.
  static bool isSame(const Column& column, db::Value given, const db::Value& value);

  const Table* table_ = nullptr;
  std::vector<std::pair<uint16_t, db::Value>> forced_;
  bool general_ = false;
  std::vector<bool> looked_at_;  // by position, in what is no forced value
};

// 403: a row that was to be written is none of those that there are to a client.
Problem outsideFixed();

}  // namespace roost::tables
