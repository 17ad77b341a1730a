// How a Slot's statements end, and what has to happen then.
#include <algorithm>
#include <utility>

#include "db/loop_pool.h"
#include "db/slot.h"

namespace roost::db {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
// Most statements end by themselves sooner than it takes to kill them.
constexpr int64_t kKillDelayNs = 20 * kNsPerMs;

// A kill may have come before the statement did, and there are statements that go on for a while all the
// same.
constexpr int64_t kKillAgainNs = 200 * kNsPerMs;

constexpr uint32_t kQueryInterrupted = 1317;  // by KILL QUERY
constexpr uint32_t kStatementTimeout = 1969;  // MariaDB's max_statement_time
constexpr uint32_t kMaxExecutionTime = 3024;  // MySQL's max_execution_time

bool isInterruption(uint32_t number) noexcept {
  return number == kQueryInterrupted || number == kStatementTimeout || number == kMaxExecutionTime;
}

const Statement& probeStatement() {
  static const Statement statement{SqlText("DO NULL"), {}};
  return statement;
}

const Statement& rollbackStatement() {
  static const Statement statement{SqlText("ROLLBACK"), {}};
  return statement;
}

}  // namespace

void Slot::onResult(const Outcome& outcome) noexcept {
  const Doing was = std::exchange(doing_, Doing::kNothing);
  switch (was) {
    case Doing::kWorks:
      touched_ |= outcome.session_changed;
      outcome_ = outcome;
      ended_ = Ended::kResult;
      ended();
      break;
    case Doing::kProbe:
      settled();
      break;
    case Doing::kRollback:
      if (wire_->inTransaction()) touched_ = true;
      pool_.cameBack(*this);
      break;
    case Doing::kNothing:
      break;
  }
}

void Slot::onError(const Error& error) noexcept {
  const Doing was = std::exchange(doing_, Doing::kNothing);
  if (error.kind == ErrorKind::kLost) {
    lose(error);
    return;
  }
  switch (was) {
    case Doing::kWorks:
      error_ = error;
      ended_ = Ended::kError;
      ended();
      break;
    case Doing::kProbe:  // what the kill has hit
      settled();
      break;
    case Doing::kRollback:
      touched_ = true;
      pool_.cameBack(*this);
      break;
    case Doing::kNothing:
      break;
  }
}

// A statement of a Work's, which may have gone meanwhile.
void Slot::ended() noexcept {
  endPause();
  const int64_t took_ns = pool_.nowNs() - started_ns_;
  pool_.counters_.statement_ns.record(static_cast<uint64_t>(took_ns));
  reportSlow(took_ns);
  if (kill_ != Kill::kNone) {
    settle();
  } else {
    settled();
  }
}

void Slot::settle() noexcept {
  if (kill_ == Kill::kDone) run(Doing::kProbe, probeStatement());
  if (kill_ == Kill::kFailed) dropUnsettled();
}

// Its statement is over, and a kill may come at any time.
void Slot::dropUnsettled() noexcept {
  if (work_ != nullptr) {
    dropWire();
    tell();
    return;
  }
  pool_.close(*this);
  pool_.openMore();
}

// And no kill can come any more.
void Slot::settled() noexcept {
  kill_ = Kill::kNone;
  if (work_ != nullptr) {
    tell();
  } else {
    ended_ = Ended::kNot;
    clean();
  }
}

void Slot::clean() noexcept {
  if (!wire_->inTransaction()) {
    pool_.cameBack(*this);
    return;
  }
  setState(State::kSettling);
  settle_by_ns_ = pool_.nowNs() + kSettleNs;
  pool_.note(settle_by_ns_);
  run(Doing::kRollback, rollbackStatement());
}

