#include "db/thread_wire.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "db/prepared.h"
#include "db/statement_cache.h"
#include "event/loop.h"

namespace roost::db {

namespace {

constexpr size_t kBatchBytes = 64 * 1024;
constexpr size_t kMaxBatches = 4;  // on their way to the loop; then the thread waits
constexpr uint64_t kNull = UINT64_MAX;

// Rows on their way, or the end.
struct Batch {
  std::optional<ResultColumns> columns;  // with the first of a result
  std::string bytes;
  std::vector<uint64_t> sizes;  // of the cells, one after the other; kNull
  std::optional<Outcome> outcome;
  std::optional<Error> error;
  bool in_transaction = false;
};

// What thread and loop share; whoever of them goes last frees it. The thread's are `work`, and what is
// marked.
class Core final : public ThreadSession, public event::IoHandler, public std::enable_shared_from_this<Core> {
 public:
  Core(event::Loop& loop, Session session, size_t max_statements)
      : loop_(&loop),
        home_(loop),
        max_packet_bytes_(session.max_packet_bytes),
        server_(std::move(session.server)),
        mysql_(std::move(session.mysql)),
        begins_plainly_(!isMariaDb(mysql_.get())),
        socket_(::fcntl(static_cast<int>(mysql_->net.fd), F_DUPFD_CLOEXEC, 0)),
        thread_id_(mysql_thread_id(mysql_.get())),
        statements_(max_statements) {}

  // The loop's side.
  void setListener(WireListener& listener) noexcept {
    listener_ = &listener;
    if (state_ == State::kIdle) watch();
  }
  void execute(const Statement& statement) noexcept;
  void resume() noexcept;
  bool alive() noexcept;
  void leave() noexcept override;
  bool inTransaction() const noexcept { return in_transaction_; }
  uint64_t threadId() const noexcept { return thread_id_; }
  const ServerPlace& server() const noexcept { return server_; }
  uint64_t prepares() const noexcept { return prepares_.load(std::memory_order_relaxed); }
  event::Loop& loop() const noexcept { return home_; }

  void serve() override;  // the thread's side

 private:
  enum class State : uint8_t { kIdle, kBusy, kPaused, kDead };

  void onIo(uint32_t events) noexcept override;
  void watch() noexcept;
  void unwatch() noexcept;
  void deliver() noexcept;
  bool deliverRows(const Batch& batch) noexcept;
  void end(Batch batch) noexcept;
  void fail(const Error& error) noexcept;

  // The thread's.
  Batch work(const Statement& statement);
  Batch beginPlainly();
  Prepared* prepare(const Statement& statement, bool& again, Error& error);
  bool stream(Prepared& prepared, Batch& batch);
  static void append(const Row& row, Batch& batch);
  bool send(Batch batch);

  std::mutex mutex_;
  std::condition_variable changed_;
  event::Loop* loop_;  // under the lock; nullptr: nobody is there any more
  std::unique_ptr<Statement> order_;
  std::deque<Batch> batches_;

  event::Loop& home_;
  const size_t max_packet_bytes_;
  const ServerPlace server_;
  MysqlPtr mysql_;  // the thread's, once it serves
  const bool begins_plainly_;
  // The loop's own name of the socket, since the library closes its own when it likes.
  const UniqueFd socket_;
  const uint64_t thread_id_;
  std::atomic<uint64_t> prepares_{0};

  StatementCache statements_;  // the thread's

