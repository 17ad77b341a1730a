#include "tables/write_put.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tables/exact_value.h"

namespace roost::tables {
PutOperation::PutOperation(const ExposedTable& table, const Exposure& exposure, Query query,
                           WriteOptions options, BodyRow row)
    : WriteBase(table, exposure, std::move(query), std::move(options)), row_(std::move(row)) {}

bool PutOperation::plan(Problem& problem) {
  if (!planKey(problem) || !fixed_.read(table_, zone(), problem) || !fixed_.force(row_, problem) ||
      !beginRepresentation(problem)) {
    return false;
  }
  transaction_ = true;
  keys_.push_back(named_);
  if (mayWrite(1)) return true;
  problem = this->problem();
  return false;
}

// The conditions name the key and nothing else; the body's is the same.
bool PutOperation::planKey(Problem& problem) {
  bool alone = false;
  if (key_ == nullptr) {
    problem = refused(400, "no_key", fmt::format("{} has no primary key, which PUT needs", table_.name));
    return false;
  }
  if (!keyOf(table_, *key_, query_, zone(), named_, alone) || !alone || table_.key() == nullptr) {
    problem = refused(400, "put_needs_key",
                      "PUT names one row by eq with each column of the primary key, and nothing else");
    return false;
  }
  for (size_t i = 0; i < named_.size(); ++i) {
    const uint16_t column = key_->columns[i];
    if (!makeExact(table_.table->columns[column], named_[i], problem)) return false;
    const db::Value* const given = row_.find(column);
    if (given != nullptr && !sameValue(*given, named_[i])) {
      problem = refused(400, "key_mismatch",
                        fmt::format("column \"{}\" is another in the body than in the conditions",
                                    table_.table->columns[column].name));
      return false;
    }
    row_.set(column, named_[i]);
    may_insert_ = may_insert_ && table_.mayWrite(table_.table->columns[column]);
  }
  return true;
}

// Not where the row has to be there: nothing is made then.
bool PutOperation::addLooks() {
  if (options_.must_exist || options_.tag != nullptr || !may_insert_) return false;
  db::Statement head;
  head.text << "SELECT 1 FROM " << table_.table->identifier << " WHERE ";
  addByKeys(Use::kExists, head, *key_, keys_, false);
  guesses_ = true;
  return true;
}

void PutOperation::start() {
  if (guesses_ && !exists_) {
    phase_ = Phase::kWritten;
    insert();
  } else if (guesses_ && !fixed_.any() && !options_.create_only && replace()) {
    phase_ = Phase::kWritten;
    was_there_ = true;
  } else {
    lookAtRow();
  }
}

void PutOperation::lookAtRow() {
  phase_ = Phase::kFound;
  guesses_ = exists_ = was_there_ = false;
  db::Statement head;
  if (options_.tag == nullptr) {
    head.text << "SELECT 1 FROM " << table_.table->identifier;
  } else if (!appendRead(head, true)) {
    return;
  }
  head.text << " WHERE ";
  addByKeys(options_.tag != nullptr ? Use::kTag : Use::kExists, head, *key_, keys_, true);
}

void PutOperation::onWritten(const Step&, const db::Outcome&, uint64_t rows) {
  if (guesses_ && was_there_ && rows == 0) lookAtRow();  // somebody was quicker
}

// A row that was made since: it is the one that is meant, unless it has another unique key in common, which
// the next INSERT meets again. The one that met it holds a lock that others may share: who then asks for the
// row alone waits for them.
bool PutOperation::onError(const db::Error& error) {
  if (failed() || !guesses_ || was_there_ || !isDuplicate(error)) return WriteBase::onError(error);
  begins_again_ = true;
  lookAtRow();
  return !failed();
}

// Whether the row that is there is one that there is to a client.
void PutOperation::lookInside() {
  was_there_ = exists_;
  if (was_there_ && fixed_.any()) countInside();
}

bool PutOperation::decide() {
  if (was_there_ && fixed_.any() && counted_ != 1) return fail(outsideFixed());
  if (options_.create_only && was_there_)
    return fail(412, "precondition_failed", "the row is there already, which If-None-Match rules out");
  if ((options_.must_exist && !was_there_) || (options_.tag != nullptr && !tag_matches_))
    return fail(412, "precondition_failed", "the row is not the one that If-Match names");
  if (!was_there_ && !may_insert_)
    return fail(404, "no_row", "there is no such row, and a key of one's own cannot be chosen here");
  if (was_there_) {
    replace();
  } else {
    insert();
  }
  return true;
}

void PutOperation::insert() {
  Step step;
  db::Statement& out = step.statement;
  out.text << "INSERT INTO " << table_.table->identifier << " (";
  for (size_t i = 0; i < row_.columns.size(); ++i) {
    if (i != 0) out.text << ",";
    out.text << table_.table->columns[row_.columns[i]].identifier;
  }
  out.text << ") VALUES (";
  out.text.marks(row_.columns.size()) << ")";
  out.values = row_.values;
  steps_.push_back(std::move(step));
  looks_ = fixed_.looksAtNew();
}

// What may be written and is not given becomes what it would be in a new row. False: there is nothing but the
// key.
bool PutOperation::replace() {
  Step step;
  db::Statement& out = step.statement;
  bool first = true;
  std::vector<uint16_t> changed;
  out.text << "UPDATE " << table_.table->identifier << " SET ";
  for (size_t i = 0; i < table_.table->columns.size(); ++i) {
    const uint16_t position = static_cast<uint16_t>(i);
    const Column& column = table_.table->columns[i];
    const db::Value* const given = row_.find(position);
    const bool is_key =
        std::find(key_->columns.begin(), key_->columns.end(), position) != key_->columns.end();
    const bool is_version = table_.version == static_cast<int>(i);
    const bool falls_back = table_.writable[i] && !column.auto_increment && !is_version;
    if (is_key || (given == nullptr && !falls_back)) continue;
    if (!first) out.text << ",";
    first = false;
    out.text << column.identifier << (given != nullptr ? db::SqlText("=?") : db::SqlText("=DEFAULT"));
    if (given != nullptr) out.values.push_back(*given);
    changed.push_back(position);
  }
  if (first) return false;
  if (bumpsVersion(row_)) {
    out.text << ",";
    appendBump(out.text);
  }
  out.text << " WHERE ";
  appendKeys(*table_.table, *key_, keys_, 0, 1, out);
  steps_.push_back(std::move(step));
  looks_ = fixed_.looksAt(changed);
  return true;
}

bool PutOperation::goOn() {
  switch (phase_) {
    case Phase::kStart:
      start();
      return true;
    case Phase::kFound:
      phase_ = Phase::kDecide;
      lookInside();
      return true;
    case Phase::kDecide:
      phase_ = Phase::kWritten;
      return decide();
    default:
      return endRows(wantsRows());
  }
}

void PutOperation::complete() {
  succeed(!was_there_ ? 201 : wantsRows() ? 200 : 204, 1);
  describeKey(named_);
}

}  // namespace roost::tables
