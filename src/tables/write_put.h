// Internal to tables: see write.h.
#pragma once

#include "tables/write_base.h"

namespace roost::tables {

// PUT: one row by its whole primary key is made or replaced. Whether it is there is looked at first: so it is
// known which of the two was done, and no other unique key can make it a third. What the look found is tried;
// where it does not hold any more, or the row itself matters, the row is locked and looked at again. (To lock
// a row that is not there keeps others from making their rows around it, and two that do so wait for ever.)
class PutOperation final : public WriteBase {
 public:
  PutOperation(const ExposedTable& table, const Exposure& exposure, Query query, WriteOptions options,
               BodyRow row);

  bool plan(Problem& problem) override;

 private:
  bool onError(const db::Error& error) override;
  bool addLooks() override;
  bool goOn() override;
  void onWritten(const Step&, const db::Outcome&, uint64_t rows) override;
  void complete() override;

  bool planKey(Problem& problem);
  void start();
  void lookAtRow();
  void lookInside();
  bool decide();
  void insert();
  bool replace();

  BodyRow row_;
  KeyValues named_;
  bool may_insert_ = true;  // all of the key may be written
  bool was_there_ = false;
  bool guesses_ = false;  // what is under way rests on a look that locked nothing
  enum class Phase : uint8_t { kStart, kFound, kDecide, kWritten } phase_ = Phase::kStart;
};

}  // namespace roost::tables
