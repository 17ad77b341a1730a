// The caller's half of a log statement: as little as possible, inlined at every place that logs.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <string_view>
#include <utility>

#include "log/level.h"
#include "log/rate_limit.h"
#include "log/record.h"
#include "log/stamp.h"
#include "log/thread_buffer.h"

namespace roost::log::detail {

// What every line looks at; written only by start(), stop() and setLevel(), so it stays shared in every
// core's cache.
struct alignas(64) Front {
  std::atomic<uint8_t> level{static_cast<uint8_t>(Level::kInfo)};
  std::atomic<uint32_t> generation{
      0};  // of the running background log; 0: there is none, lines are written directly
};
extern Front g_front;

// Whether the log thread sleeps. kIdle: nothing was in flight when it went, so the first line must wake it.
// kNapping: it comes by itself in time for flush_second. A full ring, an error and flush() wake it from both.
enum SleepState : uint32_t { kAwake, kNapping, kIdle };
struct alignas(64) Sleep {
  std::atomic<uint32_t> state{kAwake};
};
extern Sleep g_sleep;
void wakeLogThread() noexcept;  // if it sleeps
void wakeForError() noexcept;   // and has it write at once

// After a record was handed over. The log thread has a barrier run on all threads before it goes idle, so
// here it is enough that the compiler keeps the order.
inline void wakeAfter(Level level) noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (level >= Level::kError) {
    wakeForError();
  } else if (g_sleep.state.load(std::memory_order_relaxed) == kIdle) {
    wakeLogThread();
  }
}

// Defined here, so that the compiler sees that it needs no initialisation at run time.
inline thread_local ThreadBuffer* t_buffer = nullptr;
// The calling thread's ring, made if need be; null when lines are to be written directly.
ThreadBuffer* makeBuffer() noexcept;

inline ThreadBuffer* currentBuffer() noexcept {
  ThreadBuffer* buffer = t_buffer;
  if (buffer != nullptr && buffer->generation() == g_front.generation.load(std::memory_order_acquire))
    return buffer;
  return makeBuffer();
}

// Appends a record's message; says so in its place when that throws. True as Site::format().
bool formatMessage(const RecordHead& record, LineBuffer& out);
// Sends a message that the caller has formatted, cut to what a ring can hold.
void submitReady(const Site& site, uint32_t suppressed, std::string_view text) noexcept;
// Says that formatting failed, in place of the message.
void submitFailure(const Site& site, const char* reason) noexcept;

template <class... Wire>
void fillRecord(char* to, const Site& site, uint32_t suppressed, size_t bytes,
                const Wire&... values) noexcept {
  const RecordHead head{&site, stampNow(), static_cast<uint32_t>(bytes), suppressed};
  std::memcpy(to, &head, sizeof head);
  [[maybe_unused]] char* at = to + sizeof head;
  ((at = encode(at, values)), ...);
}

// The slow way for a record that no ring takes: direct mode, and messages too long for a ring.
template <class F, class... Wire>
[[gnu::noinline, gnu::cold]] void submitFormatted(const Site& ready_site, uint32_t suppressed,
                                                  const Wire&... values) noexcept {
  try {
    LineBuffer text;
    fmt::format_to(fmt::appender(text), F(), values...);
    submitReady(ready_site, suppressed, {text.data(), text.size()});
  } catch (const std::exception& e) {
    submitFailure(ready_site, e.what());
  }
}

template <class Where, class F, class... Wire>
void submitDeferred(uint32_t suppressed, const Wire&... values) noexcept {
  constexpr const Site& kSite = kDeferredSite<Where, F, Wire...>;
  const size_t bytes = recordBytes((size_t{0} + ... + encodedBytes(values)));
  ThreadBuffer* const buffer = currentBuffer();
  if (buffer == nullptr || bytes > buffer->maxRecordBytes()) {
    submitFormatted<F>(kReadySite<Where>, suppressed, values...);
    return;
  }
  char* const to = buffer->reserve(bytes);
  if (to == nullptr) return;
  fillRecord(to, kSite, suppressed, bytes, values...);
  buffer->commit(bytes);
  wakeAfter(kSite.level);
}

// What a LOG_ statement calls. The format comes as two types, one that fmt compiles and one that it checks,
// and again as the first of what the macro was given.
template <class Where, class F, class Check, size_t N, class... Args>
void submit(uint32_t suppressed, F, const Check& check, const char (&)[N], const Args&... args) noexcept {
  [[maybe_unused]] const fmt::format_string<const Args&...> checked(check);
  if constexpr ((true && ... && kIsDeferrable<Args>)) {
    submitDeferred<Where, F>(suppressed, toWire(args)...);
  } else {
    submitFormatted<F>(kReadySite<Where>, suppressed, args...);
  }
}

}  // namespace roost::log::detail
