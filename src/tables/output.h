// How a row's cells are written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/row.h"
#include "tables/exposure.h"

namespace roost::tables {

struct OutputColumn {
  std::string name;      // the key in JSON, the heading in CSV
  std::string json_key;  // "\"name\":", escaped once
  bool is_json = false;  // the text is JSON, whatever the result's type says
  bool is_bool = false;
  bool as_text = false;  // whatever it is, as a string (->>)
  bool hidden = false;   // selected for joining or paging, not shown
};

struct OutputOptions {
  BigNumber bigint = BigNumber::kNumber;
  BigNumber decimal = BigNumber::kNumber;
  std::string_view time_zone = "+00:00";
  bool strip_nulls = false;  // members that are null are left out of objects
};

enum class Format : uint8_t { kJson, kNdjson, kCsv };

// Writes rows as text into a string that its user empties now and then. Numbers by std::to_chars, nothing is
// allocated per cell.
class RowWriter {
 public:
  // What is referred to outlives it.
  RowWriter(const std::vector<OutputColumn>& columns, const OutputOptions& options) noexcept;

  // `{"a":1,...}`. `result` describes the row as it came, which after an ALTER may be of other types than
  // when the statement was planned.
  void object(const db::ResultColumns& result, const db::Row& row, std::string& out) const;
  // `1,text,"with, comma"`, without the line's end (RFC 4180). NULL: nothing between the commas.
  void csvLine(const db::ResultColumns& result, const db::Row& row, std::string& out) const;
  void csvHeading(std::string& out) const;
  // One cell as a JSON value.
  void value(const OutputColumn& column, const db::ResultColumn& result, const db::Cell& cell,
             std::string& out) const;

 private:
  const std::vector<OutputColumn>& columns_;
  const OutputOptions options_;
};

void appendJsonString(std::string_view utf8,
                      std::string& out);  // quoted and escaped; what is no UTF-8: U+FFFD

}  // namespace roost::tables
