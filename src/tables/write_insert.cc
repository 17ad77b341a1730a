#include "tables/write_insert.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace roost::tables {
namespace {

using Resolution = Preferences::Resolution;

constexpr size_t kMostMarks = 32'768;  // half of what a statement may have

std::vector<uint16_t> sortedColumns(const Key& key) {
  std::vector<uint16_t> columns = key.columns;
  std::sort(columns.begin(), columns.end());
  return columns;
}

bool isWithin(const Key& inner, const Key& outer) {
  const std::vector<uint16_t> a = sortedColumns(inner);
  const std::vector<uint16_t> b = sortedColumns(outer);
  return std::includes(b.begin(), b.end(), a.begin(), a.end());
}

}  // namespace

InsertOperation::InsertOperation(const ExposedTable& table, const Exposure& exposure, Query query,
                                 WriteOptions options, Body body)
    : WriteBase(table, exposure, std::move(query), std::move(options)),
      body_(std::move(body)),
      resolution_(options_.preferences.resolution) {}

bool InsertOperation::plan(Problem& problem) {
  if (!fixed_.read(table_, zone(), problem)) return false;
  for (BodyRow& row : body_.rows)
    if (!fixed_.force(row, problem)) return false;
  for (const BodyRow& row : body_.rows) {
    std::vector<uint16_t> both;
    std::set_union(all_columns_.begin(), all_columns_.end(), row.columns.begin(), row.columns.end(),
                   std::back_inserter(both));
    all_columns_ = std::move(both);
  }
  if (!planConflict(problem) || !beginRepresentation(problem)) return false;

  if (!planKeys(problem)) return false;
  if (wantsRows() && body_.rows.size() > mostRows()) {
    problem = tooManyToReturn(mostRows());
    return false;
  }
  if (!mayWrite(body_.rows.size())) {
    problem = this->problem();
    return false;
  }
  planRows(0);
  if (!planLooks(problem)) return false;
  looks_ = fixed_.looksAtNew();
  transaction_ = guarded_ || finds_ || (tells_ && !returning_) || steps_.size() > 1 || fixed_.looksAtNew() ||
                 (wantsRows() && !returning_) ||
                 (resolution_ == Resolution::kIgnore && body_.rows.size() > 1);
  return !failed();
}

bool InsertOperation::planLooks(Problem& problem) {
  // Rows that name themselves by a key that clients do not choose have to be there.
  must_meet_ =
      resolution_ == Resolution::kMerge && conflict_ == key_ && key_ != nullptr &&
      std::any_of(body_.rows.begin(), body_.rows.end(), [this](const BodyRow& row) {
        return std::any_of(key_->columns.begin(), key_->columns.end(), [&](uint16_t column) {
          const db::Value* const given = row.find(column);
          return given != nullptr && !given->isNull() && table_.mayName(table_.table->columns[column]);
        });
      });
  guarded_ = resolution_ == Resolution::kMerge && (fixed_.any() || must_meet_);
  if (!guarded_) return true;
  phase_ = Phase::kConflicts;
  rows_.swap(steps_);
  // A key that the database makes is new; one that is its column's default need not be.
  const auto is_told = [this](const BodyRow& row) {
    return std::all_of(conflict_->columns.begin(), conflict_->columns.end(), [&](uint16_t column) {
      return row.find(column) != nullptr || table_.table->columns[column].auto_increment;
    });
  };
  if (std::all_of(body_.rows.begin(), body_.rows.end(), is_told)) return true;
  problem = refused(400, "no_key", "each row has to give the whole key by which it could be there already");
  return false;
}

// Which rows' keys have to be known, and from where.
bool InsertOperation::planKeys(Problem& problem) {
  const auto is_known = [this](const BodyRow& row) { return knowsKey(row); };
  const auto is_had = [this](const BodyRow& row) { return knowsKey(row) || findsKey(row); };
  const bool all_known = key_ != nullptr && std::all_of(body_.rows.begin(), body_.rows.end(), is_known);
  const bool all_had = key_ != nullptr && std::all_of(body_.rows.begin(), body_.rows.end(), is_had);
  const bool returns = hasReturning(*exposure_.catalog);
  const bool is_one = body_.rows.size() == 1 && table_.key() != nullptr;  // which has a Location
  tells_ = announces() && body_.rows.size() <= kMostAnnounced && (returns || all_had);
  const bool needs_all = fixed_.looksAtNew() || options_.collect_keys;
  needs_keys_ = needs_all || tells_ || (is_one && !all_known);
  returning_ = returns && (wantsRows() || needs_keys_);
  if (needs_all && key_ == nullptr) {
    problem = refused(400, "no_key", fmt::format("{} has no primary key, which this needs", table_.name));
    return false;
  }
  if (!returning_ && (wantsRows() || needs_all) && !all_had) {
    problem = refused(400, "no_key", "the rows' keys are not known, and so they cannot be returned",
                      "Give all columns of the primary key, or of the key that on_conflict names.");
    return false;
  }
  finds_ = !returning_ && (wantsRows() || needs_all || tells_) && !all_known;
  // Otherwise each says what its AUTO_INCREMENT value is.
  if (!returning_ && (wantsRows() || needs_all || tells_)) most_together_ = 1;
  if (tells_ && returning_) announceReturned();
  return true;
}

