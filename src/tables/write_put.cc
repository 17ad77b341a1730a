#include "tables/write_put.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tables/read.h"

namespace roost::tables {
namespace {

Problem refused(const char* code, std::string detail) {
  Problem problem;
  problem.status = 400;
  problem.code = code;
  problem.detail = std::move(detail);
  return problem;
}

}  // namespace

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
    problem = refused("no_key", fmt::format("{} has no primary key, which PUT needs", table_.name));
    return false;
  }
  if (!keyOf(table_, *key_, query_, zone(), named_, alone) || !alone || table_.key() == nullptr) {
    problem = refused("put_needs_key",
                      "PUT names one row by eq with each column of the primary key, and nothing else");
    return false;
  }
  for (size_t i = 0; i < named_.size(); ++i) {
    const uint16_t column = key_->columns[i];
    const db::Value* const given = row_.find(column);
    if (given != nullptr && !sameValue(*given, named_[i])) {
      problem =
          refused("key_mismatch", fmt::format("column \"{}\" is another in the body than in the conditions",
                                              table_.table->columns[column].name));
      return false;
    }
    row_.set(column, named_[i]);
    may_insert_ = may_insert_ && table_.mayWrite(table_.table->columns[column]);
  }
  return true;
}

void PutOperation::lookAtRow() {
  Step step;
  step.use = options_.tag != nullptr ? Use::kTag : Use::kExists;
  step.statement.text << "SELECT ";
  if (options_.tag != nullptr) {
    std::vector<OutputColumn> columns;
    Problem problem;
    if (!appendSelect(table_, exposure_, query_, step.statement, columns, problem)) {
      fail(std::move(problem));
      return;
    }
    if (table_.version >= 0)
      step.statement.text << "," << table_.table->columns[static_cast<size_t>(table_.version)].identifier;
  } else {
    step.statement.text << "1";
  }
  step.statement.text << " FROM " << table_.table->identifier << " WHERE ";
  appendKeys(*table_.table, *key_, keys_, 0, 1, step.statement);
  step.statement.text << " FOR UPDATE";
  steps_.push_back(std::move(step));
}

// Whether the row that is there is one that there is to a client.
void PutOperation::lookInside() {
  was_there_ = exists_;
  if (was_there_ && fixed_.any()) countInside();
}

void PutOperation::decide() {
  if (was_there_ && fixed_.any() && counted_ != 1) {
    fail(outsideFixed());
  } else if (options_.create_only && was_there_) {
    fail(412, "precondition_failed", "the row is there already, which If-None-Match rules out");
  } else if ((options_.must_exist && !was_there_) || (options_.tag != nullptr && !tag_matches_)) {
    fail(412, "precondition_failed", "the row is not the one that If-Match names");
  } else if (!was_there_ && !may_insert_) {
    fail(404, "no_row", "there is no such row, and a key of one's own cannot be chosen here");
  } else if (was_there_) {
    replace();
  } else {
    insert();
  }
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

// What may be written and is not given becomes what it would be in a new row.
void PutOperation::replace() {
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
  if (first) return;  // there is nothing but the key
  if (bumpsVersion(row_)) {
    out.text << ",";
    appendBump(out.text);
  }
  out.text << " WHERE ";
  appendKeys(*table_.table, *key_, keys_, 0, 1, out);
  steps_.push_back(std::move(step));
  looks_ = fixed_.looksAt(changed);
}

bool PutOperation::more() {
  while (steps_.empty() && !failed() && phase_ != Phase::kDone) {
    switch (phase_) {
      case Phase::kStart:
        phase_ = Phase::kFound;
        lookAtRow();
        break;
      case Phase::kFound:
        phase_ = Phase::kDecide;
        lookInside();
        break;
      case Phase::kDecide:
        phase_ = Phase::kWritten;
        decide();
        break;
      case Phase::kWritten:
        phase_ = Phase::kInside;
        counted_ = 0;
        if (looks_) countInside();
        break;
      case Phase::kInside:
        phase_ = Phase::kRepresent;
        if (looks_ && counted_ != 1) {
          fail(outsideFixed());
        } else if (wantsRows()) {
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

void PutOperation::complete() {
  succeed(!was_there_ ? 201 : wantsRows() ? 200 : 204, 1);
  describeKey(named_);
}

}  // namespace roost::tables
