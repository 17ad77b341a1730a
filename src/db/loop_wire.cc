#include "db/loop_wire.h"

#if ROOST_MARIADB_CLIENT

// The library's own header is written for C, and for its own types.
#include <ma_pvio.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cassert>
#include <cerrno>
#include <utility>

#include "db/prepared.h"
#include "db/statement_cache.h"
#include "event/loop.h"

namespace roost::db {

namespace {

constexpr int kReadsPerTurn = 2;  // of 16 KiB or a row each; then the loop's other work has its turn
constexpr size_t kLargestBuffer = 4 << 20;  // the library never gives back what a giant row has taken
constexpr int kUnwindCalls = 256;           // until a call whose socket is shut down has come to its end

// Whether the library loaded has the structures that this was compiled with.
bool sameLibrary() noexcept {
  static const bool same = mysql_get_client_version() == MARIADB_PACKAGE_VERSION_ID;
  return same;
}

// The connection itself; outlives its LoopWire until the batch of events is over. Every call of the library
// that may wait is started, and continued when the socket is ready; between two of them nothing is on the
// library's side stack.
class Core final : public event::Task, public event::IoHandler, public event::Timer {
 public:
  Core(event::Loop& loop, Session session, size_t max_statements)
      : loop_(loop),
        max_packet_bytes_(session.max_packet_bytes),
        mysql_(std::move(session.mysql)),
        fd_(mysql_get_socket(mysql_.get())),
        is_tls_(mysql_get_ssl_cipher(mysql_.get()) != nullptr),
        begins_plainly_(!isMariaDb(mysql_.get())),
        statements_(max_statements) {}
  ~Core() override { close(); }

  void run() noexcept override {}  // a Task only to be destroyed later

  void setListener(WireListener& listener) noexcept {
    listener_ = &listener;
    if (step_ == Step::kIdle) watch(EPOLLIN);
  }
  void execute(const Statement& statement) noexcept;
  void resume() noexcept;
  bool alive() noexcept;
  void close() noexcept;

  bool inTransaction() const noexcept { return in_transaction_; }
  uint64_t threadId() const noexcept { return mysql_thread_id(mysql_.get()); }
  uint64_t prepares() const noexcept { return prepares_; }
  event::Loop& loop() const noexcept { return loop_; }

 private:
  enum class Step : uint8_t {
    kIdle,
    kClose,    // doomed_, a statement that has to go
    kPrepare,  // fresh_
    kExecute,  // current_, as the rest
    kPlain,    // a text that cannot be prepared
    kFetch,
    kPaused,   // the listener wants no more rows for now
    kYielded,  // others have their turn
    kNextResult,
    kSkip,  // rows of a further result
    kDead,
  };

  void onIo(uint32_t events) noexcept override;
  void onTimer() noexcept override;

  // The library's calls. 0: ended, code_ holds the result; else what it waits for.
  int start() noexcept;
  int carryOn(int ready) noexcept;
  void go(int waits_for) noexcept;
  void take() noexcept;
  bool callable() const noexcept;

  void begin() noexcept;
  void beginPrepare() noexcept;
  void onPrepared() noexcept;
  void onExecuted() noexcept;
  void onPlain() noexcept;
  void onFetched() noexcept;
  void onRow() noexcept;
  void onSkipped() noexcept;
  void nextResult() noexcept;
  void finish() noexcept;
  void fail() noexcept;
  void fail(const Error& error) noexcept;
  void drop(std::unique_ptr<Prepared> prepared) noexcept;
  bool tryAgain(uint32_t number) noexcept;

  bool rowIsThere() const noexcept;
  void watch(uint32_t events) noexcept;
  void unwatch() noexcept;

  event::Loop& loop_;
  const size_t max_packet_bytes_;
  MysqlPtr mysql_;
  const int fd_;
  const bool is_tls_;
  const bool begins_plainly_;
  WireListener* listener_ = nullptr;
  StatementCache statements_;

