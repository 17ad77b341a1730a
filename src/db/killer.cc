#include "db/killer.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "db/prepared.h"
#include "log/log.h"

namespace roost::db {

namespace {

constexpr std::chrono::seconds kKeptOpen{30};
constexpr uint32_t kLongestMs = 5'000;
constexpr int kAttempts = 3;      // where a balancer, or a name that has to be verified, may lead elsewhere
constexpr int kSpareTries = 100;  // until one at work is left alone
constexpr std::chrono::milliseconds kSpareTry{10};
constexpr std::chrono::seconds kToldAgain{60};

// Where the server does not answer, others wait for their turn: not for long.
Options ofKiller(Options options) {
  const auto bounded = [](uint32_t ms) { return ms == 0 ? kLongestMs : std::min(ms, kLongestMs); };
  options.connect_timeout_ms = bounded(options.connect_timeout_ms);
  options.query_timeout_ms = options.connect_timeout_ms;
  return options;
}

bool killBy(Session& session, uint64_t thread_id, Error& error) {
  MYSQL* const mysql = session.mysql.get();
  if (isMariaDb(mysql)) {
    Prepared prepared(mysql);
    if (prepared.prepare("KILL QUERY ?") && prepared.execute({Value::ofUint(thread_id)})) return true;
    error = prepared.error();
    return false;
  }
  // MySQL's servers take no parameter there.
  const std::string text = "KILL QUERY " + std::to_string(thread_id);
  if (mysql_real_query(mysql, text.data(), text.size()) == 0) return true;
  error = errorOf(mysql);
  return false;
}

// By trying: ThreadSanitizer does not know the locks that take a time.
bool lockSoon(std::unique_lock<std::mutex>& lock) {
  for (int i = 0; i < kSpareTries && !lock.try_lock(); ++i) std::this_thread::sleep_for(kSpareTry);
  return lock.owns_lock();
}

Error elsewhere() {
  return {ErrorKind::kUnavailable, 0, "HY000", "what has its name or address leads to another server"};
}

// Whether servers are there, though no session at the right one is to be had.
bool answers(const Error& error) {
  return isFull(error.number) || error.number == 0;
}

}  // namespace

Killer::Killer(const Options& options, const Target& target, SpareSessions& spares, PendingCalls& calls)
    : options_(ofKiller(options)), target_(target), spares_(spares), calls_(calls) {}

void Killer::kill(const ServerPlace& server, uint64_t thread_id, uint64_t call_id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  orders_.push_back({server, thread_id, call_id});
  changed_.notify_one();
}

void Killer::close() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  changed_.notify_one();
}

// False: it is over.
bool Killer::next(Order& order) {
  const auto is_wanted = [this] { return closed_ || !orders_.empty(); };
  std::unique_lock<std::mutex> lock(mutex_);
  if (session_.has_value() && !changed_.wait_for(lock, kKeptOpen, is_wanted)) {
    lock.unlock();
    session_.reset();
    lock.lock();
  }
  changed_.wait(lock, is_wanted);
  if (closed_) return false;
  order = std::move(orders_.front());
  orders_.pop_front();
  return true;
}

void Killer::run() {
  Order order;
  while (next(order)) {
    Error error;
    const bool done = carryOut(order, error);
    calls_.killed(order.call_id, done);
    if (done || error.number == ER_NO_SUCH_THREAD) continue;  // it has gone with its connection
    tell(error);
    if (error.kind == ErrorKind::kUnavailable && !answers(error)) giveUpAll();
  }
  session_.reset();
}

// False: it could not be.
bool Killer::carryOut(const Order& order, Error& error) {
  if (session_.has_value() && session_->server.identity == order.server.identity) {
    if (killBy(*session_, order.thread_id, error)) return true;
    if (error.kind == ErrorKind::kStatement) return false;
  }
  session_.reset();  // it was dead, or is elsewhere
  if (!open(order, error)) return answers(error) && killBySpare(order, error);
  if (killBy(*session_, order.thread_id, error)) return true;
  if (error.kind != ErrorKind::kStatement) session_.reset();
  return false;
}

// Opens a session at the order's server.
bool Killer::open(const Order& order, Error& error) {
  Target target = target_;
  // By its address, unless it is to prove that it has the name.
  const bool by_name = order.server.address.empty() || options_.tls.mode == TlsMode::kVerifyName;
  if (!by_name) target.host = order.server.address;
  for (int i = 0; i < kAttempts; ++i) {
    Session session;
    if (!openSession(options_, target, SessionUse::kBlocking, session, error)) return false;
    if (session.server.identity == order.server.identity) {
      session_ = std::move(session);
      return true;
    }
  }
  error = elsewhere();
  return false;
}

// By a session that somebody else has there.
bool Killer::killBySpare(const Order& order, Error& error) {
  for (const auto& spare : spares_.all()) {
    std::unique_lock<std::mutex> lock(spare->busy, std::defer_lock);
    if (!lockSoon(lock) || spare->session.server.identity != order.server.identity) continue;
    Error of_spare;
    if (killBy(spare->session, order.thread_id, of_spare)) return true;
    if (of_spare.kind == ErrorKind::kStatement) error = std::move(of_spare);
  }
  return false;
}

// Not every time.
void Killer::tell(const Error& error) {
  const auto now = std::chrono::steady_clock::now();
  if (told_.has_value() && now - *told_ < kToldAgain) return;
  told_ = now;
  LOG_WARN("mysql: {}: a statement that nobody waits for could not be ended and runs on: {}", target_.label(),
           error.message);
}

// The server cannot be reached: everybody who waits for that is told, not one after the other in vain.
void Killer::giveUpAll() {
  std::deque<Order> orders;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    orders.swap(orders_);
  }
  for (const Order& order : orders) calls_.killed(order.call_id, false);
}

}  // namespace roost::db
