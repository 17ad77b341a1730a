#include "http/date.h"

#include <catch2/catch.hpp>
#include <ctime>
#include <random>
#include <string>
#include <string_view>

namespace roost::http {
namespace {

constexpr int64_t kNow = 1763634306;  // 2025-11-20

std::string format(int64_t unix_s) {
  char text[kHttpDateSize];
  formatHttpDate(unix_s, text);
  return std::string(text, sizeof text);
}

std::optional<int64_t> parse(std::string_view text, int64_t now_s = kNow) {
  return parseHttpDate(text, now_s);
}

TEST_CASE("HTTP-date: the three forms of RFC 9110 5.6.7") {
  CHECK(parse("Sun, 06 Nov 1994 08:49:37 GMT") == 784111777);
  CHECK(parse("Sunday, 06-Nov-94 08:49:37 GMT") == 784111777);
  CHECK(parse("Sun Nov  6 08:49:37 1994") == 784111777);
  CHECK(parse("Sun Nov 06 08:49:37 1994") == 784111777);
  CHECK(parse("Wed Nov 16 08:49:37 1994") == 784975777);
  CHECK(format(784111777) == "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST_CASE("HTTP-date: formatting, the ends of its range and before 1970") {
  CHECK(format(0) == "Thu, 01 Jan 1970 00:00:00 GMT");
  CHECK(format(-1) == "Wed, 31 Dec 1969 23:59:59 GMT");
  CHECK(format(951782400) == "Tue, 29 Feb 2000 00:00:00 GMT");
  CHECK(format(4107542400) == "Mon, 01 Mar 2100 00:00:00 GMT");
  CHECK(format(253402300799) == "Fri, 31 Dec 9999 23:59:59 GMT");
  CHECK(format(253402300800) == "Fri, 31 Dec 9999 23:59:59 GMT");
  CHECK(format(INT64_MAX) == "Fri, 31 Dec 9999 23:59:59 GMT");
  CHECK(format(INT64_MIN) == "Sat, 01 Jan 0000 00:00:00 GMT");
  CHECK(parse("Wed, 31 Dec 1969 23:59:59 GMT") == -1);
}

TEST_CASE("HTTP-date: agrees with the C library, both ways, over ten thousand years") {
  std::mt19937_64 random(3);  // NOLINT: the same cases every time
  for (int i = 0; i < 20000; ++i) {
    const int64_t unix_s = static_cast<int64_t>(random() % 315569519999) - 62167219200;
    const time_t time = unix_s;
    tm parts{};
    REQUIRE(::gmtime_r(&time, &parts) != nullptr);
    char expected[64];
    std::strftime(expected, sizeof expected, "%a, %d %b ", &parts);  // the program never leaves the C locale
    char rest[32];
    std::snprintf(rest, sizeof rest, "%04d %02d:%02d:%02d GMT", parts.tm_year + 1900, parts.tm_hour,
                  parts.tm_min, parts.tm_sec);
    const std::string text = format(unix_s);
    REQUIRE(text == std::string(expected) + rest);
    REQUIRE(parse(text) == unix_s);
  }
}

TEST_CASE("HTTP-date: a two-digit year is at most 50 years ahead (RFC 9110 5.6.7)") {
  CHECK(parse("Thursday, 20-Nov-25 00:00:00 GMT") == parse("Thu, 20 Nov 2025 00:00:00 GMT"));
  CHECK(parse("Wednesday, 20-Nov-75 00:00:00 GMT") == parse("Wed, 20 Nov 2075 00:00:00 GMT"));
  CHECK(parse("Friday, 21-Nov-75 00:00:00 GMT") == parse("Fri, 21 Nov 1975 00:00:00 GMT"));
  CHECK(parse("Friday, 19-Nov-76 00:00:00 GMT") == parse("Fri, 19 Nov 1976 00:00:00 GMT"));
  CHECK(parse("Friday, 31-Dec-99 00:00:00 GMT") == parse("Fri, 31 Dec 1999 00:00:00 GMT"));
  CHECK(parse("Saturday, 01-Jan-00 00:00:00 GMT") == parse("Sat, 01 Jan 2000 00:00:00 GMT"));
  const int64_t now_1994 = 784111777;
  CHECK(parse("Friday, 01-Jan-44 00:00:00 GMT", now_1994) == parse("Fri, 01 Jan 2044 00:00:00 GMT"));
  CHECK(parse("Sunday, 01-Jan-45 00:00:00 GMT", now_1994) == parse("Mon, 01 Jan 1945 00:00:00 GMT"));
  // 29 February: the century must be chosen before the day is judged.
  CHECK(parse("Tuesday, 29-Feb-00 00:00:00 GMT") == parse("Tue, 29 Feb 2000 00:00:00 GMT"));
  CHECK_FALSE(parse("Tuesday, 29-Feb-01 00:00:00 GMT"));
  // Clocks that are plainly wrong still give an answer.
  CHECK(parse("Saturday, 01-Jan-00 00:00:00 GMT", 0) == parse("Sat, 01 Jan 2000 00:00:00 GMT"));
  CHECK(parse("Saturday, 01-Jan-00 00:00:00 GMT", INT64_MAX));
  CHECK(parse("Saturday, 01-Jan-00 00:00:00 GMT", INT64_MIN));
}

TEST_CASE("HTTP-date: the name of the day is read but not held against the date") {
  CHECK(parse("Mon, 06 Nov 1994 08:49:37 GMT") == 784111777);
  CHECK(parse("Friday, 06-Nov-94 08:49:37 GMT") == 784111777);
  CHECK_FALSE(parse("Xyz, 06 Nov 1994 08:49:37 GMT"));
  CHECK_FALSE(parse("Sunda, 06-Nov-94 08:49:37 GMT"));
}

TEST_CASE("HTTP-date: days, hours and leap seconds") {
  CHECK(parse("Tue, 29 Feb 2000 00:00:00 GMT"));
  CHECK(parse("Thu, 29 Feb 2024 00:00:00 GMT"));
  CHECK_FALSE(parse("Thu, 29 Feb 1900 00:00:00 GMT"));
  CHECK_FALSE(parse("Thu, 29 Feb 2023 00:00:00 GMT"));
  CHECK_FALSE(parse("Thu, 31 Apr 2024 00:00:00 GMT"));
  CHECK_FALSE(parse("Thu, 32 Jan 2024 00:00:00 GMT"));
  CHECK_FALSE(parse("Thu, 00 Jan 2024 00:00:00 GMT"));
  CHECK_FALSE(parse("Thu, 01 Jan 2024 24:00:00 GMT"));
  CHECK_FALSE(parse("Thu, 01 Jan 2024 00:60:00 GMT"));
  CHECK_FALSE(parse("Thu, 01 Jan 2024 00:00:61 GMT"));
  CHECK(parse("Sat, 31 Dec 2016 23:59:60 GMT") == parse("Sun, 01 Jan 2017 00:00:00 GMT"));
}

TEST_CASE("HTTP-date: nothing but the grammar") {
  for (const char* text : {"",
                           " ",
                           "Sun",
                           "0",
                           "784111777",
                           "sun, 06 Nov 1994 08:49:37 GMT",
                           "Sun, 06 nov 1994 08:49:37 GMT",
                           "Sun, 06 NOV 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 08:49:37 gmt",
                           "Sun, 06 Nov 1994 08:49:37 UTC",
                           "Sun, 06 Nov 1994 08:49:37 +0000",
                           "Sun, 06 Nov 1994 08:49:37",
                           "Sun, 06 Nov 1994 08:49:37 GMT ",
                           " Sun, 06 Nov 1994 08:49:37 GMT",
                           "Sun, 6 Nov 1994 08:49:37 GMT",
                           "Sun,  6 Nov 1994 08:49:37 GMT",
                           "Sun, 06  Nov 1994 08:49:37 GMT",
                           "Sun, 06 Nov 94 08:49:37 GMT",
                           "Sun, 06 Nov 1994 8:49:37 GMT",
                           "Sun, 06-Nov-1994 08:49:37 GMT",
                           "Sunday, 06 Nov 94 08:49:37 GMT",
                           "Sunday, 06-Nov-1994 08:49:37 GMT",
                           "Sunday 06-Nov-94 08:49:37 GMT",
                           "Sun Nov 6 08:49:37 1994",
                           "Sun Nov  6 08:49:37 94",
                           "Sun Nov  6 08:49:37 1994 GMT",
                           "Sun Nov 006 08:49:37 1994",
                           "Sun, 06 Nov 1994 08:49:37 GMT, x",
                           "Sun, 06 Nov 1994 08:49:37 GMT; length=1",
                           "Sun, 06 Nov 199a 08:49:37 GMT",
                           "Sun, -6 Nov 1994 08:49:37 GMT"}) {
    INFO(text);
    CHECK_FALSE(parse(text));
  }
}

TEST_CASE("HTTP-date: no shorter or damaged text passes or reads outside its bytes") {
  for (const std::string whole :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Wednesday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"}) {
    for (size_t len = 0; len < whole.size(); ++len) {
      const std::string part(whole, 0, len);  // its own allocation, so that a read beyond it is seen
      CHECK_FALSE(parse(part));
    }
    CHECK_FALSE(parse(whole + '\0'));
    for (size_t i = 0; i < whole.size(); ++i) {
      std::string damaged = whole;
      damaged[i] = '\0';
      CHECK_FALSE(parse(damaged));
    }
  }
}

}  // namespace
}  // namespace roost::http
