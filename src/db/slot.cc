#include "db/slot.h"

#include <cassert>
#include <utility>

#include "db/loop_pool.h"

namespace roost::db {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;

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
  told_columns_ = paused_ = reader_cut_off_ = false;
  paused_ns_ = 0;
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
  if (!endPause()) return;
  progress_ns_ = pool_.nowNs();
  pool_.note(statementDeadline());
  wire_->resume();
}

// False: there was none.
bool Slot::endPause() noexcept {
  if (!paused_) return false;
  paused_ = false;
  paused_ns_ += pool_.nowNs() - paused_at_ns_;
  return true;
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
  if (!more) {
    paused_ = true;
    paused_at_ns_ = pool_.nowNs();
    pool_.note(slowAtNs());
  }
  return more;
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
