// Internal to tables: see write.h.
#pragma once

#include "tables/write_base.h"

namespace roost::tables {

// PATCH and DELETE: of the rows that conditions choose. One statement where that is enough; otherwise the
// rows' keys are read first and locked, and what follows is done by key.
class ChangeOperation final : public WriteBase {
 public:
  // `row`: what changes; empty of a DELETE.
  ChangeOperation(const ExposedTable& table, const Exposure& exposure, Query query, WriteOptions options,
                  BodyRow row);

  bool plan(Problem& problem) override;

 private:
  bool goOn() override;
  void onWritten(const Step& step, const db::Outcome& outcome, uint64_t rows) override;
  void complete() override;

  bool isDelete() const noexcept { return options_.method == kDelete; }
  // Each row is looked at or returned; otherwise keys are read for the table's channel alone.
  bool needsEach() const noexcept { return wantsRows() || looks_ || options_.collect_keys; }
  bool planLimit(Problem& problem) const;
  bool planKeys(Problem& problem);
  void appendChange(db::Statement& out) const;
  void appendOrder(db::Statement& out) const;
  void appendTarget(db::Statement& out);  // " WHERE ... ORDER BY ... LIMIT ?"
  void start();
  void write();
  void lockKeys();
  void checkTag();
  void writeWhere();
  void writeByKeys();
  KeyValues keyAfter(KeyValues key) const;

  const BodyRow row_;
  KeyValues named_;        // the key that the conditions name
  bool is_named_ = false;  // at most one row: that of named_
  bool by_keys_ = false;   // keys are read first
  bool returning_ = false;
  bool has_tag_ = false;  // If-Match
  uint64_t affected_ = 0;
  enum class Phase : uint8_t { kStart, kTag, kKeys, kWritten, kEnd, kNothing } phase_ = Phase::kStart;
};

}  // namespace roost::tables
