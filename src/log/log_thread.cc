// The background half of the Logger: everything that runs on the log thread.
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "log/futex.h"
#include "log/logger.h"

namespace roost::log::detail {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr int64_t kShortestNapNs =
    1'000'000;  // with flush_second 0: how often callers may have to wake the log thread
constexpr int64_t kRetryNs = kNsPerSecond;  // how often a full disk is tried
constexpr int64_t kBlindIdleNs =
    100'000'000;  // without membarrier a wake-up may be missed: then look this often
constexpr int64_t kJitterNs =
    1'000'000;  // a step back below this is the clock's inaccuracy, not someone setting it
constexpr uint64_t kBusyBytes = 32 * 1024;  // a batch of this size is followed by the next one without a nap

int64_t monotonicNs() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * kNsPerSecond + now.tv_nsec;
}

// A full barrier on every core that runs a thread of this process, so that callers need none of their own
// between handing over a record and looking whether the log thread sleeps.
bool barrierOnAllThreads() noexcept {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

}  // namespace

void Logger::run() noexcept {
  ::pthread_setname_np(::pthread_self(), "log");
  thread_id_.store(static_cast<int64_t>(::syscall(SYS_gettid)));
  ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  clock_.begin();
  for (;;) {
    const bool stopping = stop_wanted_.load(std::memory_order_seq_cst);
    const uint64_t bytes = runBatch(stopping);
    if (stopping && bytes == 0) break;
    if (!stopping && bytes < kBusyBytes) sleep();
  }
  retireBuffers();
  keepStreams();
  thread_id_.store(0);
}

uint64_t Logger::runBatch(bool stopping) noexcept {
  const std::lock_guard<std::mutex> guard(lock_);
  // Requests are read before the rings are looked at: what came before a request is in the batch that answers
  // it.
  const uint32_t ticket = flush_wanted_.load(std::memory_order_seq_cst);
  const bool urgent = g_urgent.exchange(false, std::memory_order_seq_cst);
  const bool reopen = reopen_wanted_.exchange(false, std::memory_order_seq_cst);
  // Likewise what nobody holds any more: the last records that name it are in this batch. Where the batch
  // comes to an early end, the streams stay.
  Stream* retired = retired_streams_.exchange(nullptr, std::memory_order_seq_cst);
  uint64_t bytes = 0;
  try {
    takeNewBuffers();
    clock_.refresh();
    bytes = drain();
    freeStreams(std::exchange(retired, nullptr));
    for (const auto& buffer : buffers_) tellDrops(*buffer);
    dropDeadBuffers();
    held_back_due_ns_ = tellHeldBack(stopping);
  } catch (const std::exception&) {
    countDrop();
  }
  while (retired != nullptr) pushRetired(*std::exchange(retired, retired->next_retired_));
  if (reopen) doReopen();
  const bool asked = stopping || urgent || ticket != flush_done_.load(std::memory_order_relaxed);
  forEachOutput([&](Output& output) { writeIfDue(output, asked || first_after_idle_); });
  had_lines_ = bytes != 0;
  if (had_lines_) first_after_idle_ = false;
  planNap();
  publishCounts();
  if (ticket != flush_done_.load(std::memory_order_relaxed)) {
    flush_done_.store(ticket, std::memory_order_seq_cst);
    futexWakeAll(flush_done_);
  }
  return bytes;
}

void Logger::writeIfDue(Output& output, bool at_once) noexcept {
  if (output.sink.buffer().size() == 0) {
    output.flush_due_ns = 0;
    return;
  }
  const int64_t now = monotonicNs();
  // Lines may have come at the beginning of the nap before: half for each.
  if (output.flush_due_ns == 0) output.flush_due_ns = now + output.flush_interval_ns / 2;
  if (!at_once && now < output.flush_due_ns) return;
  output.flush_due_ns = output.sink.flush() ? 0 : now + std::max(output.flush_interval_ns, kRetryNs);
  tellNews(output);
}

// When the next lines, where some may come or wait, are due.
void Logger::planNap() noexcept {
  const int64_t now = monotonicNs();
  bool idle = !had_lines_;
  nap_until_ns_ = INT64_MAX;
  forEachOutput([&](const Output& output) {
    const bool waiting = output.flush_due_ns != 0;
    idle = idle && !waiting;
    nap_until_ns_ =
        std::min(nap_until_ns_, waiting ? output.flush_due_ns
                                        : now + std::max(output.flush_interval_ns / 2, kShortestNapNs));
  });
  if (idle) nap_until_ns_ = 0;
}

void Logger::takeNewBuffers() {
  if (!has_new_buffers_.load(std::memory_order_acquire)) return;
  const std::lock_guard<std::mutex> guard(buffers_lock_);
  has_new_buffers_.store(false, std::memory_order_relaxed);
  for (auto& buffer : new_buffers_) buffers_.push_back(std::move(buffer));
  new_buffers_.clear();
}

