#include "modules/mysql/operation_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "modules/mysql/error_report.h"
#include "tables/db_problem.h"

namespace roost::modules::mysql {

OperationRunner::OperationRunner(std::vector<std::unique_ptr<tables::Operation>> operations, bool rolls_back,
                                 OperationsDone& owner, size_t most_bytes)
    : operations_(std::move(operations)), rolls_back_(rolls_back), most_bytes_(most_bytes), owner_(owner) {
  const bool bounded = most_bytes_ != SIZE_MAX;  // then a write may have to be taken back
  transaction_ = rolls_back_ || operations_.size() > 1 ||
                 std::any_of(operations_.begin(), operations_.end(), [bounded](const auto& operation) {
                   return operation->needsTransaction() || (bounded && operation->isWrite());
                 });
}

bool OperationRunner::mayBeDone() const noexcept {
  return step_ == Step::kCommit ||
         (!transaction_ && index_ < operations_.size() && operations_[index_]->isWrite());
}

bool OperationRunner::leave() noexcept {
  if (link_ == nullptr || !mayBeDone()) return false;
  link_->hurry();
  return true;
}

void OperationRunner::onConnection(db::Link& link) noexcept {
  link_ = &link;
  if (!transaction_) step_ = Step::kOperation;
  advance(link);
}

// What operations look at comes before the transaction: within it a reading would fix what it sees of
// others, or, with locks, keep them from making what is not there.
void OperationRunner::lookOrBegin(db::Link& link) noexcept {
  db::Statement statement;
  for (; index_ < operations_.size(); ++index_)
    if (current().look(statement)) return link.execute(std::move(statement));
  index_ = 0;
  begin(link);
}

// Which ends the one that is open, with its locks.
void OperationRunner::begin(db::Link& link) noexcept {
  step_ = Step::kBegin;
  link.execute({db::SqlText("START TRANSACTION"), {}});
}

void OperationRunner::onColumns(db::Link&, const db::ResultColumns& columns) noexcept {
  if (asks()) current().onColumns(columns);
}

bool OperationRunner::onRow(db::Link&, const db::Row& row) noexcept {
  if (asks() && !tooLarge()) current().onRow(row);
  return true;
}

void OperationRunner::onResult(db::Link& link, const db::Outcome& outcome) noexcept {
  if (asks() && tooLarge()) return refuseTooLarge(link);
  if (asks()) current().onResult(outcome);
  if (step_ != Step::kCommit) {
    if (step_ == Step::kBegin) step_ = Step::kOperation;
    return advance(link);
  }
  finish(link);
}

// However many results come at once, they do not pile up on the stack.
void OperationRunner::advance(db::Link& link) noexcept {
  again_ = advancing_;
  if (advancing_) return;
  bool gone = false;
  gone_ = &gone;
  advancing_ = true;
  do {
    again_ = false;
    executeNext(link);
    if (gone) return;
  } while (again_);
  advancing_ = false;
  gone_ = nullptr;
}

void OperationRunner::executeNext(db::Link& link) noexcept {
  if (step_ == Step::kLook) return lookOrBegin(link);
  db::Statement statement;
  for (; index_ < operations_.size(); ++index_) {
    if (current().next(statement)) return link.execute(std::move(statement));
    if (current().failed()) return fail(&link, current().problem(), 0);
    if (tooLarge()) return refuseTooLarge(link);
    bytes_ += current().bytes();
  }
  if (transaction_ && !rolls_back_) {
    step_ = Step::kCommit;
    return link.execute({db::SqlText("COMMIT"), {}});
  }
  finish(link);
}

void OperationRunner::finish(db::Link& link) noexcept {
  link_ = nullptr;
  link.release();  // which rolls back what is open
  owner_.onOperationsDone();
}

void OperationRunner::refuseTooLarge(db::Link& link) noexcept {
  fail(&link,
       {400,
        "too_many_rows",
        fmt::format("the answers are more than {} bytes", most_bytes_),
        "Ask for fewer rows or columns, or for return=minimal.",
        {}},
       0);
}

void OperationRunner::onError(db::Link* link, const db::Error& error) noexcept {
  if (step_ == Step::kOperation && link != nullptr && current().onError(error)) {
    const bool begins_again = current().beginsAgain() && transaction_ && index_ == 0;
    return begins_again ? begin(*link) : advance(*link);
  }
  const bool has_operation = index_ < operations_.size();
  const bool may_be_done = mayBeDone();
  const db::Error told = tables::asFarAsKnown(error, link != nullptr, may_be_done, step_ == Step::kCommit);
  const tables::ExposedTable* const table = has_operation ? &current().table() : nullptr;
  const tables::Problem problem = tables::problemOf(told, table, may_be_done);
  if (link != nullptr) reportRestError(table, told, problem, link->lastText());
  // Who does not know whether it is done is not told to do it again.
  fail(link, problem, problem.code == "outcome_unknown" ? 0 : tables::retryAfter(told));
}

void OperationRunner::fail(db::Link* link, const tables::Problem& problem, uint32_t retry_after_s) noexcept {
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): release() may end what `problem` is part of.
  const tables::Problem told = problem;
  link_ = nullptr;
  if (link != nullptr) link->release();
  owner_.onOperationFailed(index_, told, retry_after_s);
}

}  // namespace roost::modules::mysql
