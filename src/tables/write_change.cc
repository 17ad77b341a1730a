#include "tables/write_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tables/read.h"

namespace roost::tables {
ChangeOperation::ChangeOperation(const ExposedTable& table, const Exposure& exposure, Query query,
                                 WriteOptions options, BodyRow row)
    : WriteBase(table, exposure, std::move(query), std::move(options)), row_(std::move(row)) {}

bool ChangeOperation::plan(Problem& problem) {
  if (query_.where.empty()) {
    problem = refused(400, "filter_required", "all rows would be written",
                      "Name the rows by a condition, such as id=eq.1.");
    return false;
  }
  // What cannot be said is refused before anything is asked.
  db::Statement tried;
  if (!appendWhere(table_, exposure_, query_, tried, problem)) return false;
  if (!planLimit(problem) || !fixed_.read(table_, zone(), problem) || !fixed_.allows(row_, problem) ||
      !beginRepresentation(problem)) {
    return false;
  }
  return planKeys(problem);
}

// "limit" only where it is certain which rows are the first.
bool ChangeOperation::planLimit(Problem& problem) const {
  if (query_.order.empty() && !query_.limit) return true;
  if (!query_.limit) {
    problem = refused(400, "order_without_limit", "order says which rows are written only beside limit");
    return false;
  }
  std::vector<uint16_t> ordered;
  for (const OrderTerm& term : query_.order) {
    const Column* const column = table_.find(term.path.column);
    const bool is_plain = column != nullptr && term.path.steps.empty() && term.relation.empty() &&
                          term.nulls == OrderTerm::Nulls::kDefault;
    if (!is_plain) {
      problem = refused(400, "bad_order", "writes are ordered by columns of the table alone");
      return false;
    }
    ordered.push_back(static_cast<uint16_t>(column - table_.table->columns.data()));
  }
  const auto is_ordered = [&ordered](uint16_t column) {
    return std::find(ordered.begin(), ordered.end(), column) != ordered.end();
  };
  const auto decides = [&](const Key& key) {
    return key.unique && !key.partial && std::all_of(key.columns.begin(), key.columns.end(), is_ordered);
  };
  if (std::any_of(table_.table->keys.begin(), table_.table->keys.end(), decides)) return true;
  problem = refused(400, "limit_needs_order",
                    "limit of a write needs an order that has all columns of a unique key");
  return false;
}

bool ChangeOperation::planKeys(Problem& problem) {
  bool alone = false;
  is_named_ = key_ != nullptr && !query_.limit && keyOf(table_, *key_, query_, zone(), named_, alone);
  has_tag_ = options_.must_exist || options_.tag != nullptr;
  if ((has_tag_ || options_.create_only) && (!is_named_ || options_.create_only)) {
    problem = refused(400, "condition_needs_key",
                      options_.create_only ? "If-None-Match is for PUT, and for reading"
                                           : "If-Match is for one row, named by its whole primary key");
    return false;
  }
  looks_ = !isDelete() && fixed_.looksAt(row_.columns);
  returning_ = isDelete() && hasReturning(*exposure_.catalog);
  const bool needs_rows = wantsRows() && !returning_;
  by_keys_ = ((needs_rows || looks_) && (!is_named_ || isDelete())) || (needsKeys() && !is_named_);
  if ((needs_rows || looks_ || options_.collect_keys) && key_ == nullptr) {
    problem = refused(400, "no_key", fmt::format("{} has no primary key, which this needs", table_.name));
    return false;
  }
  const Preferences& asked = options_.preferences;
  const bool may_take_back =
      (asked.strict && asked.max_affected) || options_.single || (returning_ && wantsRows() && !is_named_);
  transaction_ = has_tag_ || needsKeys() || by_keys_ || needs_rows || looks_ || may_take_back;
  return true;
}

void ChangeOperation::appendChange(db::Statement& out) const {
  if (isDelete()) {
    out.text << "DELETE FROM " << table_.table->identifier;
    return;
  }
  out.text << "UPDATE " << table_.table->identifier << " SET ";
  for (size_t i = 0; i < row_.columns.size(); ++i) {
    if (i != 0) out.text << ",";
    out.text << table_.table->columns[row_.columns[i]].identifier << "=?";
    out.values.push_back(row_.values[i]);
  }
  if (bumpsVersion(row_)) {
    out.text << ",";
    appendBump(out.text);
  }
}

void ChangeOperation::appendOrder(db::Statement& out) const {
  for (size_t i = 0; i < query_.order.size(); ++i) {
    out.text << (i == 0 ? db::SqlText(" ORDER BY ") : db::SqlText(","));
    out.text << table_.find(query_.order[i].path.column)->identifier;
    if (query_.order[i].descending) out.text << " DESC";
  }
  if (query_.limit) {
    out.text << " LIMIT ?";
    out.values.push_back(db::Value::ofUint(*query_.limit));
  }
}

void ChangeOperation::appendTarget(db::Statement& out) {
  Problem problem;
  if (!appendWhere(table_, exposure_, query_, out, problem)) {
    fail(std::move(problem));
    return;
  }
  appendOrder(out);
}

void ChangeOperation::checkTag() {
  Step step;
  step.use = Use::kTag;
  if (!appendRead(step.statement, true)) return;
  appendTarget(step.statement);
  step.statement.text << " FOR UPDATE";
  steps_.push_back(std::move(step));
}

void ChangeOperation::lockKeys() {
  Step step;
  step.use = Use::kKeys;
  step.statement.text << "SELECT ";
  for (size_t i = 0; i < key_->columns.size(); ++i) {
    if (i != 0) step.statement.text << ",";
    step.statement.text << table_.table->columns[key_->columns[i]].identifier;
  }
  step.statement.text << " FROM " << table_.table->identifier;
  appendTarget(step.statement);
  if (!query_.limit) {  // one more tells that there are too many
    step.statement.text << " LIMIT ?";
    step.statement.values.push_back(db::Value::ofUint((needsEach() ? mostRows() : kMostAnnounced) + 1));
  }
  step.statement.text << " FOR UPDATE";
  steps_.push_back(std::move(step));
}

void ChangeOperation::writeWhere() {
  Step step;
  appendChange(step.statement);
  appendTarget(step.statement);
  if (returning_ && wantsRows()) {
    Problem problem;
    step.statement.text << " RETURNING ";
    if (!appendList(step.statement, false, problem)) fail(std::move(problem));
  }
  if (is_named_) keys_.push_back(keyAfter(named_));
  steps_.push_back(std::move(step));
}

void ChangeOperation::writeByKeys() {
  db::Statement head;
  appendChange(head);
  head.text << " WHERE ";
  addByKeys(Use::kWrite, head, *key_, keys_, false);
  for (KeyValues& key : keys_) key = keyAfter(std::move(key));
}

// What a row's key is once it is changed.
KeyValues ChangeOperation::keyAfter(KeyValues key) const {
  for (size_t i = 0; i < key.size(); ++i)
    if (const db::Value* const given = row_.find(key_->columns[i])) key[i] = *given;
  return key;
}

void ChangeOperation::onWritten(const Step&, const db::Outcome&, uint64_t rows) {
  affected_ += rows;
}

bool ChangeOperation::goOn() {
  switch (phase_) {
    case Phase::kStart:
      start();
      return true;
    case Phase::kTag:
      phase_ = Phase::kKeys;
      if (has_tag_ && !(options_.tag == nullptr ? exists_ : tag_matches_))
        return fail(412, "precondition_failed", "the row is not the one that If-Match names");
      if (!isDelete() && row_.columns.empty()) {
        phase_ = Phase::kNothing;
      } else if (by_keys_) {
        lockKeys();
      }
      return true;
    case Phase::kKeys:
      phase_ = Phase::kWritten;
      write();
      return true;
    case Phase::kWritten:
      phase_ = Phase::kEnd;
      if (affected_ == 0) keys_.clear();
      return mayWrite(affected_);
    case Phase::kEnd:
      return endRows(wantsRows() && !isDelete());
    default:
      return false;
  }
}

void ChangeOperation::start() {
  phase_ = Phase::kTag;
  if (has_tag_) checkTag();
}

void ChangeOperation::write() {
  // Too many to be told one by one: only their number matters then.
  const bool untold = by_keys_ && !needsEach() && keys_.size() > kMostAnnounced;
  if (untold) keys_.clear();
  if (!by_keys_ || untold) return writeWhere();
  if (keys_.size() > mostRows()) {
    fail(400, "too_many_rows", fmt::format("more than {} rows would be written", mostRows()));
    return;
  }
  if (!mayWrite(keys_.size())) return;
  if (isDelete() && wantsRows()) representByKeys();  // while they are there
  writeByKeys();
}

void ChangeOperation::complete() {
  succeed(wantsRows() ? 200 : 204, affected_);
  if (is_named_ && affected_ == 1) describeKey(keyAfter(named_));
}

}  // namespace roost::tables
