// The log itself: the threads' rings on one side, the file on the other, the thread between them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "base/status.h"
#include "log/file_sink.h"
#include "log/front.h"
#include "log/line_formatter.h"
#include "log/options.h"
#include "log/output.h"
#include "log/stamp.h"
#include "log/stream.h"

namespace roost::log::detail {

// One per process, made at the first use and never destroyed, so that destructors may log. Public functions:
// any thread, except that one thread starts and stops.
//
// The log thread works in batches: it notes how far each ring is filled, formats what is there in the order
// of the time stamps, and sleeps. It sleeps until flush_second has passed while lines came in the last round,
// and without limit once there were none; a ring that is half full, an error line or a request wakes it
// before that. So an idle server's log costs no CPU, and a busy one's callers pay for a wake-up once per half
// ring.
class Logger {
 public:
  static Logger& instance() noexcept;

  Status start(const Options& options);
  Status makeFilesFor(const Options& options, FileOwner owner);
  void stop() noexcept;
  void flush() noexcept;
  void reopen() noexcept;
  Stats stats() noexcept;

  // A ring for the calling thread; null when lines are to be written directly (or memory is short).
  RingRef newBuffer(std::string_view thread_name, int64_t tid) noexcept;
  bool running() const noexcept { return g_front.generation.load(std::memory_order_acquire) != 0; }
  void countDrop() noexcept { other_drops_.fetch_add(1, std::memory_order_relaxed); }
  void writeDirectly(const Site& site, uint32_t suppressed, std::string_view text,
                     std::string_view thread_name, int64_t tid) noexcept;

  // For Stream: see there. retire() is what its last holder calls, from any thread.
  Result<std::shared_ptr<Stream>> openStream(const StreamOptions& options,
                                             std::unique_ptr<RecordFormat> format);
  void retire(Stream& stream) noexcept;
  void writeDirectly(Stream& stream, const char* record) noexcept;

  // Async-signal-safe, for the crash handler: has the log thread write what it has, for at most wait_ns; on
  // the log thread itself writes the finished lines of its buffer.
  void flushForCrash(int64_t wait_ns) noexcept;
  int fd() const noexcept { return fd_.load(std::memory_order_relaxed); }
  Format format() const noexcept { return format_.load(std::memory_order_relaxed); }

 private:
  Logger() = default;

  void startThread();
  void writeLastLines() noexcept;
  void run() noexcept;
  uint64_t runBatch(bool stopping) noexcept;  // the bytes it took out of the rings
  void writeIfDue(Output& output, bool at_once) noexcept;
  void tellNews(Output& output);
  void planNap() noexcept;
  void sleep() noexcept;
  bool mustNotSleep(bool idle) noexcept;
  void takeNewBuffers();
  uint64_t drain();
  void drainOne(ThreadBuffer& buffer, uint64_t until_stamp);
  void formatLine(ThreadBuffer& buffer, const RecordHead& record);
  void formatStreamLine(Stream& stream, const char* record, int64_t realtime_ns);
  Output& outputFor(const FileOptions& file);
  Status openOutputs();
  void closeOutput(Output& output) noexcept;
  void keepStreams() noexcept;
  void pushRetired(Stream& stream) noexcept;
  void freeStreams(Stream* retired) noexcept;
  template <class Fn>
  void forEachOutput(Fn&& fn) {
    fn(own_);
    for (const auto& output : outputs_) fn(*output);
  }
  void dropDeadBuffers();
  void retireBuffers() noexcept;
  void tellDrops(ThreadBuffer& buffer);
  int64_t tellHeldBack(bool all);  // RateLimit::collect()
  void note(Level level, std::string_view text, std::string_view source, uint32_t suppressed);
  void doReopen() noexcept;
  void reopenOutput(Output& output);
  void publishCounts() noexcept;
  static int64_t wallNowNs() noexcept;

  Options options_;
  bool started_ = false;  // of the thread that starts and stops

  std::mutex lock_;  // what follows: the log thread's while it runs, else of whoever writes directly
  Output own_;
  std::vector<std::unique_ptr<Output>> outputs_;  // of streams
  std::vector<std::unique_ptr<Stream, Stream::Freed>> streams_;
  uint64_t closed_lost_ = 0, closed_write_errors_ = 0, closed_rolls_ = 0;  // of outputs that are gone
  LineFormatter formatter_{Format::kText};
  StampClock clock_;
  std::string own_prefix_ = "[log] ";
  uint64_t formatted_ = 0;
  std::atomic<uint64_t> failed_reopens_{0};

  std::atomic<Stream*> retired_streams_{nullptr};  // a list, by Stream::next_retired_

  std::mutex buffers_lock_;  // new_buffers_, and all_buffers_ as others see it
  std::vector<RingRef> new_buffers_;
  std::vector<RingRef> buffers_;  // changed by the log thread under the lock
  size_t ring_bytes_ = 0;
  bool ring_blocks_ = false;
  uint64_t retired_drops_ = 0;  // of rings that are gone
  std::atomic<bool> has_new_buffers_{false};
  std::atomic<uint64_t> other_drops_{0};
  uint64_t other_drops_told_ = 0;
  std::vector<ThreadBuffer*> busy_;  // of the current batch

  std::thread thread_;
  static constexpr int64_t kStarting = -1;
  std::atomic<int64_t> thread_id_{0};  // the system's; 0: there is no log thread
  bool first_after_idle_ = true;       // the first lines after a rest are written at once
  bool had_lines_ = false;             // in the last batch
  int64_t nap_until_ns_ = 0;           // monotonic; 0: nothing waits, nothing is expected
  int64_t held_back_due_ns_ = 0;  // RateLimit::nowNs() at which tellHeldBack() has something to do; 0: never
  uint32_t last_generation_ = 0;
  std::atomic<bool> stop_wanted_{false};
  std::atomic<bool> reopen_wanted_{false};
  std::atomic<uint32_t> flush_wanted_{0};  // tickets
  std::atomic<uint32_t> flush_done_{0};    // futex

  std::atomic<int> fd_{2};
  std::atomic<Format> format_{Format::kText};
  std::atomic<uint64_t> lines_{0}, lost_{0}, write_errors_{0}, rolls_{0};
};

// Set by the log thread's callers before they wake it: an error line waits to be written.
extern std::atomic<bool> g_urgent;

}  // namespace roost::log::detail