// on_conflict, or the primary key.
bool InsertOperation::planConflict(Problem& problem) {
  if (resolution_ == Resolution::kNone) {
    if (query_.on_conflict.empty()) return true;
    problem = refused(400, "resolution_missing", "on_conflict says nothing without a resolution",
                      "Send Prefer: resolution=merge-duplicates or resolution=ignore-duplicates.");
    return false;
  }
  if (!table_.allows(kUpsert)) {
    problem = refused(403, "upsert_not_allowed",
                      fmt::format("rows of {} that are there already cannot be replaced", table_.name));
    return false;
  }
  std::vector<uint16_t> wanted;
  for (const std::string& name : query_.on_conflict) {
    const Column* const column = table_.find(name);
    if (column == nullptr) {
      problem = refused(400, "unknown_column", fmt::format("{} has no column \"{}\"", table_.name, name));
      return false;
    }
    wanted.push_back(static_cast<uint16_t>(column - table_.table->columns.data()));
  }
  std::sort(wanted.begin(), wanted.end());
  for (const Key& key : table_.table->keys) {
    const bool is_it = wanted.empty() ? key.primary : key.unique && sortedColumns(key) == wanted;
    if (is_it && !key.partial && conflict_ == nullptr) conflict_ = &key;
  }
  if (conflict_ == nullptr) {
    problem = refused(400, "no_unique_key",
                      wanted.empty() ? fmt::format("{} has no primary key", table_.name)
                                     : "the columns of on_conflict are no unique key");
    return false;
  }
  for (const Key& key : table_.table->keys) {
    if (!key.unique || (!key.partial && isWithin(*conflict_, key))) continue;
    const auto meets = [&](const BodyRow& row) { return mayMeet(key, row); };
    if (std::none_of(body_.rows.begin(), body_.rows.end(), meets)) continue;
    problem = ambiguous(key);
    return false;
  }
  return true;
}

// `other` is a key that a row could meet another one by as well.
Problem InsertOperation::ambiguous(const Key& other) const {
  std::string hint = "PUT goes by the primary key alone.";
  for (const uint16_t position : other.columns) {
    if (!std::binary_search(table_.shown.begin(), table_.shown.end(), position)) continue;
    const Column& column = table_.table->columns[position];
    const bool is_given = std::binary_search(all_columns_.begin(), all_columns_.end(), position);
    if (is_given && (column.auto_increment || column.null_by_default)) {
      hint = fmt::format("Leave \"{}\" out, or use PUT, which goes by the primary key alone.", column.name);
      break;
    }
    if (!is_given)
      hint = fmt::format(
          "\"{}\" is not given, and its default may be another row's. Use PUT, which goes by "
          "the primary key alone.",
          column.name);
  }
  return refused(409, "ambiguous_upsert",
                 "a row could be the same as another one by more than one unique key", std::move(hint));
}

// Whether the row may be equal to another one in this key: none of its columns is surely NULL or new.
bool InsertOperation::mayMeet(const Key& key, const BodyRow& row) const {
  return std::all_of(key.columns.begin(), key.columns.end(), [&](uint16_t position) {
    const Column& column = table_.table->columns[position];
    const db::Value* const given = row.find(position);
    if (given != nullptr) return !given->isNull();
    return !column.auto_increment && !column.null_by_default;
  });
}

