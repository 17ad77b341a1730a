// How a log call becomes bytes: what a call site knows at compile time, the record a thread writes into its
// ring, and the function, one per call site, that turns the record back into text on the log thread.
#pragma once

#include <fmt/compile.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "log/level.h"

namespace roost::log {
class Stream;
}

namespace roost::log::detail {

// Lines are formatted straight into the sink's output buffer, which is one of these.
using LineBuffer = fmt::memory_buffer;

// A call site: static, immutable, one per LOG_ statement. `format` reads a record's arguments and appends the
// message.
struct Site {
  Level level;
  std::string_view source;  // "file.cc:123"
  // True: the message is printable ASCII without quotes and backslashes, so that nothing in it needs to be
  // escaped. Null for a stream's.
  bool (*format)(const char* args, LineBuffer& out);
  // The stream whose own site this is: its records are not lines of the log.
  Stream* stream = nullptr;
};

// The head of a record; the encoded arguments follow. Records start and end on kRecordAlign.
struct RecordHead {
  const Site* site;     // null: the rest of the ring up to its end is unused
  uint64_t stamp;       // TSC ticks, or nanoseconds since 1970 where the TSC is not used
  uint32_t bytes;       // of the whole record, padding included
  uint32_t suppressed;  // lines of a rate-limited site that were held back before this one
};
constexpr size_t kRecordAlign = 8;
static_assert(sizeof(RecordHead) == 24 && sizeof(RecordHead) % kRecordAlign == 0);

constexpr size_t recordBytes(size_t argument_bytes) noexcept {
  return (sizeof(RecordHead) + argument_bytes + kRecordAlign - 1) & ~(kRecordAlign - 1);
}

template <class T>
constexpr bool kIsText =
    std::is_convertible_v<const T&, std::string_view> || std::is_convertible_v<const T&, const char*>;

// What may be copied as bytes and formatted later: values that own nothing and point to nothing that could be
// gone by then.
template <class T>
constexpr bool kIsPlain = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, const void*> ||
                          std::is_same_v<T, void*> || std::is_same_v<T, std::nullptr_t>;

template <class T>
constexpr bool kIsDeferrable = kIsText<T> || kIsPlain<T>;

// Text of every kind becomes a string_view here, so that its length is taken once; other values pass
// unchanged.
template <class T>
auto toWire(const T& value) noexcept {
  if constexpr (kIsPlain<T>) {
    return value;
  } else if constexpr (std::is_convertible_v<const T&, const char*>) {
    const char* text = value;
    return text != nullptr ? std::string_view(text) : std::string_view("(null)");
  } else {
    return std::string_view(value);
  }
}

template <class T>
constexpr bool kIsView = std::is_same_v<T, std::string_view>;

template <class T>
size_t encodedBytes(const T& value) noexcept {
  if constexpr (kIsView<T>) {
    return sizeof(uint32_t) + value.size();
  } else {
    return sizeof(T);
  }
}

template <class T>
char* encode(char* to, const T& value) noexcept {
  if constexpr (kIsView<T>) {
    const auto size = static_cast<uint32_t>(value.size());
    std::memcpy(to, &size, sizeof size);
    if (size != 0) std::memcpy(to + sizeof size, value.data(), size);
    return to + sizeof size + size;
  } else {
    std::memcpy(to, &value, sizeof value);
    return to + sizeof value;
  }
}

template <class T>
T decode(const char*& from) noexcept {
  if constexpr (kIsView<T>) {
    uint32_t size;
    std::memcpy(&size, from, sizeof size);
    const std::string_view view(from + sizeof size, size);
    from += sizeof size + size;
    return view;
  } else {
    T value;
    std::memcpy(&value, from, sizeof value);
    from += sizeof value;
    return value;
  }
}

// Upper bound of what "{}" makes of a value; 0 where there is none (an enum may have a formatter of its own).
template <class T>
constexpr size_t maxTextBytes() noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) <= sizeof(double) ? 32 : 0;
  } else if constexpr (std::is_enum_v<T>) {
    return 0;
  } else {
    return 24;
  }
}

// True when a format has no "{:...}", so that every field is as "{}" makes it.
constexpr bool hasOnlyPlainFields(std::string_view format) noexcept {
  return format.find(':') == std::string_view::npos;
}

template <class F>
constexpr std::string_view formatText() noexcept {
  const auto text = static_cast<fmt::string_view>(F());
  return {text.data(), text.size()};
}

// Formats into memory that is known to suffice: no check per piece.
template <class F, class... Wire>
void formatBounded(LineBuffer& out, const Wire&... values) {
  const size_t text_bytes = (size_t{0} + ... + [](const auto& value) {
    if constexpr (kIsView<std::decay_t<decltype(value)>>) return value.size();
    return size_t{0};
  }(values));
  constexpr size_t kFixedBytes = formatText<F>().size() + (size_t{0} + ... + maxTextBytes<Wire>());
  const size_t start = out.size();
  out.reserve(start + kFixedBytes + text_bytes);
  char* const begin = out.data() + start;
  char* const end = fmt::format_to(begin, F(), values...);
  out.resize(start + static_cast<size_t>(end - begin));
}

constexpr bool isHarmless(char c) noexcept {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

// Of a whole text; in escape.cc.
bool isHarmlessText(std::string_view text) noexcept;

constexpr bool isHarmlessFormat(std::string_view format) noexcept {
  for (const char c : format) {
    if (!isHarmless(c)) return false;
  }
  return true;
}

// Whether "{}" makes harmless text of a value. Looking at the values spares a second look at the message just
// written, which the processor would have to wait for.
template <class T>
bool isHarmlessValue(const T& value) noexcept {
  if constexpr (kIsView<T>) {
    return isHarmlessText(value);
  } else if constexpr (std::is_same_v<T, char>) {
    return isHarmless(value);
  } else {
    return !std::is_enum_v<T>;
  }
}

template <class F, class... Wire>
bool formatRecord(const char* args, LineBuffer& out) {
  [[maybe_unused]] const char* at = args;
  const std::tuple<Wire...> values{decode<Wire>(at)...};
  return std::apply(
      [&out](const Wire&... value) {
        constexpr bool kBounded =
            hasOnlyPlainFields(formatText<F>()) && (true && ... && (maxTextBytes<Wire>() != 0));
        if constexpr (kBounded) {
          formatBounded<F>(out, value...);
          return isHarmlessFormat(formatText<F>()) && (true && ... && isHarmlessValue(value));
        } else {
          fmt::format_to(fmt::appender(out), F(), value...);
          return false;
        }
      },
      values);
}

// For messages that the caller has formatted.
inline bool formatReady(const char* args, LineBuffer& out) {
  const std::string_view text = decode<std::string_view>(args);
  out.append(text.data(), text.data() + text.size());
  return isHarmlessText(text);
}

// "file.cc:123" of "/some/where/file.cc:123".
constexpr std::string_view baseName(std::string_view path) noexcept {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Where is a local type of the call site with level() and source(); F its format string.
template <class Where, class F, class... Wire>
inline constexpr Site kDeferredSite{Where::level(), Where::source(), &formatRecord<F, Wire...>};
template <class Where>
inline constexpr Site kReadySite{Where::level(), Where::source(), &formatReady};

}  // namespace roost::log::detail
