// Internal to tables: see write.h.
#pragma once

#include "tables/write_base.h"

namespace roost::tables {

// PUT: one row by its whole primary key is made or replaced. Whether it is there is asked, and locked, first:
// so it is known which of the two was done, and no other unique key can make it a third.
class PutOperation final : public WriteBase {
 public:
  PutOperation(const ExposedTable& table, const Exposure& exposure, Query query, WriteOptions options,
               BodyRow row);

  bool plan(Problem& problem) override;

 private:
  bool more() override;
  void onWritten(const Step&, const db::Outcome&, uint64_t) override {}
  void complete() override;

  bool planKey(Problem& problem);
  void lookAtRow();
  void lookInside();
  void decide();
  void insert();
  void replace();

  BodyRow row_;
  KeyValues named_;
  bool may_insert_ = true;  // all of the key may be written
  bool was_there_ = false;
  bool looks_ = false;
  enum class Phase : uint8_t {
    kStart,
    kFound,
    kDecide,
    kWritten,
    kInside,
    kRepresent,
    kDone
  } phase_ = Phase::kStart;
};

}  // namespace roost::tables