  WireListener* listener_ = nullptr;  // the loop's, from here on
  State state_ = State::kIdle;
  bool watched_ = false;
  bool in_transaction_ = false;
  bool delivering_ = false;
  ResultColumns columns_;
  std::vector<Cell> cells_;
  Batch current_;  // being delivered, from next_cell_ and next_byte_ on
  bool has_current_ = false;
  size_t next_cell_ = 0;
  size_t next_byte_ = 0;
  uint64_t rows_ = 0;
};

void Core::watch() noexcept {
  if (!watched_) watched_ = home_.add(socket_.get(), EPOLLIN, *this).ok();
}

void Core::unwatch() noexcept {
  if (std::exchange(watched_, false)) home_.remove(socket_.get());
}

void Core::onIo(uint32_t /*events*/) noexcept {
  unwatch();
  if (state_ != State::kIdle) return;
  state_ = State::kDead;
  if (listener_ != nullptr) listener_->onIdleClosed();
}

bool Core::alive() noexcept {
  if (state_ == State::kDead) return false;
  char byte = 0;
  return ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR);
}

void Core::execute(const Statement& statement) noexcept {
  if (state_ == State::kDead) {
    return fail({ErrorKind::kLost, CR_SERVER_LOST, "HY000", "the connection is closed"});
  }
  if (executeBytes(statement) > max_packet_bytes_) return fail(tooLarge());
  unwatch();
  state_ = State::kBusy;
  rows_ = 0;
  auto order = std::make_unique<Statement>(statement);  // it has to bear that the wire goes
  const std::lock_guard<std::mutex> lock(mutex_);
  order_ = std::move(order);
  changed_.notify_one();
}

void Core::resume() noexcept {
  if (state_ != State::kPaused) return;
  state_ = State::kBusy;
  deliver();
}

void Core::deliver() noexcept {
  if (delivering_ || listener_ == nullptr) return;
  delivering_ = true;
  while (state_ == State::kBusy) {
    if (!has_current_) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (batches_.empty()) break;
      current_ = std::move(batches_.front());
      batches_.pop_front();
      changed_.notify_one();
      has_current_ = true;
      next_cell_ = next_byte_ = 0;
    }
    if (current_.columns.has_value()) {
      columns_ = *std::exchange(current_.columns, std::nullopt);
      listener_->onColumns(columns_);
      if (state_ != State::kBusy) break;
    }
    if (!deliverRows(current_)) break;
    has_current_ = false;
    if (current_.outcome.has_value() || current_.error.has_value()) end(std::move(current_));
  }
  delivering_ = false;
}

// False: paused in the midst of it, or gone.
bool Core::deliverRows(const Batch& batch) noexcept {
  cells_.resize(columns_.size());
  while (next_cell_ < batch.sizes.size()) {
    for (Cell& cell : cells_) {
      const uint64_t size = batch.sizes[next_cell_++];
      cell = size == kNull ? Cell{} : Cell{batch.bytes.data() + next_byte_, size};
      if (size != kNull) next_byte_ += size;
    }
    ++rows_;
    const bool goes_on = listener_->onRow({cells_.data(), cells_.size()});
    if (state_ != State::kBusy) return false;
    if (!goes_on) {
      state_ = State::kPaused;
      return false;
    }
  }
  return true;
}

void Core::end(Batch batch) noexcept {
  if (batch.error.has_value()) return fail(*batch.error);
  in_transaction_ = batch.in_transaction;
  batch.outcome->rows = rows_;
  state_ = State::kIdle;
  watch();
  listener_->onResult(*batch.outcome);
}

void Core::fail(const Error& error) noexcept {
  if (error.kind == ErrorKind::kLost) {
    state_ = State::kDead;
  } else if (state_ != State::kDead) {
    state_ = State::kIdle;
    watch();
  }
  listener_->onError(error);
}

// The thread ends by itself: at once where it is idle, else because its socket does.
void Core::leave() noexcept {
  unwatch();
  if (state_ != State::kIdle) ::shutdown(socket_.get(), SHUT_RDWR);
  state_ = State::kDead;
  listener_ = nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  loop_ = nullptr;
  changed_.notify_one();
}

void Core::serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (loop_ != nullptr) {
    changed_.wait(lock, [this] { return order_ != nullptr || loop_ == nullptr; });
    if (loop_ == nullptr) break;
    const std::unique_ptr<Statement> order = std::move(order_);
    lock.unlock();
    send(work(*order));
    lock.lock();
  }
  lock.unlock();
  mysql_.reset();
  statements_.clear();
}

// False: nobody is there any more.
bool Core::send(Batch batch) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return batches_.size() < kMaxBatches || loop_ == nullptr; });
  if (loop_ == nullptr) return false;
  batches_.push_back(std::move(batch));
  // Under the lock: the loop is there as long as leave() has not been called.
  loop_->post(event::makeTask([self = shared_from_this()] { self->deliver(); }));
  return true;
}

Prepared* Core::prepare(const Statement& statement, bool& again, Error& error) {
  const std::string_view text = statement.text.view();
  if (again) {
    statements_.take(text);
  } else if (Prepared* const found = statements_.find(text)) {
    return found;
  }
  while (statements_.full()) statements_.takeOldest();
  auto prepared = std::make_unique<Prepared>(mysql_.get());
  while (!prepared->prepare(text)) {
    error = prepared->error();
    if (error.number != ER_MAX_PREPARED_STMT_COUNT_REACHED || statements_.size() == 0) return nullptr;
    statements_.takeOldest();
    prepared = std::make_unique<Prepared>(mysql_.get());
  }
  again = true;  // it is as fresh as can be
  prepares_.fetch_add(1, std::memory_order_relaxed);
  return &statements_.keep(text, std::move(prepared));
}

