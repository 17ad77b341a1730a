#include "tables/write_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tables/read.h"

namespace roost::tables {
namespace {

Problem refused(int status, const char* code, std::string detail, const char* hint = "") {
  Problem problem;
  problem.status = status;
  problem.code = code;
  problem.detail = std::move(detail);
  problem.hint = hint;
  return problem;
}

}  // namespace

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
  step.statement.text << "SELECT ";
  std::vector<OutputColumn> columns;
  Problem problem;
  if (!appendSelect(table_, exposure_, query_, step.statement, columns, problem)) {
    fail(std::move(problem));
    return;
  }
  if (table_.version >= 0)
    step.statement.text << "," << table_.table->columns[static_cast<size_t>(table_.version)].identifier;
  step.statement.text << " FROM " << table_.table->identifier;
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
  for (size_t first = 0; first < keys_.size(); first += kMostKeys) {
    Step step;
    appendChange(step.statement);
    step.statement.text << " WHERE ";
    appendKeys(*table_.table, *key_, keys_, first, std::min(kMostKeys, keys_.size() - first), step.statement);
    steps_.push_back(std::move(step));
  }
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

bool ChangeOperation::more() {
  while (steps_.empty() && !failed() && phase_ != Phase::kDone) {
    switch (phase_) {
      case Phase::kStart:
        start();
        break;
      case Phase::kTag:
        phase_ = Phase::kKeys;
        if (has_tag_ && !(options_.tag == nullptr ? exists_ : tag_matches_)) {
          fail(412, "precondition_failed", "the row is not the one that If-Match names");
        } else if (!isDelete() && row_.columns.empty()) {
          phase_ = Phase::kDone;  // nothing changes
        } else if (by_keys_) {
          lockKeys();
        }
        break;
      case Phase::kKeys:
        phase_ = Phase::kWritten;
        write();
        break;
      case Phase::kWritten:
        phase_ = Phase::kInside;
        if (!mayWrite(affected_)) break;
        if (affected_ == 0) keys_.clear();
        if (looks_) countInside();
        break;
      case Phase::kInside:
        phase_ = Phase::kRepresent;
        if (looks_ && counted_ != keys_.size()) {
          fail(outsideFixed());
        } else if (wantsRows() && !isDelete()) {
          representByKeys();
        }
        break;
      default:
        phase_ = Phase::kDone;
        break;
    }
  }
  return !steps_.empty() && !failed();
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
