// What a log statement calls when the short way does not do: no ring yet, no log thread, a message too long.
#include "log/front.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>

#include "log/crash.h"
#include "log/futex.h"
#include "log/log.h"
#include "log/logger.h"

namespace roost::log {
namespace detail {

Front g_front;
Sleep g_sleep;

namespace {

// Trivial, so that it can be used until the thread's very end.
struct ThreadName {
  std::array<char, 32> text;
  int64_t tid;
};
thread_local ThreadName t_name{};
thread_local bool t_exited = false;

const ThreadName& threadName() noexcept {
  if (t_name.tid == 0) {
    t_name.tid = static_cast<int64_t>(::syscall(SYS_gettid));
    if (t_name.text[0] == '\0')
      ::pthread_getname_np(::pthread_self(), t_name.text.data(), t_name.text.size());
  }
  return t_name;
}

// A ring that its thread no longer writes to may still hold lines that the log thread did not see before it
// ended.
void writeLeftovers(ThreadBuffer& ring) noexcept {
  const uint64_t limit = ring.published();
  while (const RecordHead* record = ring.peek(limit)) {
    try {
      if (Stream* stream = record->site->stream; stream != nullptr) {
        Logger::instance().writeDirectly(*stream, reinterpret_cast<const char*>(record + 1));
        ring.pop(*record);
        continue;
      }
      LineBuffer text;
      formatMessage(*record, text);
      submitReady(*record->site, record->suppressed, {text.data(), text.size()});
    } catch (const std::exception&) {
      Logger::instance().countDrop();
    }
    ring.pop(*record);
  }
}

// The thread's share in its ring.
class ThreadRing {
 public:
  ThreadRing() = default;
  ThreadRing(const ThreadRing&) = delete;
  ThreadRing& operator=(const ThreadRing&) = delete;
  ~ThreadRing() {
    t_exited = true;
    leave();
    alt_stack_.disarm();
  }

  // Null: write directly.
  ThreadBuffer* renew() noexcept {
    if (ring_ && !Logger::instance().running() && !ring_->retired()) return nullptr;  // stop() is at work
    leave();
    ring_ = Logger::instance().newBuffer(threadName().text.data(), threadName().tid);
    if (ring_) alt_stack_.arm();
    return t_buffer = ring_.get();
  }

  void leave() noexcept {
    const RingRef ring = std::move(ring_);
    ring_.reset();
    t_buffer = nullptr;
    if (!ring) return;
    ring->abandon();
    // While stop() is at work it may or may not see our last lines: wait until it is known.
    while (!ring->retired() && ring->generation() != g_front.generation.load(std::memory_order_acquire))
      ::sched_yield();
    if (ring->retired()) writeLeftovers(*ring);
  }

 private:
  RingRef ring_;
  AltStack alt_stack_;
};
thread_local ThreadRing t_ring;

}  // namespace

ThreadBuffer* makeBuffer() noexcept {
  if (!t_exited) return t_ring.renew();
  // A destructor logs after the thread's own end: a ring for that, which is never freed.
  return t_buffer = Logger::instance().newBuffer(threadName().text.data(), threadName().tid).detach();
}

void wakeLogThread() noexcept {
  // Always the exchange, never a mere look: it also orders what the caller did before against what the log
  // thread looks at once it has said that it sleeps.
  if (g_sleep.state.exchange(kAwake, std::memory_order_seq_cst) != kAwake) futexWakeAll(g_sleep.state);
}

void wakeForError() noexcept {
  g_urgent.store(true, std::memory_order_seq_cst);
  wakeLogThread();
}

bool formatMessage(const RecordHead& record, LineBuffer& out) {
  const size_t start = out.size();
  try {
    return record.site->format(reinterpret_cast<const char*>(&record + 1), out);
  } catch (const std::exception& e) {
    out.resize(start);
    fmt::format_to(fmt::appender(out), FMT_STRING("(this message cannot be formatted: {})"), e.what());
    return false;
  }
}

void submitReady(const Site& site, uint32_t suppressed, std::string_view text) noexcept {
  ThreadBuffer* const buffer = currentBuffer();
  if (buffer == nullptr) {
    if (Logger::instance().running()) {
      Logger::instance().countDrop();  // no memory for a ring
    } else {
      Logger::instance().writeDirectly(site, suppressed, text, threadName().text.data(), threadName().tid);
    }
    return;
  }
  char cut_note[48];
  std::string_view note;
  const size_t room = buffer->maxRecordBytes() - sizeof(RecordHead) - 2 * sizeof(uint32_t) - sizeof cut_note;
  if (text.size() > room) {
    const auto end =
        fmt::format_to_n(cut_note, sizeof cut_note, FMT_STRING("... ({} bytes cut)"), text.size() - room);
    note = {cut_note, std::min(end.size, sizeof cut_note)};
    text = text.substr(0, room);
  }
  const size_t bytes = recordBytes(sizeof(uint32_t) + text.size() + note.size());
  char* const to = buffer->reserve(bytes);
  if (to == nullptr) return;
  const RecordHead head{&site, stampNow(), static_cast<uint32_t>(bytes), suppressed};
  std::memcpy(to, &head, sizeof head);
  const auto text_bytes = static_cast<uint32_t>(text.size() + note.size());
  char* at = to + sizeof head;
  std::memcpy(at, &text_bytes, sizeof text_bytes);
  at = std::copy(text.begin(), text.end(), at + sizeof text_bytes);
  std::copy(note.begin(), note.end(), at);
  buffer->commit(bytes);
  wakeAfter(site.level);
}

void submitFailure(const Site& site, const char* reason) noexcept {
  std::array<char, 256> text;
  const auto end =
      fmt::format_to_n(text.data(), text.size(), "(this message cannot be formatted: {})", reason);
  submitReady(site, 0, {text.data(), std::min(end.size, text.size())});
}

}  // namespace detail

Status start(const Options& options) {
  return detail::Logger::instance().start(options);
}
Status makeFilesFor(const Options& options, FileOwner owner) {
  return detail::Logger::instance().makeFilesFor(options, owner);
}
Status checkFile(const std::string& path) {
  return detail::checkLogFile(path);
}
void stop() noexcept {
  detail::Logger::instance().stop();
}
void flush() noexcept {
  detail::Logger::instance().flush();
}
void reopen() noexcept {
  detail::Logger::instance().reopen();
}
Stats stats() noexcept {
  return detail::Logger::instance().stats();
}

void setLevel(Level level) noexcept {
  detail::g_front.level.store(static_cast<uint8_t>(level), std::memory_order_relaxed);
}

void setThreadName(std::string_view name) noexcept {
  auto& kept = detail::t_name.text;
  kept = {};
  std::copy_n(name.data(), std::min(name.size(), kept.size() - 1), kept.data());
  constexpr size_t kSystemName = 15;
  char system_name[kSystemName + 1] = {};
  std::copy_n(name.data(), std::min(name.size(), kSystemName), system_name);
  ::pthread_setname_np(::pthread_self(), system_name);
  if (detail::t_buffer != nullptr) detail::t_ring.leave();  // the next line makes a ring with the new name
}

}  // namespace roost::log
