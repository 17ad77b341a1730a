// The log. LOG_INFO("opened {} in {} ms", path, elapsed_ms): the format is checked at compile time; the call
// copies its arguments and a time stamp into the thread's own ring; one background thread formats and writes.
// Any thread may log at any time, before start() and after stop() too: then lines go to stderr at once.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "base/status.h"
#include "log/front.h"
#include "log/level.h"
#include "log/options.h"

namespace roost::log {

// Opens the file and starts the log thread. Errors: the directory cannot be made, the file cannot be opened,
// or the log is already running. One thread starts and stops.
Status start(const Options& options);
// Before start(), where the process is about to become another user: makes the files of `options` and of all
// streams for `owner`. Errors: as start().
Status makeFilesFor(const Options& options, FileOwner owner);
// Whether a log file could be opened, without making it: a configuration that is only tested leaves nothing
// behind. Folders that are missing are no error, since they are made.
Status checkFile(const std::string& path);
// Writes every line logged before the call, ends the log thread and closes the file. Does nothing when not
// started.
void stop() noexcept;
// Returns when every line whose call happened before this one has been handed to the kernel (or given up and
// counted).
void flush() noexcept;
// Asks for the file to be closed and opened anew by its name, after an outside tool has renamed it. Returns
// at once.
void reopen() noexcept;

void setLevel(Level level) noexcept;
inline bool enabled(Level level) noexcept {
  return static_cast<uint8_t>(level) >= detail::g_front.level.load(std::memory_order_relaxed);
}
// Names the calling thread, for its lines and for the system (which keeps 15 bytes).
void setThreadName(std::string_view name) noexcept;
Stats stats() noexcept;

}  // namespace roost::log

#define LOG_DEBUG(...) ROOST_LOG_(::roost::log::Level::kDebug, __VA_ARGS__)
#define LOG_INFO(...) ROOST_LOG_(::roost::log::Level::kInfo, __VA_ARGS__)
#define LOG_WARN(...) ROOST_LOG_(::roost::log::Level::kWarn, __VA_ARGS__)
#define LOG_ERROR(...) ROOST_LOG_(::roost::log::Level::kError, __VA_ARGS__)

// LOG_EVERY_SECOND(ERROR, "accept: {}", errnoText(e)): at most one line a second from this place; the number
// held back is said with the next line, or in a line of its own when none follows.
#define LOG_EVERY_SECOND(LEVEL, ...) ROOST_LOG_LIMITED_(ROOST_LOG_LEVEL_##LEVEL, __VA_ARGS__)

// The rest is how the macros are made.
#define ROOST_LOG_LEVEL_DEBUG ::roost::log::Level::kDebug
#define ROOST_LOG_LEVEL_INFO ::roost::log::Level::kInfo
#define ROOST_LOG_LEVEL_WARN ::roost::log::Level::kWarn
#define ROOST_LOG_LEVEL_ERROR ::roost::log::Level::kError

#define ROOST_LOG_STRING2_(x) #x
#define ROOST_LOG_STRING_(x) ROOST_LOG_STRING2_(x)
#define ROOST_LOG_FIRST2_(first, ...) first
#define ROOST_LOG_FIRST_(...) ROOST_LOG_FIRST2_(__VA_ARGS__, )

// A local type carries what the place knows, so that all of it ends up in one constant per place.
#define ROOST_LOG_WHERE_(LEVEL)                                                        \
  struct RoostLogWhere {                                                               \
    static constexpr ::roost::log::Level level() { return LEVEL; }                     \
    static constexpr ::std::string_view source() {                                     \
      return ::roost::log::detail::baseName(__FILE__ ":" ROOST_LOG_STRING_(__LINE__)); \
    }                                                                                  \
  }

#define ROOST_LOG_SUBMIT_(HELD_BACK, FORMAT, ...) \
  ::roost::log::detail::submit<RoostLogWhere>(HELD_BACK, FMT_COMPILE(FORMAT), FMT_STRING(FORMAT), __VA_ARGS__)

#define ROOST_LOG_(LEVEL, ...)                                          \
  do {                                                                  \
    if (::roost::log::enabled(LEVEL)) {                                 \
      ROOST_LOG_WHERE_(LEVEL);                                          \
      ROOST_LOG_SUBMIT_(0, ROOST_LOG_FIRST_(__VA_ARGS__), __VA_ARGS__); \
    }                                                                   \
  } while (false)

#define ROOST_LOG_LIMITED_(LEVEL, ...)                                                 \
  do {                                                                                 \
    if (::roost::log::enabled(LEVEL)) {                                                \
      ROOST_LOG_WHERE_(LEVEL);                                                         \
      static ::roost::log::detail::RateLimit roost_log_limit(RoostLogWhere::level(),   \
                                                             RoostLogWhere::source()); \
      if (uint32_t roost_log_held = 0; roost_log_limit.admit(roost_log_held)) {        \
        ROOST_LOG_SUBMIT_(roost_log_held, ROOST_LOG_FIRST_(__VA_ARGS__), __VA_ARGS__); \
      }                                                                                \
    }                                                                                  \
  } while (false)