void Slot::tell() noexcept {
  Work& work = *work_;
  const uint64_t lease = lease_;
  const Ended how = std::exchange(ended_, Ended::kNot);
  const bool timed_out = std::exchange(timed_out_, false);
  tell_by_ns_ = settle_by_ns_ = kNever;
  // Rows of a statement that was killed may lack the rest, or be what a killed function answers; and a DELETE
  // that is killed while the server looks for a way to its rows is answered as if there were none.
  const bool in_doubt = timed_out && (columns_ != nullptr || outcome_.affected_rows == 0);
  if (how == Ended::kResult && !in_doubt) {
    if (columns_ != nullptr && !told_columns_) work.onColumns(*this, *columns_);
    if (lease != lease_) return;
    outcome_.rows = rows_;
    work.onResult(*this, Outcome(outcome_));
    return;
  }
  Error error = how == Ended::kError ? std::move(error_) : Error();
  if (timed_out && (how == Ended::kResult || isInterruption(error.number))) error.kind = ErrorKind::kTimeout;
  work.onError(this, error);
}

bool Slot::mayRetry() const noexcept {
  return any_server_ && executed_ == 1 && !told_columns_ && !retried_ && !timed_out_;
}

// The connection has died.
void Slot::lose(const Error& error) noexcept {
  dropWire();
  pool_.counters_.lost.add();
  if (work_ == nullptr) {
    pool_.close(*this);
    pool_.openMore();
    return;
  }
  if (ended_ != Ended::kNot) {  // what was to be told is known
    tell();
    return;
  }
  if (mayRetry()) {
    retried_ = true;
    error_ = error;
    pool_.counters_.retried.add();
    if (pool_.revive(*this)) return;
  }
  Error told = error;
  if (timed_out_) told.kind = ErrorKind::kTimeout;
  failWork(told);
}

// Nothing is held by the Work any more.
void Slot::failWork(const Error& error) noexcept {
  Work& work = *work_;
  detachWork();
  ended_ = Ended::kNot;
  if (connecting_) {
    setState(State::kConnecting);
  } else if (wire_ == nullptr) {
    pool_.close(*this);
  } else {
    setState(State::kSettling);
  }
  work.onError(nullptr, Error(error));
  pool_.openMore();
}

void Slot::failRevival() noexcept {
  connecting_ = false;
  failWork(Error(error_));
}

void Slot::abandon() noexcept {
  detachWork();
  ended_ = Ended::kNot;
  if (connecting_) {
    setState(State::kConnecting);
    return;
  }
  if (wire_ == nullptr) {
    pool_.close(*this);
    pool_.openMore();
    return;
  }
  if (doing_ == Doing::kNothing && kill_ == Kill::kNone) {
    clean();
    return;
  }
  setState(State::kSettling);
  settle_by_ns_ = std::min(settle_by_ns_, pool_.nowNs() + kSettleNs);
  pool_.note(settle_by_ns_);
  if (doing_ != Doing::kWorks || kill_ != Kill::kNone) return;
  kill_at_ns_ = pool_.nowNs() + kKillDelayNs;
  pool_.note(kill_at_ns_);
  if (!endPause()) return;
  reader_cut_off_ = true;
  kill();
  if (!in_callback_) wire_->resume();
}

void Slot::hurry() noexcept {
  if (doing_ != Doing::kWorks || timed_out_) return;
  progress_ns_ = pool_.nowNs();
  timeout_ns_ = kKillDelayNs;
  pool_.note(statementDeadline());
}

void Slot::release() noexcept {
  if (state_ == State::kLent) abandon();
}

void Slot::kill() noexcept {
  kill_ = Kill::kAsked;
  kill_at_ns_ = kNever;
  pool_.kill(*this, *wire_);
}

void Slot::onKillDone(uint32_t generation, bool killed) noexcept {
  if (generation != generation_ || kill_ != Kill::kAsked) return;
  kill_ = killed ? Kill::kDone : Kill::kFailed;
  if (doing_ == Doing::kNothing) return settle();
  if (!killed) return;
  kill_at_ns_ = pool_.nowNs() + kKillAgainNs;
  pool_.note(kill_at_ns_);
}

}  // namespace roost::db
