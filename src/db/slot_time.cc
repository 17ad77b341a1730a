// What becomes due on a Slot.
#include <algorithm>
#include <utility>

#include "db/loop_pool.h"
#include "db/slot.h"
#include "log/log.h"

namespace roost::db {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kNsPerS = 1'000'000'000;
// How long whoever waits for a statement that was killed for its time waits for its end.
constexpr int64_t kTellNs = 1 * kNsPerS;
constexpr int64_t kLookNs = 100 * kNsPerMs;  // how often it is seen whether a slow reader is in the way
constexpr size_t kShownBytes = 200;          // of a statement, in the log
constexpr size_t kShownSlowBytes = 2000;     // of one that is to be found and explained

}  // namespace

int64_t Slot::statementDeadline() const noexcept {
  int64_t deadline = kNever;
  if (timeout_ns_ > 0 && !paused_) deadline = progress_ns_ + timeout_ns_;
  const int64_t stream_ns = int64_t{pool_.options_.stream_timeout_ms} * kNsPerMs;
  return stream_ns > 0 ? std::min(deadline, started_ns_ + stream_ns) : deadline;
}

int64_t Slot::leakAtNs() const noexcept {
  const int64_t after_s = pool_.options_.leak_report_s;
  return after_s > 0 && !leak_told_ ? lent_ns_ + after_s * kNsPerS : kNever;
}

// When the reader of a paused one has been slow for so long that it has to give way to whoever waits.
int64_t Slot::slowAtNs() const noexcept {
  const int64_t most_ns = int64_t{pool_.options_.slow_reader_ms} * kNsPerMs;
  return paused_ && most_ns > 0 ? paused_at_ns_ + most_ns - paused_ns_ : kNever;
}

int64_t Slot::check(int64_t now_ns) noexcept {
  switch (state_) {
    case State::kIdle:
      return checkIdle(now_ns);
    case State::kLent:
      return checkLent(now_ns);
    case State::kSettling:
      return checkSettling(now_ns);
    case State::kFree:
    case State::kConnecting:
      break;
  }
  return kNever;
}

int64_t Slot::checkIdle(int64_t now_ns) noexcept {
  const int64_t idle_s = pool_.options_.idle_timeout_s;
  const int64_t until_ns = std::min(expires_ns_, idle_s > 0 ? idle_since_ns_ + idle_s * kNsPerS : kNever);
  if (now_ns < until_ns) return until_ns;
  pool_.close(*this);
  return kNever;
}

int64_t Slot::checkLent(int64_t now_ns) noexcept {
  if (now_ns >= leakAtNs()) reportLeak(now_ns);
  if (timed_out_) {
    if (now_ns < tell_by_ns_) return std::min({tell_by_ns_, killAgain(now_ns), leakAtNs()});
    Error error;
    error.kind = ErrorKind::kTimeout;
    failWork(error);
    return check(now_ns);
  }
  if (doing_ != Doing::kWorks && !connecting_) return leakAtNs();
  const int64_t deadline_ns = statementDeadline();
  const int64_t slow_at_ns = slowAtNs();
  if (now_ns < deadline_ns && (now_ns < slow_at_ns || !pool_.mustGiveWay(*this))) {
    const int64_t look_at_ns = slow_at_ns == kNever ? kNever : std::max(slow_at_ns, now_ns + kLookNs);
    return std::min({deadline_ns, look_at_ns, leakAtNs()});
  }
  timeOut(now_ns);
  return check(now_ns);
}

void Slot::timeOut(int64_t now_ns) noexcept {
  timed_out_ = true;
  if (connecting_) {
    tell_by_ns_ = now_ns;
    return;
  }
  tell_by_ns_ = now_ns + kTellNs;
  settle_by_ns_ = now_ns + kSettleNs;
  kill();
  if (!endPause()) return;
  reader_cut_off_ = true;
  wire_->resume();
}

int64_t Slot::checkSettling(int64_t now_ns) noexcept {
  if (now_ns >= settle_by_ns_) {
    pool_.close(*this);
    return kNever;
  }
  if (kill_ != Kill::kNone) return std::min(killAgain(now_ns), settle_by_ns_);
  if (doing_ != Doing::kWorks) return settle_by_ns_;
  if (now_ns < kill_at_ns_) return std::min(kill_at_ns_, settle_by_ns_);
  kill();
  return settle_by_ns_;
}

// Where a kill has been carried out, and the statement goes on.
int64_t Slot::killAgain(int64_t now_ns) noexcept {
  if (kill_ != Kill::kDone || doing_ != Doing::kWorks) return kNever;
  if (now_ns < kill_at_ns_) return kill_at_ns_;
  kill();
  return kNever;
}

// What its reader has taken of it is not the database's.
void Slot::reportSlow(int64_t took_ns) const noexcept {
  const int64_t most_ns = int64_t{pool_.options_.slow_statement_ms} * kNsPerMs;
  const int64_t own_ns = took_ns - paused_ns_;
  if (most_ns == 0 || own_ns < most_ns || reader_cut_off_) return;
  const std::string_view text = statement_.text.view();
  pool_.counters_.slow_statements.add();
  LOG_EVERY_SECOND(WARN, "mysql: a slow statement, ms={} rows={}{}: {}", own_ns / kNsPerMs, rows_,
                   timed_out_ ? " killed=yes" : "", text.substr(0, kShownSlowBytes));
}

void Slot::reportLeak(int64_t now_ns) noexcept {
  leak_told_ = true;
  pool_.counters_.leaks_reported.add();
  const std::string_view text = statement_.text.view();
  LOG_WARN("mysql: a connection has been held for {} s by one request, {} after {} statements; the last: {}",
           (now_ns - lent_ns_) / kNsPerS,
           paused_                   ? "whose client is slow to read,"
           : doing_ == Doing::kWorks ? "running,"
                                     : "running nothing",
           executed_, text.substr(0, kShownBytes));
}

}  // namespace roost::db
