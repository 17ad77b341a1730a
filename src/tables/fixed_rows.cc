#include "tables/fixed_rows.h"

#include "tables/exact_value.h"
#include "tables/key_values.h"
#include "tables/read.h"

namespace roost::tables {
namespace {

bool isPlain(const Condition& condition) noexcept {
  return condition.kind == Condition::Kind::kLeaf && !condition.negated &&
         condition.quantifier == Quantifier::kNone && condition.path.steps.empty() &&
         condition.values.size() == 1;
}

// "is.true" and its kind say what a value has to be.
bool isOneValue(const Condition& condition) {
  if (!isPlain(condition)) return false;
  if (condition.op == Operator::kEq) return true;
  const std::string& word = condition.values[0];
  return condition.op == Operator::kIs && (word == "true" || word == "false" || word == "null");
}

bool valueIn(const Condition& condition, const Column& column, std::string_view time_zone, db::Value& out,
             Problem& problem) {
  const std::string& word = condition.values[0];
  if (condition.op == Operator::kEq) return convertText(column, word, time_zone, out, problem);
  out = word == "null" ? db::Value::null() : db::Value::ofInt(word == "true" ? 1 : 0);
  return true;
}

}  // namespace

Problem outsideFixed() {
  Problem problem;
  problem.status = 403;
  problem.code = "row_not_allowed";
  problem.detail = "a row may not be written as it would be";
  return problem;
}

bool FixedRows::read(const ExposedTable& table, std::string_view time_zone, Problem& problem) {
  const Table& all = *table.table;
  table_ = &all;
  looked_at_.assign(all.columns.size(), false);
  for (const Condition& condition : table.fixed.where) {
    const Column* const column = isOneValue(condition) ? all.find(condition.path.column) : nullptr;
    if (column == nullptr || column->generated) {
      readGeneral(table, condition);
      continue;
    }
    db::Value value;
    if (!valueIn(condition, *column, time_zone, value, problem) || !makeExact(*column, value, problem))
      return false;
    forced_.emplace_back(static_cast<uint16_t>(column - all.columns.data()), std::move(value));
  }
  return true;
}

void FixedRows::readGeneral(const ExposedTable& table, const Condition& condition) {
  general_ = true;
  for (const Condition& part : condition.parts) readGeneral(table, part);
  if (condition.kind != Condition::Kind::kLeaf) return;
  const Column* const column = table.table->find(condition.path.column);
  if (column == nullptr || column->generated) {  // follows from others
    looked_at_.assign(looked_at_.size(), true);
  } else {
    looked_at_[static_cast<size_t>(column - table.table->columns.data())] = true;
  }
}

bool FixedRows::isSame(const Column& column, db::Value given, const db::Value& value) {
  Problem problem;
  return makeExact(column, given, problem) && sameValue(given, value);
}

bool FixedRows::allows(const BodyRow& row, Problem& problem) const {
  for (const auto& [column, value] : forced_) {
    const db::Value* const given = row.find(column);
    if (given == nullptr || isSame(table_->columns[column], *given, value)) continue;
    problem = outsideFixed();
    return false;
  }
  return true;
}

bool FixedRows::force(BodyRow& row, Problem& problem) const {
  if (!allows(row, problem)) return false;
  for (const auto& [column, value] : forced_) row.set(column, value);
  return true;
}

bool FixedRows::looksAt(const std::vector<uint16_t>& columns) const {
  for (const uint16_t column : columns)
    if (looked_at_[column]) return true;
  return false;
}

}  // namespace roost::tables
