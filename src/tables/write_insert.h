// Internal to tables: see write.h.
#pragma once

#include "tables/write_base.h"

namespace roost::tables {

// POST: rows in runs of the same columns, each run in statements of 1, 2, 4 ... 64 rows.
class InsertOperation final : public WriteBase {
 public:
  InsertOperation(const ExposedTable& table, const Exposure& exposure, Query query, WriteOptions options,
                  Body body);

  bool plan(Problem& problem) override;
  bool onError(const db::Error& error) override;

 private:
  bool addLooks() override;
  bool goOn() override;
  void onWritten(const Step& step, const db::Outcome& outcome, uint64_t rows) override;
  void complete() override;

  bool planConflict(Problem& problem);
  bool planKeys(Problem& problem);
  Problem ambiguous(const Key& other) const;
  bool mayMeet(const Key& key, const BodyRow& row) const;
  void planRows(size_t first);
  void addRun(size_t first, size_t end, bool in_front);
  Step insert(size_t first, size_t count);
  void appendMerge(db::Statement& out) const;
  bool planLooks(Problem& problem);
  void countConflicts(bool inside, bool locks);
  void mergeFrom(size_t first);
  // Whether a merge may change a row that is there already instead of making this one.
  bool mayMerge(const BodyRow& row) const {
    return resolution_ == Preferences::Resolution::kMerge && mayMeet(*conflict_, row);
  }
  bool knowsKey(const BodyRow& row) const;
  bool findsKey(const BodyRow& row) const;
  void findKeys();
  void noteKey(const BodyRow& row, uint64_t insert_id);
  const std::vector<uint16_t>& runColumns(const BodyRow& row) const noexcept {
    return resolution_ == Preferences::Resolution::kMerge ? all_columns_ : row.columns;
  }

  Body body_;
  const Preferences::Resolution resolution_;
  const Key* conflict_ = nullptr;  // by which a row is one that is there already
  bool returning_ = false;
  bool needs_keys_ = false;
  bool finds_ = false;  // keys are asked for once the rows are written
  size_t most_together_ = kMostKeys;
  std::vector<uint16_t> all_columns_;  // that any row gives; what a merge changes
  // A merge under fixed conditions: which rows there are already is looked at before they are changed.
  bool guarded_ = false;
  bool must_meet_ = false;  // all rows that give their key are there already, or it fails
  bool guesses_ = false;    // that all rows are new, since a look that locked nothing found none
  size_t first_ = 0;        // of the rows that are looked at
  std::deque<Step> rows_;   // meanwhile
  uint64_t written_ = 0;
  uint64_t met_ = 0;    // rows that are there already
  uint64_t named_ = 0;  // rows that were asked for
  enum class Phase : uint8_t { kConflicts, kInside, kCompared, kRows, kFound };
  Phase phase_ = Phase::kRows;
};

}  // namespace roost::tables
