#include "http/date.h"

#include <algorithm>
#include <cstring>

namespace roost::http {

namespace {

constexpr int64_t kSecondsPerDay = 86400;
constexpr int64_t kFirstSecond = -62167219200;  // 0000-01-01T00:00:00Z
constexpr int64_t kLastSecond = 253402300799;   // 9999-12-31T23:59:59Z

constexpr char kDayNames[] = "SunMonTueWedThuFriSat";
constexpr char kMonthNames[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
constexpr std::string_view kLongDayNames[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                              "Thursday", "Friday", "Saturday"};

struct CivilDate {
  int64_t year;
  int month;  // 1 to 12
  int day;    // 1 to 31
};

// Counting years from March puts the leap day last, which makes the day of the year a straight line over
// months; 146,097 days are 400 years. Valid for any date of the proleptic Gregorian calendar.
constexpr int64_t daysSince1970(CivilDate date) noexcept {
  const int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t month_from_march = (date.month + 9) % 12;
  const int64_t day_of_year = (153 * month_from_march + 2) / 5 + date.day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

constexpr CivilDate civilDate(int64_t days_since_1970) noexcept {
  const int64_t days = days_since_1970 + 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int64_t day_of_era = days - era * 146097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const int month = static_cast<int>(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month,
          static_cast<int>(day_of_year - (153 * month_from_march + 2) / 5 + 1)};
}

static_assert(daysSince1970({1970, 1, 1}) == 0);
static_assert(daysSince1970({0, 1, 1}) * kSecondsPerDay == kFirstSecond);
static_assert((daysSince1970({9999, 12, 31}) + 1) * kSecondsPerDay - 1 == kLastSecond);

void putDigits(char* out, int64_t value, int digits) noexcept {
  for (int i = digits - 1; i >= 0; --i) {
    out[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

// Reads the text from the left; the first thing that does not fit spoils it for good.
class Reader {
 public:
  explicit Reader(std::string_view text) noexcept : text_(text) {}

  bool done() const noexcept { return ok_ && text_.empty(); }

  void literal(std::string_view expected) noexcept {
    ok_ = ok_ && text_.substr(0, expected.size()) == expected;
    if (ok_) text_.remove_prefix(expected.size());
  }

  int digits(size_t count) noexcept {
    ok_ = ok_ && text_.size() >= count;
    int value = 0;
    for (size_t i = 0; ok_ && i < count; ++i) {
      const char c = text_[i];
      ok_ = c >= '0' && c <= '9';
      value = value * 10 + (c - '0');
    }
    if (ok_) text_.remove_prefix(count);
    return ok_ ? value : 0;
  }

  // One of the three-letter names; its index.
  int name(const char* names, int count) noexcept {
    for (int i = 0; ok_ && text_.size() >= 3 && i < count; ++i) {
      if (std::memcmp(text_.data(), names + i * 3, 3) == 0) {
        text_.remove_prefix(3);
        return i;
      }
    }
    ok_ = false;
    return 0;
  }

  // date3's day: two digits, or a space and one.
  int spacedDay() noexcept {
    if (ok_ && !text_.empty() && text_[0] == ' ') {
      text_.remove_prefix(1);
      return digits(1);
    }
    return digits(2);
  }

 private:
  std::string_view text_;
  bool ok_ = true;
};

struct Fields {
  CivilDate date{};
  int hour = 0;
  int minute = 0;
  int second = 0;
};

void readTime(Reader& reader, Fields& fields) noexcept {
  fields.hour = reader.digits(2);
  reader.literal(":");
  fields.minute = reader.digits(2);
  reader.literal(":");
  fields.second = reader.digits(2);
}

bool isLeap(int64_t year) noexcept {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int daysInMonth(int64_t year, int month) noexcept {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && isLeap(year) ? 29 : kDays[month - 1];
}

std::optional<int64_t> toSeconds(const Fields& fields) noexcept {
  const CivilDate& date = fields.date;
  if (date.day < 1 || date.day > daysInMonth(date.year, date.month)) return std::nullopt;
  if (fields.hour > 23 || fields.minute > 59 || fields.second > 60) return std::nullopt;
  return daysSince1970(date) * kSecondsPerDay + fields.hour * 3600 + fields.minute * 60 + fields.second;
}

// "Sun, 06 Nov 1994 08:49:37 GMT"
std::optional<int64_t> parseImfFixdate(std::string_view text) noexcept {
  Reader reader(text);
  Fields fields;
  reader.name(kDayNames, 7);
  reader.literal(", ");
  fields.date.day = reader.digits(2);
  reader.literal(" ");
  fields.date.month = reader.name(kMonthNames, 12) + 1;
  reader.literal(" ");
  fields.date.year = reader.digits(4);
  reader.literal(" ");
  readTime(reader, fields);
  reader.literal(" GMT");
  return reader.done() ? toSeconds(fields) : std::nullopt;
}

// "Sunday, 06-Nov-94 08:49:37 GMT"; `text` begins after the name of the day.
std::optional<int64_t> parseRfc850(std::string_view text, int64_t now_s) noexcept {
  Reader reader(text);
  Fields fields;
  reader.literal(", ");
  fields.date.day = reader.digits(2);
  reader.literal("-");
  fields.date.month = reader.name(kMonthNames, 12) + 1;
  reader.literal("-");
  const int two_digits = reader.digits(2);
  reader.literal(" ");
  readTime(reader, fields);
  reader.literal(" GMT");
  if (!reader.done()) return std::nullopt;

  // The latest year with these digits whose date is not more than 50 years ahead.
  const int64_t now_day = std::clamp(now_s, kFirstSecond, kLastSecond);
  const CivilDate now = civilDate((now_day - (now_day < 0 ? kSecondsPerDay - 1 : 0)) / kSecondsPerDay);
  CivilDate limit = now;
  limit.year += 50;
  fields.date.year = limit.year - limit.year % 100 + two_digits;
  const auto beyond = [&] {
    const CivilDate& date = fields.date;
    if (date.year != limit.year) return date.year > limit.year;
    if (date.month != limit.month) return date.month > limit.month;
    return date.day > limit.day;
  };
  if (beyond()) fields.date.year -= 100;
  return toSeconds(fields);
}

// "Sun Nov  6 08:49:37 1994"
std::optional<int64_t> parseAsctime(std::string_view text) noexcept {
  Reader reader(text);
  Fields fields;
  reader.name(kDayNames, 7);
  reader.literal(" ");
  fields.date.month = reader.name(kMonthNames, 12) + 1;
  reader.literal(" ");
  fields.date.day = reader.spacedDay();
  reader.literal(" ");
  readTime(reader, fields);
  reader.literal(" ");
  fields.date.year = reader.digits(4);
  return reader.done() ? toSeconds(fields) : std::nullopt;
}

}  // namespace

void formatHttpDate(int64_t unix_s, char* out) noexcept {
  const int64_t clamped = std::clamp(unix_s, kFirstSecond, kLastSecond);
  int64_t days = clamped / kSecondsPerDay;
  int64_t second = clamped % kSecondsPerDay;
  if (second < 0) {
    second += kSecondsPerDay;
    --days;
  }
  const CivilDate date = civilDate(days);
  const int64_t week_day = ((days + 4) % 7 + 7) % 7;  // 1970 began on a Thursday

  std::memcpy(out, "Sun, 00 Jan 0000 00:00:00 GMT", kHttpDateSize);
  std::memcpy(out, kDayNames + week_day * 3, 3);
  putDigits(out + 5, date.day, 2);
  std::memcpy(out + 8, kMonthNames + (date.month - 1) * 3, 3);
  putDigits(out + 12, date.year, 4);
  putDigits(out + 17, second / 3600, 2);
  putDigits(out + 20, second / 60 % 60, 2);
  putDigits(out + 23, second % 60, 2);
}

std::optional<int64_t> parseHttpDate(std::string_view text, int64_t now_s) noexcept {
  if (text.size() < 24) return std::nullopt;
  if (text[3] == ',') return parseImfFixdate(text);
  if (text[3] == ' ') return parseAsctime(text);
  for (const std::string_view day : kLongDayNames) {
    if (text.substr(0, day.size()) == day) return parseRfc850(text.substr(day.size()), now_s);
  }
  return std::nullopt;
}

}  // namespace roost::http
