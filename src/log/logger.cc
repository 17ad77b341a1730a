#include "log/logger.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "log/crash.h"
#include "log/futex.h"

namespace roost::log::detail {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

FileOptions ownFile(const Options& options) {
  return {options.directory, options.base_name, ".log", options.roll_size_bytes, true, options.keep_files};
}

}  // namespace

std::atomic<bool> g_urgent{false};

Logger& Logger::instance() noexcept {
  static Logger& logger = *new Logger;
  return logger;
}

int64_t Logger::wallNowNs() noexcept {
  const auto clock = g_stamp_clock.load(std::memory_order_relaxed);
  return clock != nullptr ? clock() : systemRealtimeNs();
}

Status Logger::start(const Options& options) {
  if (options_.async ? thread_.joinable() : fd() != STDERR_FILENO)
    return Status::error("the log is already running");
  const std::lock_guard<std::mutex> guard(lock_);
  const bool tsc = options.async && options.clock_ns == nullptr && tscIsSteady();
  g_stamp_clock.store(tsc ? nullptr : options.clock_ns != nullptr ? options.clock_ns : &systemRealtimeNs);
  own_.file = ownFile(options);
  own_.flush_interval_ns = options.flush_second * kNsPerSecond;
  if (Status status = openOutputs(); !status.ok()) {
    g_stamp_clock.store(&systemRealtimeNs);
    return status;
  }
  started_ = true;
  options_ = options;
  {
    const std::lock_guard<std::mutex> buffers_guard(buffers_lock_);
    ring_bytes_ = options.thread_buffer_bytes;
    ring_blocks_ = options.on_full == OnFull::kBlock;
  }
  formatter_ = LineFormatter(options.format);
  format_.store(options.format);
  fd_.store(own_.sink.fd());
  g_front.level.store(static_cast<uint8_t>(options.level));
  own_prefix_ = formatter_.threadPrefix("log", ::getpid());
  if (options.crash_handler) installCrashHandler();
  static const int at_exit = std::atexit([] { Logger::instance().stop(); });
  static_cast<void>(at_exit);
  if (!options.async) return {};
  stop_wanted_ = false;
  first_after_idle_ = true;
  g_sleep.state = kAwake;
  startThread();
  g_front.generation.store(++last_generation_, std::memory_order_release);
  return {};
}

Status Logger::makeFilesFor(const Options& options, FileOwner owner) {
  const std::lock_guard<std::mutex> guard(lock_);
  Status status = makeFor(ownFile(options), owner);
  for (const auto& output : outputs_) {
    if (status.ok()) status = makeFor(output->file, owner);
  }
  return status;
}

// Signals are for the threads that expect them. Faults cannot be blocked and are not.
void Logger::startThread() {
  sigset_t all, before;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, fault);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_id_.store(kStarting);  // a crash before its first step waits for it too
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Logger::stop() noexcept {
  if (!started_) return;
  g_front.generation.store(0, std::memory_order_seq_cst);
  if (thread_.joinable()) {
    stop_wanted_.store(true, std::memory_order_seq_cst);
    wakeLogThread();
    thread_.join();
  }
  removeCrashHandler();
  const std::lock_guard<std::mutex> guard(lock_);
  writeLastLines();
  freeStreams(retired_streams_.exchange(nullptr, std::memory_order_seq_cst));
  forEachOutput([](Output& output) {
    output.sink.close();
    output.flush_due_ns = 0;
  });
  publishCounts();
  formatter_ = LineFormatter(Format::kText);
  format_.store(Format::kText);
  fd_.store(STDERR_FILENO);
  options_ = Options();
  static_cast<void>(own_.sink.open({}, 0));  // stderr again
  started_ = false;
  g_stamp_clock.store(&systemRealtimeNs);
  flush_done_.store(flush_wanted_.load());
  futexWakeAll(flush_done_);
}

void Logger::writeLastLines() noexcept {
  try {
    tellHeldBack(true);
    forEachOutput([this](Output& output) {
      output.sink.flush();
      tellNews(output);
    });
  } catch (const std::exception&) {
    countDrop();
  }
}

void Logger::flush() noexcept {
  if (!running()) return;
  const uint32_t ticket = flush_wanted_.fetch_add(1, std::memory_order_seq_cst) + 1;
  wakeLogThread();
  for (;;) {
    const uint32_t done = flush_done_.load(std::memory_order_acquire);
    if (static_cast<int32_t>(done - ticket) >= 0 || !running()) return;
    futexWait(flush_done_, done, kNsPerSecond);
  }
}

void Logger::reopen() noexcept {
  if (running()) {
    reopen_wanted_.store(true, std::memory_order_seq_cst);
    wakeLogThread();
    return;
  }
  const std::lock_guard<std::mutex> guard(lock_);
  doReopen();
}

