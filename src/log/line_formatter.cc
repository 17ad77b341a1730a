#include "log/line_formatter.h"

#include <algorithm>

namespace roost::log::detail {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr int64_t kSecondsPerDay = 86'400;

struct CivilTime {
  int64_t year;
  unsigned month, day, hour, minute, second;
};

// The proleptic Gregorian date of a count of days since 1970, by years that begin in March.
CivilTime civilTime(int64_t seconds_since_1970) noexcept {
  int64_t days = seconds_since_1970 / kSecondsPerDay;
  int64_t rest = seconds_since_1970 % kSecondsPerDay;
  if (rest < 0) {
    rest += kSecondsPerDay;
    --days;
  }
  constexpr int64_t kDaysTo1970 = 719'468, kDaysPerEra = 146'097;  // since 0000-03-01; an era is 400 years
  days += kDaysTo1970;
  const int64_t era = (days >= 0 ? days : days - (kDaysPerEra - 1)) / kDaysPerEra;
  const auto day_of_era = static_cast<unsigned>(days - era * kDaysPerEra);
  const unsigned year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const unsigned march_month = (5 * day_of_year + 2) / 153;
  CivilTime t{};
  t.day = day_of_year - (153 * march_month + 2) / 5 + 1;
  t.month = march_month < 10 ? march_month + 3 : march_month - 9;
  t.year = era * 400 + year_of_era + (t.month <= 2 ? 1 : 0);
  const auto seconds = static_cast<unsigned>(rest);
  t.hour = seconds / 3600;
  t.minute = seconds / 60 % 60;
  t.second = seconds % 60;
  return t;
}

struct DigitPairs {
  char text[200];
  constexpr DigitPairs() : text() {
    for (size_t i = 0; i < 100; ++i) {
      text[2 * i] = static_cast<char>('0' + i / 10);
      text[2 * i + 1] = static_cast<char>('0' + i % 10);
    }
  }
};
constexpr DigitPairs kDigitPairs;

// REQUIRES: an even number of digits, and a value that has no more.
template <size_t Digits>
char* putDigits(char* to, unsigned value) noexcept {
  static_assert(Digits % 2 == 0);
  for (size_t i = Digits; i > 0; i -= 2, value /= 100)
    std::memcpy(to + i - 2, kDigitPairs.text + 2 * (value % 100), 2);
  return to + Digits;
}

char* put(char* to, std::string_view text) noexcept {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// Opens `bytes` at the end of out for a put() of at most as many.
char* grow(LineBuffer& out, size_t bytes) {
  out.reserve(out.size() + bytes);
  return out.data() + out.size();
}
void finish(LineBuffer& out, const char* end) {
  out.resize(static_cast<size_t>(end - out.data()));
}

constexpr std::string_view kJsonHead = "{\"ts\":\"", kJsonLevel = "Z\",\"level\":\"", kJsonAfterLevel = "\",",
                           kJsonSource = "\",\"src\":\"", kJsonEnd = "\"}\n";

}  // namespace

std::string_view levelName(Level level) noexcept {
  static constexpr std::string_view kNames[] = {"DEBUG", "INFO", "WARN", "ERROR"};
  return kNames[static_cast<size_t>(level)];
}

std::string compactTime(int64_t realtime_ns) {
  const CivilTime t = civilTime(realtime_ns / kNsPerSecond);
  return fmt::format(FMT_STRING("{:04}{:02}{:02}-{:02}{:02}{:02}"), t.year, t.month, t.day, t.hour, t.minute,
                     t.second);
}

std::string LineFormatter::threadPrefix(std::string_view thread_name, int64_t tid) const {
  LineBuffer out;
  out.append(thread_name.data(), thread_name.data() + thread_name.size());
  escapeFrom(out, 0, format_);
  const std::string name(out.data(), out.size());
  if (format_ == Format::kJson)
    return fmt::format(FMT_STRING("\"thread\":\"{}\",\"tid\":{},\"msg\":\""), name, tid);
  return fmt::format(FMT_STRING("[{}/{}] "), name, tid);
}

void LineFormatter::setSecond(int64_t second) noexcept {
  second_ = second;
  const CivilTime t = civilTime(second);
  char* at = second_text_.data();
  at = putDigits<4>(at, static_cast<unsigned>(t.year));
  *at++ = '-';
  at = putDigits<2>(at, t.month);
  *at++ = '-';
  at = putDigits<2>(at, t.day);
  *at++ = 'T';
  at = putDigits<2>(at, t.hour);
  *at++ = ':';
  at = putDigits<2>(at, t.minute);
  *at++ = ':';
  at = putDigits<2>(at, t.second);
  *at = '.';
}

void LineFormatter::appendHead(LineBuffer& out, int64_t realtime_ns, Level level,
                               std::string_view thread_prefix) {
  realtime_ns = std::max<int64_t>(realtime_ns, 0);
  if (const int64_t second = realtime_ns / kNsPerSecond; second != second_) setSecond(second);
  constexpr size_t kMost =
      kJsonHead.size() + kSecondText + 6 + kJsonLevel.size() + 5 + kJsonAfterLevel.size();
  char* at = grow(out, kMost + thread_prefix.size());
  const bool json = format_ == Format::kJson;
  if (json) at = put(at, kJsonHead);
  at = put(at, {second_text_.data(), kSecondText});
  at = putDigits<6>(at, static_cast<unsigned>(realtime_ns % kNsPerSecond / 1000));
  if (json) {
    at = put(at, kJsonLevel);
    at = put(at, levelName(level));
    at = put(at, kJsonAfterLevel);
  } else {
    static constexpr char kNames[][9] = {"Z DEBUG ", "Z INFO  ", "Z WARN  ", "Z ERROR "};
    at = put(at, {kNames[static_cast<size_t>(level)], 8});
  }
  at = put(at, thread_prefix);
  finish(out, at);
}

void LineFormatter::appendTail(LineBuffer& out, uint32_t suppressed, std::string_view source) {
  if (suppressed != 0)
    fmt::format_to(fmt::appender(out), FMT_COMPILE(" [{} more like it held back]"), suppressed);
  char* at = grow(out, kJsonSource.size() + source.size() + kJsonEnd.size());
  if (format_ == Format::kJson) {
    at = put(at, kJsonSource);
    at = put(at, source);
    at = put(at, kJsonEnd);
  } else {
    at = put(at, " (");
    at = put(at, source);
    at = put(at, ")\n");
  }
  finish(out, at);
}

}  // namespace roost::log::detail