uint64_t Logger::drain() {
  uint64_t bytes = 0;
  busy_.clear();
  for (const auto& buffer : buffers_) {
    buffer->limit = buffer->published();
    const uint64_t waiting = buffer->limit - buffer->consumed();
    if (waiting != 0) busy_.push_back(buffer.get());
    bytes += waiting;
  }
  // In the order of the stamps: from the ring with the oldest record up to the oldest of the others.
  while (busy_.size() > 1) {
    size_t oldest = 0;
    uint64_t oldest_stamp = UINT64_MAX, next_stamp = UINT64_MAX;
    for (size_t i = 0; i < busy_.size(); ++i) {
      const uint64_t stamp = busy_[i]->peek(busy_[i]->limit)->stamp;
      if (stamp < oldest_stamp) {
        next_stamp = oldest_stamp;
        oldest_stamp = stamp;
        oldest = i;
      } else {
        next_stamp = std::min(next_stamp, stamp);
      }
    }
    drainOne(*busy_[oldest], next_stamp);
    if (busy_[oldest]->consumed() == busy_[oldest]->limit) {
      busy_[oldest] = busy_.back();
      busy_.pop_back();
    }
  }
  if (!busy_.empty()) drainOne(*busy_.front(), UINT64_MAX);
  return bytes;
}

void Logger::drainOne(ThreadBuffer& buffer, uint64_t until_stamp) {
  while (const RecordHead* record = buffer.peek(buffer.limit)) {
    if (record->stamp > until_stamp) return;
    formatLine(buffer, *record);
    buffer.pop(*record);
  }
  buffer.release(true);
}

void Logger::formatLine(ThreadBuffer& buffer, const RecordHead& record) {
  const Site& site = *record.site;
  int64_t now = clock_.toRealtimeNs(record.stamp);
  if (now < buffer.last_ns && buffer.last_ns - now < kJitterNs) now = buffer.last_ns;
  buffer.last_ns = now;
  if (site.stream != nullptr) {
    formatStreamLine(*site.stream, reinterpret_cast<const char*>(&record + 1), now);
    return;
  }
  LineBuffer& out = own_.sink.buffer();
  const size_t start = out.size();
  formatter_.appendHead(out, now, site.level, buffer.prefix);
  const size_t message_start = out.size();
  if (!formatMessage(record, out)) escapeFrom(out, message_start, options_.format);
  formatter_.appendTail(out, record.suppressed, site.source);
  ++formatted_;
  own_.sink.lineDone(start, now);
}

void Logger::tellDrops(ThreadBuffer& buffer) {
  const uint64_t dropped = buffer.dropped();
  if (dropped == buffer.dropped_told) return;
  const uint64_t fresh = dropped - buffer.dropped_told;
  buffer.dropped_told = dropped;
  note(Level::kWarn,
       fmt::format(FMT_STRING("{} lines of thread {} dropped: its buffer was full"), fresh, buffer.tid),
       "log", 0);
}

void Logger::dropDeadBuffers() {
  const auto is_dead = [](const RingRef& buffer) {
    return buffer->abandoned() && buffer->published() == buffer->consumed();
  };
  if (std::none_of(buffers_.begin(), buffers_.end(), is_dead)) return;
  const std::lock_guard<std::mutex> guard(buffers_lock_);
  const auto dead =
      std::partition(buffers_.begin(), buffers_.end(), [&](const auto& b) { return !is_dead(b); });
  for (auto it = dead; it != buffers_.end(); ++it) {
    tellDrops(**it);
    retired_drops_ += (*it)->dropped();
    (*it)->retire();
  }
  buffers_.erase(dead, buffers_.end());
}

void Logger::retireBuffers() noexcept {
  const std::lock_guard<std::mutex> guard(buffers_lock_);
  for (auto* list : {&buffers_, &new_buffers_}) {
    for (const auto& buffer : *list) {
      retired_drops_ += buffer->dropped();
      buffer->retire();
    }
    list->clear();
  }
  has_new_buffers_.store(false, std::memory_order_relaxed);
}

void Logger::sleep() noexcept {
  const bool idle = nap_until_ns_ == 0;
  int64_t timeout_ns = idle ? -1 : std::max<int64_t>(nap_until_ns_ - monotonicNs(), 1);
  if (held_back_due_ns_ != 0) {
    const int64_t until_due = std::max<int64_t>(held_back_due_ns_ - RateLimit::nowNs(), kShortestNapNs);
    timeout_ns = timeout_ns < 0 ? until_due : std::min(timeout_ns, until_due);
  }
  const SleepState state = idle ? kIdle : kNapping;
  g_sleep.state.store(state, std::memory_order_seq_cst);
  if (idle) {
    first_after_idle_ = true;
    const bool safe = barrierOnAllThreads();
    if (!safe) timeout_ns = timeout_ns < 0 ? kBlindIdleNs : std::min(timeout_ns, kBlindIdleNs);
  }
  if (!mustNotSleep(idle)) futexWait(g_sleep.state, state, timeout_ns);
  g_sleep.state.store(kAwake, std::memory_order_seq_cst);
}

bool Logger::mustNotSleep(bool idle) noexcept {
  if (stop_wanted_.load(std::memory_order_seq_cst) || reopen_wanted_.load(std::memory_order_seq_cst))
    return true;
  if (g_urgent.load(std::memory_order_seq_cst)) return true;
  if (retired_streams_.load(std::memory_order_seq_cst) != nullptr) return true;
  if (flush_wanted_.load(std::memory_order_seq_cst) != flush_done_.load(std::memory_order_relaxed))
    return true;
  if (has_new_buffers_.load(std::memory_order_seq_cst)) return true;
  return std::any_of(buffers_.begin(), buffers_.end(), [idle](const auto& buffer) {
    const uint64_t waiting = buffer->published() - buffer->consumed();
    return idle ? waiting != 0 : waiting >= buffer->capacity() / 2;
  });
}

}  // namespace roost::log::detail
