#include "db/slot.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "db/loop_pool.h"

namespace roost::db {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
// Most statements end by themselves sooner than it takes to kill them.
constexpr int64_t kKillDelayNs = 20 * kNsPerMs;

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

void Slot::setState(State state) noexcept {
  const auto in_use = [](State of) { return of == State::kLent || of == State::kSettling; };
  if (in_use(state) && !in_use(state_)) pool_.counters_.in_use.add();
  if (!in_use(state) && in_use(state_)) pool_.counters_.in_use.sub();
  state_ = state;
}

void Slot::dropWire() noexcept {
  if (wire_ == nullptr) return;
  countPrepares();
  ++generation_;
  kill_ = Kill::kNone;
  pool_.counters_.connections.sub();
  wire_.reset();
}

void Slot::countPrepares() noexcept {
  const uint64_t prepares = wire_->prepares();
  pool_.counters_.prepared.add(prepares - prepares_seen_);
  prepares_seen_ = prepares;
}

void Slot::beginConnect(size_t target) noexcept {
  target_ = target;
  ++generation_;
  connecting_ = true;
  if (state_ == State::kFree) setState(State::kConnecting);
}

void Slot::opened(std::unique_ptr<Wire> wire, int64_t expires_ns) noexcept {
  assert(wire_ == nullptr);
  connecting_ = false;
  wire_ = std::move(wire);
  wire_->setListener(*this);
  prepares_seen_ = 0;
  expires_ns_ = expires_ns;
  if (state_ != State::kLent) touched_ = false;
  pool_.counters_.connections.add();
}

void Slot::setIdle(int64_t now_ns) noexcept {
  countPrepares();
  setState(State::kIdle);
  idle_since_ns_ = now_ns;
  settle_by_ns_ = kill_at_ns_ = kNever;
}

bool Slot::usable(int64_t now_ns) noexcept {
  return idle_since_ns_ == now_ns || wire_->alive();
}

void Slot::lend(Work& work, bool any_server) noexcept {
  assert(state_ == State::kIdle && doing_ == Doing::kNothing && kill_ == Kill::kNone);
  setState(State::kLent);
  ++lease_;
  work_ = &work;
  any_server_ = any_server;
  executed_ = 0;
  retried_ = leak_told_ = timed_out_ = false;
  lent_ns_ = pool_.nowNs();
  if (pool_.options_.leak_report_s > 0) pool_.note(leakAtNs());
  LoopPool::linkOf(work) = this;
  work.onConnection(*this);
}

void Slot::detachWork() noexcept {
  ++lease_;
  LoopPool::detach(*work_);
  work_ = nullptr;
}

void Slot::execute(Statement statement, uint32_t timeout_ms) noexcept {
  assert(state_ == State::kLent && doing_ == Doing::kNothing && ended_ == Ended::kNot);
  statement_ = std::move(statement);
  timeout_ns_ = int64_t{timeout_ms > 0 ? timeout_ms : pool_.options_.query_timeout_ms} * kNsPerMs;
  started_ns_ = pool_.nowNs();
  ++executed_;
  pool_.counters_.statements.add();
  if (wire_ == nullptr) {
    Error error;
    error.kind = ErrorKind::kLost;
    error.message = "the server has closed the connection";
    lose(error);
    return;
  }
  runStatement();
}

void Slot::runStatement() noexcept {
  progress_ns_ = pool_.nowNs();
  rows_ = 0;
  columns_ = nullptr;
  told_columns_ = paused_ = false;
  pool_.note(statementDeadline());
  run(Doing::kWorks, statement_);
}

void Slot::run(Doing what, const Statement& statement) noexcept {
  doing_ = what;
  wire_->execute(statement);
}

void Slot::goOn() noexcept {
  assert(state_ == State::kLent && wire_ != nullptr);
  runStatement();
}

void Slot::takeWire(Slot& other) noexcept {
  assert(wire_ == nullptr && other.state_ == State::kIdle);
  ++generation_;
  target_ = other.target_;
  wire_ = std::move(other.wire_);
  wire_->setListener(*this);
  prepares_seen_ = other.prepares_seen_;
  expires_ns_ = other.expires_ns_;
}

void Slot::resume() noexcept {
  assert(!in_callback_);
  if (!paused_) return;
  paused_ = false;
  progress_ns_ = pool_.nowNs();
  pool_.note(statementDeadline());
  wire_->resume();
}

void Slot::onColumns(const ResultColumns& columns) noexcept {
  columns_ = &columns;
}

bool Slot::onRow(const Row& row) noexcept {
  if (doing_ != Doing::kWorks || work_ == nullptr || timed_out_) return true;
  progress_ns_ = pool_.nowNs();
  const uint64_t lease = lease_;
  in_callback_ = true;
  if (!told_columns_) {
    told_columns_ = true;
    work_->onColumns(*this, *columns_);
  }
  bool more = true;
  if (lease == lease_) {
    ++rows_;
    more = work_->onRow(*this, row);
  }
  in_callback_ = false;
  if (lease != lease_) return true;  // it has given up; the rest is read away
  paused_ = !more;
  return more;
}

void Slot::onResult(const Outcome& outcome) noexcept {
  const Doing was = std::exchange(doing_, Doing::kNothing);
  switch (was) {
    case Doing::kWorks:
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

void Slot::onIdleClosed() noexcept {
  if (state_ == State::kLent) {
    dropWire();  // and the next statement says so
    if (ended_ != Ended::kNot) tell();
    return;
  }
  pool_.close(*this);
  pool_.openMore();
}

// A statement of a Work's, which may have gone meanwhile.
void Slot::ended() noexcept {
  paused_ = false;
  const int64_t took_ns = pool_.nowNs() - started_ns_;
  pool_.counters_.statement_ns.record(static_cast<uint64_t>(took_ns));
  if (kill_ != Kill::kNone) {
    settle();
  } else if (work_ != nullptr) {
    tell();
  } else {
    ended_ = Ended::kNot;
    clean();
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
  if (!paused_) return;
  kill();
  paused_ = false;
  if (!in_callback_) wire_->resume();
}

void Slot::release() noexcept {
  if (state_ == State::kLent) abandon();
}

void Slot::kill() noexcept {
  kill_ = Kill::kAsked;
  kill_at_ns_ = kNever;
  pool_.counters_.killed.add();
  pool_.kill(*this, *wire_);
}

void Slot::onKillDone(uint32_t generation, bool killed) noexcept {
  if (generation != generation_ || kill_ != Kill::kAsked) return;
  kill_ = killed ? Kill::kDone : Kill::kFailed;
  if (doing_ == Doing::kNothing) settle();
}

void Slot::drop() noexcept {
  if (linked()) unlink();
  dropWire();
  setState(State::kFree);
  doing_ = Doing::kNothing;
  kill_ = Kill::kNone;
  ended_ = Ended::kNot;
  connecting_ = paused_ = timed_out_ = false;
  ++generation_;
  kill_at_ns_ = tell_by_ns_ = settle_by_ns_ = kNever;
}

void Slot::shutDown() noexcept {
  Work* const work = work_;
  if (work != nullptr) detachWork();
  drop();
  if (work == nullptr) return;
  Error error;
  error.kind = ErrorKind::kShutdown;
  work->onError(nullptr, error);
}

}  // namespace roost::db