Stats Logger::stats() noexcept {
  Stats stats;
  stats.lines = lines_.load(std::memory_order_relaxed);
  stats.lost = lost_.load(std::memory_order_relaxed);
  stats.write_errors = write_errors_.load(std::memory_order_relaxed);
  stats.rolls = rolls_.load(std::memory_order_relaxed);
  stats.failed_reopens = failed_reopens_.load(std::memory_order_relaxed);
  stats.dropped = other_drops_.load(std::memory_order_relaxed);
  const std::lock_guard<std::mutex> guard(buffers_lock_);
  stats.dropped += retired_drops_;
  for (const auto& buffer : buffers_) stats.dropped += buffer->dropped();
  for (const auto& buffer : new_buffers_) stats.dropped += buffer->dropped();
  return stats;
}

RingRef Logger::newBuffer(std::string_view thread_name, int64_t tid) noexcept {
  try {
    const std::lock_guard<std::mutex> guard(buffers_lock_);
    // Looked at under the lock that retireBuffers() takes: a ring listed after a stop would never be retired.
    const uint32_t generation = g_front.generation.load(std::memory_order_acquire);
    if (generation == 0) return nullptr;
    RingRef buffer(new ThreadBuffer(ring_bytes_, generation, ring_blocks_));
    buffer->prefix = LineFormatter(format()).threadPrefix(thread_name, tid);
    buffer->tid = tid;
    new_buffers_.push_back(buffer);
    has_new_buffers_.store(true, std::memory_order_seq_cst);
    return buffer;
  } catch (const std::exception&) {
    return nullptr;
  }
}

void Logger::writeDirectly(const Site& site, uint32_t suppressed, std::string_view text,
                           std::string_view thread_name, int64_t tid) noexcept {
  try {
    const std::lock_guard<std::mutex> guard(lock_);
    LineBuffer& out = own_.sink.buffer();
    const size_t start = out.size();
    const int64_t now = wallNowNs();
    formatter_.appendHead(out, now, site.level, formatter_.threadPrefix(thread_name, tid));
    const size_t message_start = out.size();
    out.append(text.data(), text.data() + text.size());
    escapeFrom(out, message_start, format());
    formatter_.appendTail(out, suppressed, site.source);
    ++formatted_;
    own_.sink.lineDone(start, now);
    own_.sink.flush();
    tellNews(own_);
    publishCounts();
  } catch (const std::exception&) {
    countDrop();
  }
}

void Logger::note(Level level, std::string_view text, std::string_view source, uint32_t suppressed) {
  LineBuffer& out = own_.sink.buffer();
  const size_t start = out.size();
  const int64_t now = wallNowNs();
  formatter_.appendHead(out, now, level, own_prefix_);
  const size_t message_start = out.size();
  out.append(text.data(), text.data() + text.size());
  escapeFrom(out, message_start, format());
  formatter_.appendTail(out, suppressed, source);
  own_.sink.lineDone(start, now);
}

void Logger::doReopen() noexcept {
  try {
    forEachOutput([this](Output& output) { reopenOutput(output); });
    fd_.store(own_.sink.fd());
  } catch (const std::exception&) {
    countDrop();
  }
}

void Logger::reopenOutput(Output& output) {
  const Status status = output.sink.reopen(wallNowNs());
  if (status.ok()) return;
  failed_reopens_.fetch_add(1, std::memory_order_relaxed);
  const std::string problem = "cannot reopen, writing on to the old file: " + status.message();
  note(Level::kError, problem, "log", 0);
  // The old file has most likely been renamed, and nobody looks there any more.
  ::dprintf(STDERR_FILENO, "log: %s\n", problem.c_str());
}

// Says in the log what a file's sink has to say.
void Logger::tellNews(Output& output) {
  const std::string news = output.sink.takeNews();
  if (news.empty()) return;
  note(Level::kWarn, &output == &own_ ? news : output.sink.path() + ": " + news, "log", 0);
  if (own_.sink.flush()) own_.flush_due_ns = 0;
}

int64_t Logger::tellHeldBack(bool all) {
  return RateLimit::collect(all, [this](Level level, std::string_view source, uint32_t held_back) {
    note(level, fmt::format(FMT_STRING("{} more like it held back"), held_back), source, 0);
  });
}

void Logger::publishCounts() noexcept {
  lines_.store(formatted_, std::memory_order_relaxed);
  uint64_t lost = closed_lost_, write_errors = closed_write_errors_, rolls = closed_rolls_;
  forEachOutput([&](const Output& output) {
    lost += output.sink.lostLines();
    write_errors += output.sink.writeErrors();
    rolls += output.sink.rolls();
  });
  lost_.store(lost, std::memory_order_relaxed);
  write_errors_.store(write_errors, std::memory_order_relaxed);
  rolls_.store(rolls, std::memory_order_relaxed);
  fd_.store(own_.sink.fd(), std::memory_order_relaxed);
}

}  // namespace roost::log::detail
