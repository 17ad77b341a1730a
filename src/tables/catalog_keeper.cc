#include "tables/catalog_keeper.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "db/connection.h"
#include "log/log.h"
#include "tables/catalog_loader.h"

namespace roost::tables {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr uint32_t kStatementLimitMs = 10'000;
constexpr std::chrono::seconds kRepeatComplaint{60};

}  // namespace

// What the thread and the keeper share. The thread holds it too, for as long as it runs.
class CatalogKeeper::Worker {
 public:
  Worker(KeeperOptions options, Open open, CatalogListener& listener)
      : options_(std::move(options)), open_(std::move(open)), listener_(listener) {}

  void run() {
    log::setThreadName("catalog");
    uint32_t retry_ms = options_.first_retry_ms;
    for (bool reload = false; !stopping();) {
      const Clock::time_point began = Clock::now();
      if (turn(reload)) {
        retry_ms = options_.first_retry_ms;
        reload = wait(began, options_.poll_ms);
      } else {
        reload |= wait(began, retry_ms);
        retry_ms = std::min(retry_ms * 2, options_.max_retry_ms);
      }
    }
    connection_.reset();
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  void ask(bool reload) noexcept {
    const std::lock_guard lock(mutex_);
    asked_ = true;
    reload_ |= reload;
    changed_.notify_all();
  }

  // Whether the thread has ended.
  bool stop() noexcept {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
    lock.unlock();
    const std::lock_guard told(telling_);
    lock.lock();
    return changed_.wait_for(lock, milliseconds(options_.stop_wait_ms), [this] { return ended_; });
  }

 private:
  bool stopping() {
    const std::lock_guard lock(mutex_);
    return stopping_;
  }

  // Until `most_ms` are over (0: without end) or somebody asks. Whether everything is to be read anew.
  bool wait(Clock::time_point began, uint32_t most_ms) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, began + milliseconds(options_.least_pause_ms), [this] { return stopping_; });
    const auto woken = [this] { return stopping_ || asked_; };
    if (most_ms == 0) {
      changed_.wait(lock, woken);
    } else {
      changed_.wait_for(lock, milliseconds(most_ms), woken);
    }
    asked_ = false;
    return std::exchange(reload_, false);
  }

  // Looks, and reads what has changed.
  bool turn(bool reload) {
    const bool was_open = connection_ != nullptr;
    db::Error error;
    if (!connect(error)) return failed(error);
    if (look(reload, error)) return succeeded();
    if (was_open && error.kind == db::ErrorKind::kLost) {  // the server ends idle connections
      connection_.reset();
      if (connect(error) && look(reload, error)) return succeeded();
    }
    if (error.kind != db::ErrorKind::kStatement) connection_.reset();
    return failed(error);
  }

  bool connect(db::Error& error) {
    if (connection_ == nullptr) connection_ = open_(error);
    return connection_ != nullptr;
  }

  bool look(bool reload, db::Error& error) {
    if (catalog_ != nullptr && !reload) {
      std::string fingerprint;
      if (!readFingerprint(*connection_, options_.database, fingerprint, error)) return false;
      if (fingerprint == catalog_->fingerprint) return true;
    }
    std::shared_ptr<const Catalog> read =
        loadCatalog(*connection_, options_.database, options_.time_zone, error);
    if (read == nullptr) return false;
    tell(std::move(read));
    return true;
  }

  void tell(std::shared_ptr<const Catalog> read) {
    catalog_ = std::move(read);
    const std::lock_guard telling(telling_);
    if (stopping()) return;
    LOG_INFO("schema of {}: {} tables and views, {}", options_.database, catalog_->tables.size(),
             catalog_->server_version);
    listener_.onCatalog(catalog_);
  }

  bool succeeded() {
    if (!complaint_.empty()) LOG_INFO("schema of {}: it can be read again", options_.database);
    complaint_.clear();
    return true;
  }

  bool failed(const db::Error& error) {
    if (catalog_ == nullptr) {
      const std::lock_guard telling(telling_);
      if (!stopping()) listener_.onUnreadable(error);
    }
    const Clock::time_point now = Clock::now();
    if (stopping() || (error.message == complaint_ && now - complained_ < kRepeatComplaint)) return false;
    complaint_ = error.message;
    complained_ = now;
    LOG_WARN("schema of {}: it cannot be read, {}: {}", options_.database,
             catalog_ == nullptr ? "no table is served yet" : "the last one is kept", error.message);
    return false;
  }

  const KeeperOptions options_;
  const Open open_;
  CatalogListener& listener_;

  // The thread's.
  std::unique_ptr<db::Connection> connection_;
  std::shared_ptr<const Catalog> catalog_;
  std::string complaint_;  // the last one; empty: all is well
  Clock::time_point complained_;

  std::mutex telling_;  // while the listener is called
  std::mutex mutex_;    // of what follows; taken after telling_
  std::condition_variable changed_;
  bool asked_ = false;
  bool reload_ = false;
  bool stopping_ = false;
  bool ended_ = false;
};

CatalogKeeper::CatalogKeeper(KeeperOptions options, Open open, CatalogListener& listener)
    : worker_(std::make_shared<Worker>(std::move(options), std::move(open), listener)) {}

CatalogKeeper::~CatalogKeeper() {
  stop();
}

CatalogKeeper::Open CatalogKeeper::openPrimary(const db::Options& options,
                                               std::shared_ptr<db::SpareSessions> spares) {
  return [spares = std::move(spares), options = [&options] {
    db::Options own = options;
    const bool limited = own.query_timeout_ms != 0 && own.query_timeout_ms < kStatementLimitMs;
    if (!limited) own.query_timeout_ms = kStatementLimitMs;
    return own;
  }()](db::Error& error) { return db::Connection::open(options, options.primary, error, spares.get()); };
}

void CatalogKeeper::start() {
  thread_ = std::thread([worker = worker_] { worker->run(); });
}

void CatalogKeeper::look() noexcept {
  worker_->ask(false);
}

void CatalogKeeper::reload() noexcept {
  worker_->ask(true);
}

void CatalogKeeper::stop() noexcept {
  if (!thread_.joinable()) return;
  if (worker_->stop()) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

}  // namespace roost::tables