Batch Core::beginPlainly() {
  Batch batch;
  if (mysql_real_query(mysql_.get(), kStartTransaction.data(), kStartTransaction.size()) != 0) {
    batch.error = errorOf(mysql_.get());
  } else {
    batch.outcome.emplace();
    batch.outcome->session_changed = saysSessionChanged(mysql_.get(), mysql_->server_status);
    batch.in_transaction = (mysql_->server_status & SERVER_STATUS_IN_TRANS) != 0;
  }
  return batch;
}

Batch Core::work(const Statement& statement) {
  Batch batch;
  batch.error.emplace();
  if (begins_plainly_ && statement.text.view() == kStartTransaction) return beginPlainly();
  bool again = false;
  Prepared* prepared = prepare(statement, again, *batch.error);
  if (prepared == nullptr) return batch;
  bool executed = prepared->execute(statement.values);
  if (!executed && !again && needsPreparing(prepared->error().number, statement.text.view())) {
    again = true;
    prepared = prepare(statement, again, *batch.error);
    if (prepared == nullptr) return batch;
    executed = prepared->execute(statement.values);
  }
  if (!executed || !stream(*prepared, batch)) {
    batch.error = prepared->error();
    return batch;
  }
  const bool has_several = prepared->moreResults();
  if (!prepared->skipMoreResults()) {
    batch.error = prepared->error();
  } else {
    batch.error.reset();
    batch.outcome.emplace();
    batch.outcome->affected_rows = prepared->affectedRows();
    batch.outcome->insert_id = prepared->insertId();
    batch.outcome->warnings = prepared->warnings();
    batch.outcome->session_changed = prepared->sessionChanged();
    batch.in_transaction = prepared->inTransaction();
  }
  if (has_several) statements_.take(statement.text.view());
  return batch;
}

// Sends all rows but those of the last batch.
bool Core::stream(Prepared& prepared, Batch& batch) {
  if (!prepared.hasRows()) return true;
  batch.columns = prepared.columns();
  Fetched fetched = Fetched::kEnd;
  while ((fetched = prepared.fetch()) == Fetched::kRow) {
    append(prepared.row(), batch);
    if (batch.bytes.size() + batch.sizes.size() * sizeof batch.sizes[0] < kBatchBytes) continue;
    const std::optional<Error> error = std::exchange(batch.error, std::nullopt);
    if (!send(std::move(batch))) return false;
    batch = {};
    batch.error = error;
  }
  return fetched == Fetched::kEnd;
}

void Core::append(const Row& row, Batch& batch) {
  for (size_t i = 0; i < row.size(); ++i) {
    batch.sizes.push_back(row[i].isNull() ? kNull : row[i].size);
    if (!row[i].isNull()) batch.bytes.append(row[i].data, row[i].size);
  }
}

class ThreadWire final : public Wire {
 public:
  explicit ThreadWire(std::shared_ptr<Core> core) noexcept : core_(std::move(core)) {}
  ~ThreadWire() override {
    core_->leave();
    event::Loop& loop = core_->loop();
    // Events of this batch may still name it.
    loop.destroyLater(event::makeTask([core = std::move(core_)] { (void)core; }));
  }
  void setListener(WireListener& listener) noexcept override { core_->setListener(listener); }
  void execute(const Statement& statement) noexcept override { core_->execute(statement); }
  void resume() noexcept override { core_->resume(); }
  bool alive() noexcept override { return core_->alive(); }
  bool inTransaction() const noexcept override { return core_->inTransaction(); }
  uint64_t threadId() const noexcept override { return core_->threadId(); }
  const ServerPlace& server() const noexcept override { return core_->server(); }
  uint64_t prepares() const noexcept override { return core_->prepares(); }

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace

std::shared_ptr<ThreadSession> makeThreadSession(event::Loop& loop, Session session, size_t max_statements) {
  return std::make_shared<Core>(loop, std::move(session), max_statements);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the caller gives its reference up.
std::unique_ptr<Wire> makeThreadWire(std::shared_ptr<ThreadSession> session) {
  return std::make_unique<ThreadWire>(std::static_pointer_cast<Core>(session));
}

}  // namespace roost::db
