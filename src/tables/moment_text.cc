#include "tables/moment_text.h"

#include <cstdio>

namespace roost::tables {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kSecondsPerDay = 86'400;
constexpr uint32_t kMostHours = 838;  // of TIME

struct Civil {
  int64_t year = 0;
  unsigned month = 0;
  unsigned day = 0;
};

// Days since 1970-01-01 of the proleptic Gregorian calendar, and back. Years are counted from March in eras
// of 400 years, so that the leap day is a year's last.
int64_t daysOf(const Civil& date) noexcept {
  const int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t month = (date.month + 9) % 12;
  const int64_t day_of_year = (153 * month + 2) / 5 + date.day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719'468;
}

Civil civilOf(int64_t days) noexcept {
  days += 719'468;
  const int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const int64_t day_of_era = days - era * 146'097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month = (5 * day_of_year + 2) / 153;
  Civil date;
  date.day = static_cast<unsigned>(day_of_year - (153 * month + 2) / 5 + 1);
  date.month = static_cast<unsigned>(month < 10 ? month + 3 : month - 9);
  date.year = year_of_era + era * 400 + (date.month <= 2 ? 1 : 0);
  return date;
}

unsigned daysInMonth(int64_t year, unsigned month) noexcept {
  constexpr unsigned kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[month - 1];
}

// Takes characters off the front.
struct Digits {
  std::string_view rest;

  bool take(char c) noexcept {
    if (rest.empty() || rest.front() != c) return false;
    rest.remove_prefix(1);
    return true;
  }
  // Between `fewest` and `most` digits.
  bool number(size_t fewest, size_t most, unsigned& out) noexcept {
    size_t count = 0;
    out = 0;
    while (count < most && count < rest.size() && rest[count] >= '0' && rest[count] <= '9')
      out = out * 10 + static_cast<unsigned>(rest[count++] - '0');
    rest.remove_prefix(count);
    return count >= fewest;
  }
  // Behind the dot, rounded to microseconds: up to a whole second.
  bool fraction(int64_t& micros) noexcept {
    size_t count = 0;
    micros = 0;
    for (; count < rest.size() && rest[count] >= '0' && rest[count] <= '9'; ++count) {
      if (count < 6) micros = micros * 10 + (rest[count] - '0');
      if (count == 6 && rest[count] >= '5') ++micros;
    }
    rest.remove_prefix(count);
    const bool any = count > 0;
    for (; count < 6; ++count) micros *= 10;
    return any;
  }
};

bool takeDate(Digits& in, Civil& out) noexcept {
  unsigned year = 0;
  if (!in.number(4, 4, year) || !in.take('-') || !in.number(2, 2, out.month) || !in.take('-') ||
      !in.number(2, 2, out.day))
    return false;
  out.year = year;
  return year >= 1 && out.month >= 1 && out.month <= 12 && out.day >= 1 &&
         out.day <= daysInMonth(year, out.month);
}

// "22:13", "22:13:05.25", in microseconds. 24:00 and leap seconds are refused, as the database does.
bool takeClock(Digits& in, int64_t& micros, size_t hour_digits, unsigned most_hours) noexcept {
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
  int64_t fraction = 0;
  if (!in.number(hour_digits == 2 ? 2 : 1, hour_digits, hour) || !in.take(':') || !in.number(2, 2, minute))
    return false;
  if (in.take(':')) {
    if (!in.number(2, 2, second)) return false;
    if (in.take('.') && !in.fraction(fraction)) return false;
  }
  micros = (int64_t{hour} * 3600 + minute * 60 + second) * kMicrosPerSecond + fraction;
  return hour <= most_hours && minute < 60 && second < 60;
}

// "Z", "+02:00", "+02", "+0200"; nothing: false for `there`. A '+' that came as a space, since it was not
// encoded in a query, is one.
bool takeZone(Digits& in, int32_t& seconds, bool& there) noexcept {
  there = !in.rest.empty();
  if (!there) return true;
  if (in.take('Z') || in.take('z')) {
    seconds = 0;
    return true;
  }
  const bool west = in.take('-');
  if (!west && !in.take('+') && !in.take(' ')) return false;
  unsigned hours = 0;
  unsigned minutes = 0;
  if (!in.number(2, 2, hours)) return false;
  const bool colon = in.take(':');
  if ((colon || !in.rest.empty()) && !in.number(2, 2, minutes)) return false;
  seconds = static_cast<int32_t>(hours * 3600 + minutes * 60);
  if (west) seconds = -seconds;
  return hours < 24 && minutes < 60;
}

void appendFraction(int64_t micros, std::string& out) {
  if (micros == 0) return;
  char text[16];
  std::snprintf(text, sizeof text, ".%06d", static_cast<int>(micros));
  out += text;
  while (out.back() == '0') out.pop_back();
}

void writeDate(const Civil& date, std::string& out) {
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(date.year), date.month, date.day);
  out = text;
}

}  // namespace

