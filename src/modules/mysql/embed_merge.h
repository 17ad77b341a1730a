#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tables/output.h"
#include "tables/read.h"

namespace roost::modules::mysql {

// Puts rows of other tables into the rows they belong to: keeps the text of the outer rows, says which keys
// they join by, takes the inner rows, and writes it all. Part of one request; its thread only. Text keys
// match as most collations have it: without regard to case in ASCII, and to spaces at the end.
class EmbedMerge {
 public:
  EmbedMerge(const std::vector<tables::EmbedPlan>& plans, const tables::OutputOptions& options);

  // An outer row.
  void addRow(const tables::RowWriter& writer, const db::ResultColumns& columns, const db::Row& row);
  size_t rows() const noexcept { return ends_.size(); }

  // For the embedding with this index: false where no row has a key, and so there is nothing to ask.
  bool hasKeys(size_t index) const noexcept { return !parts_[index].keys.empty(); }
  db::Statement statement(size_t index) const { return plans_[index].forKeys(parts_[index].keys); }
  // A row of that statement. False: there are more than EmbedPlan::max_rows, or it is a stray.
  bool addInner(size_t index, const db::ResultColumns& columns, const db::Row& row);
  // Whether a row belongs to no outer one, though the database found their keys equal: texts that differ in
  // more than case, such as accents.
  bool hasStray() const noexcept { return has_stray_; }

  // Of what is kept.
  size_t bytes() const noexcept { return bytes_; }
  // All outer rows, each behind `before` but for the first.
  void appendTo(std::string& out, std::string_view before) const;

 private:
  struct Group {
    std::string text;  // its rows, with commas between them
    uint32_t rows = 0;
  };
  struct Part {
    std::unordered_map<std::string, Group> groups;
    std::vector<db::Value> keys;       // of each group, plan.from.size() for each
    std::vector<const Group*> of_row;  // nullptr: the row has no key
    tables::RowWriter writer;
    size_t rows = 0;
  };

  const std::vector<tables::EmbedPlan>& plans_;
  const tables::OutputOptions options_;
  std::vector<Part> parts_;
  std::string text_;          // the outer rows without their closing braces
  std::vector<size_t> ends_;  // of each in text_
  size_t bytes_ = 0;
  bool has_stray_ = false;
};

}  // namespace roost::modules::mysql