  Step step_ = Step::kIdle;
  bool going_ = false;      // go() is on the stack
  bool suspended_ = false;  // a call of the library waits for the socket
  bool retried_ = false;
  bool has_several_ = false;  // results
  bool closed_ = false;
  bool in_transaction_ = false;
  uint32_t watched_ = 0;  // epoll's events; 0: the socket is not in the loop
  int waits_for_ = 0;     // MYSQL_WAIT_...
  int reads_ = 0;         // in this turn
  int code_ = 0;          // what a call returned
  my_bool flag_ = 0;      // the same, of others
  uint64_t rows_ = 0;
  uint64_t prepares_ = 0;

  const Statement* statement_ = nullptr;
  Prepared* current_ = nullptr;
  std::unique_ptr<Prepared> fresh_;
  std::unique_ptr<Prepared> retired_;  // to be closed before the next one is executed
  MYSQL_STMT* doomed_ = nullptr;
};

void Core::watch(uint32_t events) noexcept {
  if (events == watched_) return;
  const Status done = watched_ == 0 ? loop_.add(fd_, events, *this) : loop_.modify(fd_, events, *this);
  if (done.ok()) watched_ = events;
}

void Core::unwatch() noexcept {
  if (watched_ == 0) return;
  loop_.remove(fd_);
  watched_ = 0;
}

void Core::execute(const Statement& statement) noexcept {
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
  if (going_) return;  // a listener's answer to the one before: the loop in go() takes it up
  reads_ = 0;
  go(0);
}

void Core::begin() noexcept {
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

void Core::beginPrepare() noexcept {
  if (statements_.full()) {
    drop(statements_.takeOldest());
    return;
  }
  fresh_ = std::make_unique<Prepared>(mysql_.get());
  current_ = fresh_.get();
  step_ = Step::kPrepare;
  if (fresh_->handle() == nullptr) fail();
}

void Core::drop(std::unique_ptr<Prepared> prepared) noexcept {
  current_ = nullptr;
  doomed_ = prepared->release();
  step_ = Step::kClose;
}

bool Core::callable() const noexcept {
  return step_ != Step::kIdle && step_ != Step::kPaused && step_ != Step::kYielded && step_ != Step::kDead;
}

int Core::start() noexcept {
  switch (step_) {
    case Step::kClose:
      return mysql_stmt_close_start(&flag_, doomed_);
    case Step::kPrepare: {
      const std::string_view text = statement_->text.view();
      return mysql_stmt_prepare_start(&code_, current_->handle(), text.data(), text.size());
    }
    case Step::kExecute:
      return mysql_stmt_execute_start(&code_, current_->handle());
    case Step::kPlain:
      return mysql_real_query_start(&code_, mysql_.get(), kStartTransaction.data(), kStartTransaction.size());
    case Step::kFetch:
    case Step::kSkip:
      if (rowIsThere()) {
        code_ = mysql_stmt_fetch(current_->handle());
        return 0;
      }
      ++reads_;
      return mysql_stmt_fetch_start(&code_, current_->handle());
    case Step::kNextResult:
      return mysql_stmt_next_result_start(&code_, current_->handle());
    default:
      return 0;
  }
}

int Core::carryOn(int ready) noexcept {
  switch (step_) {
    case Step::kClose:
      return mysql_stmt_close_cont(&flag_, doomed_, ready);
    case Step::kPrepare:
      return mysql_stmt_prepare_cont(&code_, current_->handle(), ready);
    case Step::kExecute:
      return mysql_stmt_execute_cont(&code_, current_->handle(), ready);
    case Step::kPlain:
      return mysql_real_query_cont(&code_, mysql_.get(), ready);
    case Step::kFetch:
    case Step::kSkip:
      return mysql_stmt_fetch_cont(&code_, current_->handle(), ready);
    case Step::kNextResult:
      return mysql_stmt_next_result_cont(&code_, current_->handle(), ready);
    default:
      return 0;
  }
}

// A whole packet lies in the library's buffer: reading it takes no system call, so that it need not be done
// on the side stack.
bool Core::rowIsThere() const noexcept {
  const MARIADB_PVIO* pvio = mysql_->net.pvio;
  if (!sameLibrary() || pvio == nullptr || pvio->cache == nullptr || mysql_->net.compress) return false;
  if (pvio->cache_pos < pvio->cache || pvio->cache_size > PVIO_READ_AHEAD_CACHE_SIZE) return false;
  const ptrdiff_t left = pvio->cache + pvio->cache_size - pvio->cache_pos;
  if (left < 4) return false;
  const int size = pvio->cache_pos[0] | pvio->cache_pos[1] << 8 | pvio->cache_pos[2] << 16;
  return size < 0xffffff && left >= 4 + size;
}

// Calls the library until it has to wait, or there is nothing more to do. `waits_for`: of a call that has
// been continued already.
void Core::go(int waits_for) noexcept {
  if (going_) return;
  going_ = true;
  bool has_ended = suspended_ && waits_for == 0;
  suspended_ = false;
  while (has_ended || waits_for != 0 || callable()) {
    if (!has_ended && waits_for == 0) waits_for = start();
    has_ended = false;
    if (waits_for != 0) {
      suspended_ = true;
      waits_for_ = waits_for & (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE);
      // Only what is waited for: what else is there would have the loop call in vain.
      watch((waits_for & MYSQL_WAIT_READ ? EPOLLIN : 0U) | (waits_for & MYSQL_WAIT_WRITE ? EPOLLOUT : 0U));
      break;
    }
    take();
  }
  going_ = false;
}

void Core::onIo(uint32_t /*events*/) noexcept {
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
  if (!suspended_) return;
  reads_ = 0;
  go(carryOn(waits_for_));
}

void Core::onTimer() noexcept {
  if (step_ != Step::kYielded) return;
  step_ = Step::kFetch;
  reads_ = 0;
  go(0);
}

void Core::resume() noexcept {
  if (step_ != Step::kPaused) return;
  step_ = Step::kFetch;
  if (going_) return;
  reads_ = 0;
  go(0);
}

// A call has ended.
void Core::take() noexcept {
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
      onFetched();
      return;
    case Step::kSkip:
      onSkipped();
      return;
    case Step::kNextResult:
      if (code_ > 0) return fail();
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

void Core::onPrepared() noexcept {
  if (code_ != 0 || !fresh_->prepared()) {
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
bool Core::tryAgain(uint32_t number) noexcept {
  if (retried_ || !needsPreparing(number, statement_->text.view())) return false;
  retried_ = true;
  drop(statements_.take(statement_->text.view()));
  return true;
}

void Core::onExecuted() noexcept {
  if (code_ != 0) {
    const uint32_t number = mysql_stmt_errno(current_->handle());
    if (!tryAgain(number)) fail();
    return;
  }
  current_->executed();
  if (!current_->hasRows()) return nextResult();
  step_ = Step::kFetch;
  listener_->onColumns(current_->columns());
}

void Core::onPlain() noexcept {
  if (code_ != 0) return fail(errorOf(mysql_.get()));
  in_transaction_ = (mysql_->server_status & SERVER_STATUS_IN_TRANS) != 0;
  step_ = Step::kIdle;
  watch(EPOLLIN);
  listener_->onResult({});
}

void Core::onFetched() noexcept {
  switch (current_->fetched(code_)) {
    case Fetched::kRow:
      onRow();
      return;
    case Fetched::kFailed:
      fail();
      return;
    case Fetched::kEnd:
      break;
  }
  nextResult();
}

void Core::onRow() noexcept {
  ++rows_;
  const bool goes_on = listener_->onRow(current_->row());
  if (step_ != Step::kFetch) return;  // the wire has gone
  if (!goes_on) {
    step_ = Step::kPaused;
    return;
  }
  if (reads_ < kReadsPerTurn || rowIsThere()) return;
  step_ = Step::kYielded;
  watch(EPOLLIN);
  // What TLS or compression has unpacked already makes no socket readable.
  if (is_tls_ || mysql_->net.compress) loop_.armIn(*this, event::Nanos(0));
}

void Core::onSkipped() noexcept {
  switch (current_->fetched(code_)) {
    case Fetched::kRow:
      return;
    case Fetched::kFailed:
      fail();
      return;
    case Fetched::kEnd:
      break;
  }
  nextResult();
}

// The one that was read is over.
void Core::nextResult() noexcept {
  if (current_->moreResults()) {
    step_ = Step::kNextResult;
    has_several_ = true;
    return;
  }
  finish();
}

void Core::finish() noexcept {
  Outcome outcome;
  outcome.affected_rows = current_->affectedRows();
  outcome.insert_id = current_->insertId();
  outcome.rows = rows_;
  outcome.warnings = current_->warnings();
  in_transaction_ = current_->inTransaction();
  // The library does not tell the columns of such a one's first result again.
  if (has_several_) retired_ = statements_.take(statement_->text.view());
  current_ = nullptr;
  step_ = Step::kIdle;
  watch(EPOLLIN);
  listener_->onResult(outcome);
}

void Core::fail() noexcept {
  Error error = current_->error();
  fail(error);
}

void Core::fail(const Error& error) noexcept {
  if (has_several_) retired_ = statements_.take(statement_->text.view());
  current_ = nullptr;
  fresh_.reset();
  if (error.kind == ErrorKind::kLost) {
    unwatch();
    step_ = Step::kDead;
  } else {
    step_ = Step::kIdle;
    watch(EPOLLIN);
  }
  listener_->onError(error);
}

bool Core::alive() noexcept {
  if (step_ == Step::kDead || mysql_->net.max_packet > kLargestBuffer) return false;
  char byte = 0;
  return ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR);
}

// Waits for nothing. Where something is under way the socket is shut down first, and the suspended call comes
// to its end by that: what it has on its stack it frees itself.
void Core::close() noexcept {
  if (std::exchange(closed_, true)) return;
  loop_.cancel(*this);
  unwatch();
  // Where the library has found the connection dead it has closed the socket, and the number may be
  // another's.
  if (step_ != Step::kIdle && mysql_->net.pvio != nullptr) ::shutdown(fd_, SHUT_RDWR);
  if (suspended_) {
    for (int i = 0; i < kUnwindCalls && carryOn(waits_for_) != 0; ++i) {
    }
    suspended_ = false;
  }
  step_ = Step::kDead;
  mysql_.reset();  // the statements first lose their connection, and then tell nobody
  fresh_.reset();
  retired_.reset();
  statements_.clear();
}

class LoopWire final : public Wire {
 public:
  explicit LoopWire(std::unique_ptr<Core> core) noexcept : core_(std::move(core)) {}
  ~LoopWire() override {
    core_->close();
    event::Loop& loop = core_->loop();
    loop.destroyLater(std::move(core_));
  }
  void setListener(WireListener& listener) noexcept override { core_->setListener(listener); }
  void execute(const Statement& statement) noexcept override { core_->execute(statement); }
  void resume() noexcept override { core_->resume(); }
  bool alive() noexcept override { return core_->alive(); }
  bool inTransaction() const noexcept override { return core_->inTransaction(); }
  uint64_t threadId() const noexcept override { return core_->threadId(); }
  uint64_t prepares() const noexcept override { return core_->prepares(); }

 private:
  std::unique_ptr<Core> core_;
};

}  // namespace

std::unique_ptr<Wire> makeLoopWire(event::Loop& loop, Session session, size_t max_statements) {
  return std::make_unique<LoopWire>(std::make_unique<Core>(loop, std::move(session), max_statements));
}

}  // namespace roost::db

#endif