int32_t zoneSeconds(std::string_view time_zone) noexcept {
  Digits in{time_zone};
  int32_t seconds = 0;
  bool there = false;
  return takeZone(in, seconds, there) && there && in.rest.empty() ? seconds : 0;
}

bool readDateTime(std::string_view text, int32_t zone_seconds, std::string& out) {
  Digits in{text};
  Civil date;
  int64_t clock = 0;
  int32_t zone = zone_seconds;
  if (!takeDate(in, date)) return false;
  if (!in.rest.empty()) {
    bool there = false;
    int32_t own = 0;
    if (!in.take('T') && !in.take('t') && !in.take(' ')) return false;
    if (!takeClock(in, clock, 2, 23) || !takeZone(in, own, there) || !in.rest.empty()) return false;
    if (there) zone = own;
  }
  const int64_t second = daysOf(date) * kSecondsPerDay + zone_seconds - zone;
  const int64_t micros = second * kMicrosPerSecond + clock;
  constexpr int64_t kDay = kSecondsPerDay * kMicrosPerSecond;
  const int64_t day = (micros >= 0 ? micros : micros - kDay + 1) / kDay;
  const int64_t of_day = micros - day * kDay;
  const Civil moved = civilOf(day);
  if (moved.year < 1 || moved.year > 9999) return false;
  writeDate(moved, out);
  const int64_t of_day_s = of_day / kMicrosPerSecond;
  char time[32];
  std::snprintf(time, sizeof time, " %02d:%02d:%02d", static_cast<int>(of_day_s / 3600),
                static_cast<int>(of_day_s / 60 % 60), static_cast<int>(of_day_s % 60));
  out += time;
  appendFraction(of_day % kMicrosPerSecond, out);
  return true;
}

bool readDate(std::string_view text, std::string& out) {
  Digits in{text};
  Civil date;
  if (!takeDate(in, date)) return false;
  std::string ignored;
  if (!in.rest.empty() && !readDateTime(text, 0, ignored)) return false;
  writeDate(date, out);
  return true;
}

bool readTime(std::string_view text, std::string& out) {
  Digits in{text};
  const bool negative = in.take('-');
  int64_t clock = 0;
  if (!takeClock(in, clock, 3, kMostHours) || !in.rest.empty()) return false;
  const int64_t seconds = clock / kMicrosPerSecond;
  if (clock > (kMostHours * 3600 + 3599) * kMicrosPerSecond) return false;
  char time[32];
  std::snprintf(time, sizeof time, "%s%02d:%02d:%02d", negative ? "-" : "", static_cast<int>(seconds / 3600),
                static_cast<int>(seconds / 60 % 60), static_cast<int>(seconds % 60));
  out = time;
  appendFraction(clock % kMicrosPerSecond, out);
  return true;
}

}  // namespace roost::tables