// Whether its key can be told without asking: given, or the AUTO_INCREMENT value that an INSERT answers with
// (a merge that may change a row in its place answers with something else then).
bool InsertOperation::knowsKey(const BodyRow& row) const {
  if (key_ == nullptr) return false;
  return std::all_of(key_->columns.begin(), key_->columns.end(), [&](uint16_t position) {
    const db::Value* const given = row.find(position);
    const bool is_made = table_.table->columns[position].auto_increment;
    if (given == nullptr || given->isNull()) return is_made && !mayMerge(row);
    // 0 makes a new one too.
    const bool is_zero = sameValue(*given, db::Value::ofInt(0));
    return !is_made || !is_zero;
  });
}

// Whether its key can be asked for once it is written: by the key that a merge has met it by.
bool InsertOperation::findsKey(const BodyRow& row) const {
  return mayMerge(row) && std::all_of(conflict_->columns.begin(), conflict_->columns.end(),
                                      [&row](uint16_t column) { return row.find(column) != nullptr; });
}

void InsertOperation::findKeys() {
  std::vector<KeyValues> keys;
  for (const BodyRow& row : body_.rows) {
    if (knowsKey(row)) continue;
    KeyValues& values = keys.emplace_back();
    for (const uint16_t column : conflict_->columns) values.push_back(*row.find(column));
  }
  db::Statement head;
  head.text << "SELECT ";
  for (size_t i = 0; i < key_->columns.size(); ++i) {
    if (i != 0) head.text << ",";
    head.text << table_.table->columns[key_->columns[i]].identifier;
  }
  head.text << " FROM " << table_.table->identifier << " WHERE ";
  addByKeys(Use::kKeys, head, *conflict_, keys, locks());
}

void InsertOperation::noteKey(const BodyRow& row, uint64_t insert_id) {
  KeyValues values;
  for (const uint16_t position : key_->columns) {
    const db::Value* const given = row.find(position);
    values.push_back(given == nullptr || given->isNull() ? db::Value::ofUint(insert_id) : *given);
  }
  keys_.push_back(std::move(values));
}

void InsertOperation::planRows(size_t first) {
  while (first < body_.rows.size()) {
    size_t end = first + 1;
    while (end < body_.rows.size() && body_.rows[end].columns == body_.rows[first].columns) ++end;
    addRun(first, end, false);
    first = end;
  }
}

void InsertOperation::addRun(size_t first, size_t end, bool in_front) {
  const size_t columns = std::max<size_t>(runColumns(body_.rows[first]).size(), 1);
  std::vector<Step> steps;
  while (first < end) {
    size_t count = 1;
    while (count * 2 <= std::min(end - first, most_together_) && count * 2 * columns <= kMostMarks)
      count *= 2;
    steps.push_back(insert(first, count));
    first += count;
  }
  const auto at = in_front ? steps_.begin() : steps_.end();
  steps_.insert(at, std::make_move_iterator(steps.begin()), std::make_move_iterator(steps.end()));
}

InsertOperation::Step InsertOperation::insert(size_t first, size_t count) {
  Step step;
  step.first = first;
  step.count = count;
  const std::vector<uint16_t>& columns = runColumns(body_.rows[first]);
  db::Statement& out = step.statement;
  out.text << "INSERT INTO " << table_.table->identifier << " (";
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i != 0) out.text << ",";
    out.text << table_.table->columns[columns[i]].identifier;
  }
  out.text << ") VALUES ";
  for (size_t r = first; r < first + count; ++r) {
    out.text << (r == first ? db::SqlText("(") : db::SqlText(",("));
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i != 0) out.text << ",";
      const db::Value* const given = body_.rows[r].find(columns[i]);
      if (given == nullptr) {
        out.text << "DEFAULT";
      } else {
        out.text << "?";
        out.values.push_back(*given);
      }
    }
    out.text << ")";
  }
  if (resolution_ == Resolution::kMerge && !guesses_) appendMerge(out);
  if (returning_) {
    Problem problem;
    out.text << " RETURNING ";
    if (!appendList(out, key_ != nullptr, problem)) fail(std::move(problem));
  }
  return step;
}

void InsertOperation::appendMerge(db::Statement& out) const {
  const std::vector<uint16_t>& columns = all_columns_;
  bool first = true;
  const auto name = [this](uint16_t column) -> const db::Identifier& {
    return table_.table->columns[column].identifier;
  };
  out.text << " ON DUPLICATE KEY UPDATE ";
  for (const uint16_t column : columns) {
    const bool decides =
        std::find(conflict_->columns.begin(), conflict_->columns.end(), column) != conflict_->columns.end();
    if (decides || table_.table->columns[column].auto_increment) continue;
    if (!first) out.text << ",";
    first = false;
    out.text << name(column) << "=VALUES(" << name(column) << ")";
  }
  if (first) {  // there is nothing to change
    out.text << name(conflict_->columns[0]) << "=" << name(conflict_->columns[0]);
    return;
  }
  const uint16_t version = static_cast<uint16_t>(table_.version);
  const bool is_given =
      table_.version >= 0 && std::find(columns.begin(), columns.end(), version) != columns.end();
  if (!is_given && bumpsVersion({})) {
    out.text << ",";
    appendBump(out.text);
  }
}

