#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "db/pool.h"
#include "tables/operation.h"

namespace roost::modules::mysql {

// What an OperationRunner tells its owner, as the last thing that it does.
class OperationsDone {
 public:
  virtual void onOperationsDone() noexcept = 0;
  // The one at `index` has failed, or (the number of operations) the commit has. Nothing of them stays,
  // unless the problem says that this is not known.
  virtual void onOperationFailed(size_t index, const tables::Problem& problem,
                                 uint32_t retry_after_s) noexcept = 0;

 protected:
  ~OperationsDone() = default;
};

// Carries operations out on one connection, one after the other: in a transaction where they need one, or
// where there are several. A member of whoever answers; loop thread. Destroying it gives up: an open
// transaction is rolled back.
class OperationRunner final : public db::Work {
 public:
  // `rolls_back`: nothing stays, whatever they come to. `most_bytes`: of all answers together; with more,
  // they have failed, and nothing stays. `owner` outlives it.
  OperationRunner(std::vector<std::unique_ptr<tables::Operation>> operations, bool rolls_back,
                  OperationsDone& owner, size_t most_bytes = SIZE_MAX);
  ~OperationRunner() override {
    if (gone_ != nullptr) *gone_ = true;
  }

  const std::vector<std::unique_ptr<tables::Operation>>& operations() const noexcept { return operations_; }
  bool rollsBack() const noexcept { return rolls_back_; }
  // Nobody waits for it any more. False: nothing of it is done, nor will be once it is destroyed. True:
  // something may be done already, and its owner is still told how it ends, which will be soon.
  bool leave() noexcept;

 private:
  enum class Step : uint8_t { kLook, kBegin, kOperation, kCommit };

  void onConnection(db::Link& link) noexcept override;
  void onColumns(db::Link& link, const db::ResultColumns& columns) noexcept override;
  bool onRow(db::Link& link, const db::Row& row) noexcept override;
  void onResult(db::Link& link, const db::Outcome& outcome) noexcept override;
  void onError(db::Link* link, const db::Error& error) noexcept override;

  // An operation's own statement is under way, not one around it.
  bool asks() const noexcept { return step_ == Step::kOperation || step_ == Step::kLook; }
  tables::Operation& current() noexcept { return *operations_[index_]; }
  // What was to be committed later is not there.
  bool mayBeDone() const noexcept;
  void advance(db::Link& link) noexcept;
  void executeNext(db::Link& link) noexcept;
  bool tooLarge() noexcept { return current().bytes() > most_bytes_ - bytes_; }
  void refuseTooLarge(db::Link& link) noexcept;
  void lookOrBegin(db::Link& link) noexcept;
  void begin(db::Link& link) noexcept;
  void finish(db::Link& link) noexcept;
  void fail(db::Link* link, const tables::Problem& problem, uint32_t retry_after_s) noexcept;

  const std::vector<std::unique_ptr<tables::Operation>> operations_;
  const bool rolls_back_;
  const size_t most_bytes_;
  bool transaction_ = false;
  OperationsDone& owner_;
  size_t index_ = 0;
  size_t bytes_ = 0;  // of the answers before that one; at most most_bytes_
  Step step_ = Step::kLook;
  bool advancing_ = false;  // a result that comes from within execute() is dealt with behind it
  bool again_ = false;
  db::Link* link_ = nullptr;  // while it has a connection
  bool* gone_ = nullptr;      // while advancing: set when this is destroyed
};

}  // namespace roost::modules::mysql
