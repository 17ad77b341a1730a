#include "db/killer.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "db/prepared.h"

namespace roost::db {

namespace {

constexpr std::chrono::seconds kKeptOpen{30};
constexpr uint32_t kLongestMs = 5'000;

// Where the server does not answer, others wait for their turn: not for long.
Options ofKiller(Options options) {
  const auto bounded = [](uint32_t ms) { return ms == 0 ? kLongestMs : std::min(ms, kLongestMs); };
  options.connect_timeout_ms = bounded(options.connect_timeout_ms);
  options.query_timeout_ms = options.connect_timeout_ms;
  return options;
}

bool killAt(MYSQL* mysql, uint64_t thread_id, Error& error) {
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

}  // namespace

Killer::Killer(const Options& options, const Target& target, PendingCalls& calls)
    : options_(ofKiller(options)), target_(target), calls_(calls) {}

void Killer::kill(std::string_view server, uint64_t thread_id, uint64_t call_id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  orders_.push_back({std::string(server), thread_id, call_id});
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
    const bool was_open = session_.has_value();
    bool done = carryOut(order);
    if (was_open && !session_.has_value()) done = carryOut(order);  // what was kept was dead, or elsewhere
    calls_.killed(order.call_id, done);
    if (!done && !session_.has_value()) giveUpAll();
  }
  session_.reset();
}

// False: it could not be; without a session because there is none to be had.
bool Killer::carryOut(const Order& order) {
  Error error;
  const bool is_kept = session_.has_value();
  if (!is_kept) {
    Session session;
    if (!openSession(options_, target_, SessionUse::kBlocking, session, error)) return false;
    session_ = std::move(session);
  }
  if (session_->server != order.server) {
    if (is_kept) session_.reset();  // a new one may come there
    return false;
  }
  const bool done = killAt(session_->mysql.get(), order.thread_id, error);
  if (!done && error.kind != ErrorKind::kStatement) session_.reset();
  return done;
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