// Rows that a merge would change must be rows that there are to this table's clients: how many there are by
// the key that decides, with and without the fixed conditions.
void InsertOperation::countConflicts(bool inside, bool locks) {
  std::vector<KeyValues> keys;
  std::set<std::string> names;
  for (size_t i = first_; i < body_.rows.size(); ++i) {
    KeyValues values;
    for (const uint16_t column : conflict_->columns) {
      const db::Value* const given = body_.rows[i].find(column);
      if (given != nullptr && (!must_meet_ || !given->isNull())) values.push_back(*given);
    }
    if (values.size() != conflict_->columns.size()) continue;
    if (must_meet_ && !names.insert(keyJson(table_, *conflict_, values)).second) continue;  // each once
    keys.push_back(std::move(values));
  }
  named_ = keys.size();
  if (keys.empty()) return;
  db::Statement head;
  head.text << "SELECT COUNT(*) FROM " << table_.table->identifier;
  if (inside) appendFixed(head);
  head.text << (inside ? db::SqlText(" AND ") : db::SqlText(" WHERE "));
  addByKeys(Use::kCount, head, *conflict_, keys, locks);
}

bool InsertOperation::addLooks() {
  if (guarded_ && !must_meet_) countConflicts(false, false);
  return guarded_ && !must_meet_;
}

// Rows from there on are merged, and so they are locked and looked at.
void InsertOperation::mergeFrom(size_t first) {
  first_ = first;
  guesses_ = false;
  steps_.clear();
  planRows(first);
  rows_.swap(steps_);
  steps_.clear();
  phase_ = Phase::kInside;
  counted_ = 0;
  countConflicts(false, true);
}

void InsertOperation::onWritten(const Step& step, const db::Outcome& outcome, uint64_t) {
  written_ += step.count;
  if (returns_keys_ || key_ == nullptr || step.count != 1) return;
  if (knowsKey(body_.rows[step.first])) noteKey(body_.rows[step.first], outcome.insert_id);
}

bool InsertOperation::onError(const db::Error& error) {
  const bool is_met = isDuplicate(error) && !failed();
  if (is_met && guesses_) {
    forgetRows();
    begins_again_ = step_.first == 0;
    mergeFrom(step_.first);
    return !failed();
  }
  if (!is_met || resolution_ != Resolution::kIgnore) return WriteBase::onError(error);
  forgetRows();
  if (step_.count > 1) {
    addRun(step_.first + step_.count / 2, step_.first + step_.count, true);
    addRun(step_.first, step_.first + step_.count / 2, true);
  }
  return true;
}

bool InsertOperation::goOn() {
  switch (phase_) {
    case Phase::kConflicts:
      guesses_ = has_looked_ && counted_ == 0 && !must_meet_;
      if (!guesses_) {
        mergeFrom(0);
      } else {  // to lock what is not there would keep others from making their rows
        phase_ = Phase::kRows;
        planRows(0);
      }
      return true;
    case Phase::kInside:
      phase_ = Phase::kCompared;
      met_ = std::exchange(counted_, 0);
      if (must_meet_ && met_ != named_)
        return fail(404, "no_row", "there is no such row, and a key of one's own cannot be chosen here");
      if (fixed_.any()) {
        countConflicts(true, true);
      } else {
        counted_ = met_;
      }
      return true;
    case Phase::kCompared:
      phase_ = Phase::kRows;
      if (counted_ != met_) return fail(outsideFixed());
      steps_.swap(rows_);
      return true;
    case Phase::kRows:
      phase_ = Phase::kFound;
      if (finds_) findKeys();
      return true;
    case Phase::kFound:
      break;
  }
  return endRows(wantsRows() && !returning_);
}

void InsertOperation::complete() {
  if (options_.single && written_ != 1) {
    mayWrite(written_);
    return;
  }
  succeed(written_ == 0 && !body_.rows.empty() ? 200 : 201, written_);
  if (written_ == 1 && keys_.size() == 1) describeKey(keys_[0]);
}

}  // namespace roost::tables
