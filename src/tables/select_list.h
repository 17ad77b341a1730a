// The columns of a statement that reads. Within tables/ only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tables/output.h"
#include "tables/sql_context.h"

namespace roost::tables {

// "\"name\":".
std::string jsonKey(std::string_view name);

// Writes "a, b, c" as it is added to; one statement's.
class SelectList {
 public:
  // `named`: each column gets a name of its own (c0, c1 ...), for who selects from the result. What is
  // referred to outlives it.
  SelectList(const SqlContext& context, std::vector<OutputColumn>& columns, db::Statement& out,
             bool named = false) noexcept
      : context_(context), columns_(columns), out_(out), named_(named) {}

  // What the query selects, but for what is embedded. False: the problem is told. REQUIRES: it selects
  // something.
  bool add(const Query& query);
  // The position of the column's cell; where it is not there yet, it is added as a hidden one.
  uint16_t positionOf(const Column& column);
  // In any case a cell of its own, at the end.
  uint16_t addHidden(const Column& column);
  bool contains(const Column& column) const noexcept;
  size_t size() const noexcept { return columns_.size(); }

 private:
  bool addAll();
  bool addItem(const SelectItem& item);
  bool addPath(const Operand& operand, const std::string& name);
  bool addCast(const Operand& operand, const SelectItem& item, const std::string& name);
  bool addPlain(const Column& column, const std::string& name);
  // Begins a column of the name. False with `is_new`: there is another one of it.
  bool begin(const Column* plain, const std::string& name, bool& is_new);
  void push(const Column* plain, const std::string& name);
  void finishPlain(const Column& column);  // writes the one just pushed
  void finish();                           // behind a column's expression

  const SqlContext& context_;
  std::vector<OutputColumn>& columns_;
  db::Statement& out_;
  const bool named_;
  std::vector<const Column*> plain_;  // of each output column: the column that it is; nullptr: an expression
};

}  // namespace roost::tables
