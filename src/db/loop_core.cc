#include "db/loop_core.h"

#if ROOST_MARIADB_CLIENT

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cassert>
#include <cerrno>
#include <utility>

namespace roost::db {

namespace {

constexpr int kReadsPerTurn = 2;   // of 16 KiB or a row each; then the loop's other work has its turn
constexpr int kRowsPerTurn = 128;  // the same, where it cannot be told which rows need a read
constexpr size_t kLargestBuffer = 4 << 20;  // the library never gives back what a giant row has taken

}  // namespace

void LoopCore::watch(uint32_t events) noexcept {
  if (events == watched_) return;
  const Status done = watched_ == 0 ? loop_.add(fd_, events, *this) : loop_.modify(fd_, events, *this);
  if (done.ok()) watched_ = events;
}

void LoopCore::unwatch() noexcept {
  if (watched_ == 0) return;
  if (calls_.connected()) loop_.remove(fd_);  // closed by the library it has left the poller by that
  watched_ = 0;
}

void LoopCore::execute(const Statement& statement) noexcept {
  assert(step_ == Step::kIdle || step_ == Step::kDead);
  statement_ = &statement;
  retried_ = has_several_ = false;
  rows_ = 0;
  if (step_ == Step::kDead) {
    fail({ErrorKind::kLost, CR_SERVER_LOST, "HY000", "the connection is closed"});
    return;
  }
  if (executeBytes(statement) > max_packet_bytes_) {
    fail(tooLarge());
    return;
  }
  begin();
  go(false);  // where it is on the stack already, this being a listener's answer, that takes it up
}

void LoopCore::begin() noexcept {
  if (retired_ != nullptr) {
    drop(std::move(retired_));
    return;
  }
  if (begins_plainly_ && statement_->text.view() == kStartTransaction) {
    step_ = Step::kPlain;
    return;
  }
  current_ = statements_.find(statement_->text.view());
  if (current_ == nullptr) {
    beginPrepare();
  } else if (!current_->bind(statement_->values)) {
    fail();
  } else {
    step_ = Step::kExecute;
  }
}

void LoopCore::beginPrepare() noexcept {
  if (statements_.full()) {
    drop(statements_.takeOldest());
    return;
  }
  fresh_ = std::make_unique<Prepared>(calls_.mysql());
  current_ = fresh_.get();
  step_ = Step::kPrepare;
  if (fresh_->handle() == nullptr) fail();
}

void LoopCore::drop(std::unique_ptr<Prepared> prepared) noexcept {
  current_ = nullptr;
  doomed_ = prepared->release();
  step_ = Step::kClose;
}

bool LoopCore::callable() const noexcept {
  return step_ != Step::kIdle && step_ != Step::kPaused && step_ != Step::kYielded && step_ != Step::kDead;
}

int LoopCore::start() noexcept {
  switch (step_) {
    case Step::kClose:
      return calls_.close(doomed_);
    case Step::kPrepare:
      return calls_.prepare(current_->handle(), statement_->text.view());
    case Step::kExecute:
      return calls_.execute(current_->handle());
    case Step::kPlain:
      return calls_.query(kStartTransaction);
    case Step::kFetch:
    case Step::kSkip:
      if (!calls_.rowIsThere()) ++reads_;
      return calls_.fetch(current_->handle());
    case Step::kNextResult:
      return calls_.nextResult(current_->handle());
    default:
      return 0;
  }
}

// Calls the library until it has to wait, or there is nothing more to do. `waited`: first of all goes on with
// the call that has waited.
void LoopCore::go(bool waited) noexcept {
  if (going_) return;
  going_ = true;
  reads_ = 0;
  while (waited || callable()) {
    const int waits_for = waited ? calls_.carryOn() : start();
    waited = false;
    if (waits_for != 0) {
      // Only what is waited for: what else is there would have the loop call in vain.
      watch((waits_for & MYSQL_WAIT_READ ? EPOLLIN : 0U) | (waits_for & MYSQL_WAIT_WRITE ? EPOLLOUT : 0U));
      break;
    }
    take();
  }
  going_ = false;
}

void LoopCore::onIo(uint32_t /*events*/) noexcept {
  switch (step_) {
    case Step::kDead:
      return;
    case Step::kPaused:
      unwatch();
      return;
    case Step::kYielded:
      onTimer();
      return;
    case Step::kIdle:  // it has closed, or spoken unasked, which it does before it closes
      unwatch();
      step_ = Step::kDead;
      if (listener_ != nullptr) listener_->onIdleClosed();
      return;
    default:
      break;
  }
  if (calls_.suspended()) go(true);
}

void LoopCore::onTimer() noexcept {
  if (step_ != Step::kYielded) return;
  step_ = Step::kFetch;
  go(false);
}

void LoopCore::resume() noexcept {
  if (step_ != Step::kPaused) return;
  step_ = Step::kFetch;
  go(false);
}

// A call has ended.
void LoopCore::take() noexcept {
  switch (step_) {
    case Step::kClose:
      doomed_ = nullptr;
      begin();
      return;
    case Step::kPrepare:
      onPrepared();
      return;
    case Step::kExecute:
      onExecuted();
      return;
    case Step::kPlain:
      onPlain();
      return;
    case Step::kFetch:
    case Step::kSkip:
      onFetched();
      return;
    case Step::kNextResult:
      if (calls_.code() > 0) return fail();
      if (current_->skipping()) {
        step_ = Step::kSkip;
      } else {
        nextResult();
      }
      return;
    default:
      return;
  }
}

void LoopCore::onPrepared() noexcept {
  if (calls_.code() != 0 || !fresh_->prepared()) {
    if (mysql_stmt_errno(fresh_->handle()) == ER_MAX_PREPARED_STMT_COUNT_REACHED && statements_.size() != 0) {
      fresh_ = statements_.takeOldest();  // others' share is ours to give
      drop(std::move(fresh_));
      return;
    }
    fail();
    return;
  }
  ++prepares_;
  current_ = &statements_.keep(statement_->text.view(), std::move(fresh_));
  if (!current_->bind(statement_->values)) return fail();
  step_ = Step::kExecute;
}

// Whether the error means that nothing was done and that preparing again helps. If so, that is under way.
bool LoopCore::tryAgain(uint32_t number) noexcept {
  if (retried_ || !needsPreparing(number, statement_->text.view())) return false;
  retried_ = true;
  drop(statements_.take(statement_->text.view()));
  return true;
}

void LoopCore::onExecuted() noexcept {
  if (calls_.code() != 0) {
    const uint32_t number = mysql_stmt_errno(current_->handle());
    if (!tryAgain(number)) fail();
    return;
  }
  current_->executed();
  if (!current_->hasRows()) return nextResult();
  step_ = Step::kFetch;
  listener_->onColumns(current_->columns());
}

void LoopCore::onPlain() noexcept {
  if (calls_.code() != 0) return fail(errorOf(calls_.mysql()));
  in_transaction_ = (calls_.mysql()->server_status & SERVER_STATUS_IN_TRANS) != 0;
  step_ = Step::kIdle;
  watch(EPOLLIN);
  Outcome outcome;
  outcome.session_changed = saysSessionChanged(calls_.mysql(), calls_.mysql()->server_status);
  listener_->onResult(outcome);
}

void LoopCore::onFetched() noexcept {
  switch (current_->fetched(calls_.code())) {
    case Fetched::kRow:
      if (step_ == Step::kFetch) onRow();
      return;
    case Fetched::kFailed:
      fail();
      return;
    case Fetched::kEnd:
      break;
  }
  nextResult();
}

void LoopCore::onRow() noexcept {
  ++rows_;
  const bool goes_on = listener_->onRow(current_->row());
  if (step_ != Step::kFetch) return;  // the wire has gone
  if (!goes_on) {
    step_ = Step::kPaused;
    return;
  }
  const bool sees_buffer = calls_.seesBuffer();
  if (reads_ < (sees_buffer ? kReadsPerTurn : kRowsPerTurn) || calls_.rowIsThere()) return;
  step_ = Step::kYielded;
  watch(EPOLLIN);
  // What TLS has unpacked, or the library may have in its buffer, makes no socket readable.
  if (is_tls_ || !sees_buffer) loop_.armIn(*this, event::Nanos(0));
}

// The one that was read is over.
void LoopCore::nextResult() noexcept {
  if (current_->moreResults()) {
    step_ = Step::kNextResult;
    has_several_ = true;
    return;
  }
  finish();
}

void LoopCore::finish() noexcept {
  Outcome outcome;
  outcome.affected_rows = current_->affectedRows();
  outcome.insert_id = current_->insertId();
  outcome.rows = rows_;
  outcome.warnings = current_->warnings();
  outcome.session_changed = current_->sessionChanged();
  in_transaction_ = current_->inTransaction();
  // The library does not tell the columns of such a one's first result again.
  if (has_several_) retired_ = statements_.take(statement_->text.view());
  current_ = nullptr;
  step_ = Step::kIdle;
  watch(EPOLLIN);
  listener_->onResult(outcome);
}

void LoopCore::fail() noexcept {
  Error error = current_->error();
  fail(error);
}

void LoopCore::fail(const Error& error) noexcept {
  if (has_several_) retired_ = statements_.take(statement_->text.view());
  current_ = nullptr;
  fresh_.reset();
  if (error.kind == ErrorKind::kLost || !calls_.connected()) {
    unwatch();
    step_ = Step::kDead;
  } else {
    step_ = Step::kIdle;
    watch(EPOLLIN);
  }
  listener_->onError(error);
}

bool LoopCore::alive() noexcept {
  if (step_ == Step::kDead || !calls_.connected() || calls_.mysql()->net.max_packet > kLargestBuffer)
    return false;
  char byte = 0;
  return ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR);
}

void LoopCore::close() noexcept {
  if (std::exchange(closed_, true)) return;
  loop_.cancel(*this);
  unwatch();
  const bool to_close = step_ == Step::kClose && !calls_.suspended();
  calls_.end(step_ == Step::kIdle);
  if (to_close) mysql_stmt_close(doomed_);
  step_ = Step::kDead;
  fresh_.reset();  // the statements have lost their connection, and tell nobody
  retired_.reset();
  statements_.clear();
}

}  // namespace roost::db

#endif
