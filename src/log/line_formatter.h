// From a message and what is known of it to one line of the log, as text or as JSON.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "log/options.h"
#include "log/record.h"

namespace roost::log::detail {

// Writes one line as head, message (by the caller, straight into the same buffer) and tail:
//   2026-11-20T10:12:25.123456Z INFO  [loop 0/4711] message (file.cc:123)
//   {"ts":"2026-11-20T10:12:25.123456Z","level":"INFO","thread":"loop
//   0","tid":4711,"msg":"message","src":"file.cc:123"}
// After escapeFrom() a message cannot forge a second line or end its JSON string: control characters are
// escaped, bytes that are not UTF-8 too. Owned by whoever holds the sink, used by one thread at a time;
// remembers the second it last wrote. Allocates only when a line outgrows its buffer, so a crash handler may
// use one with a fresh LineBuffer.
class LineFormatter {
 public:
  explicit LineFormatter(Format format) noexcept : format_(format) {}

  // The part of a line that is the same for all lines of a thread. Escapes the name.
  std::string threadPrefix(std::string_view thread_name, int64_t tid) const;

  void appendHead(LineBuffer& out, int64_t realtime_ns, Level level, std::string_view thread_prefix);
  // The message must have been escaped, unless it is known to need none.
  void appendTail(LineBuffer& out, uint32_t suppressed, std::string_view source);

 private:
  static constexpr size_t kSecondText = sizeof("2026-11-20T10:12:25.") - 1;

  void setSecond(int64_t second) noexcept;

  Format format_;
  int64_t second_ = INT64_MIN;
  std::array<char, kSecondText> second_text_{};
};

std::string_view levelName(Level level) noexcept;  // "INFO"

// "20261120-101225", for file names.
std::string compactTime(int64_t realtime_ns);

// Escapes out[start, out.size()) in place; does nothing, quickly, to printable ASCII.
void escapeFrom(LineBuffer& out, size_t start, Format format);

}  // namespace roost::log::detail
