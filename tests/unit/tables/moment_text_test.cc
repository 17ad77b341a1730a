// Dates and times as clients write them. Moments are checked against the C library's calendar.
#include "tables/moment_text.h"

#include <fmt/format.h>
#include <time.h>

#include <catch2/catch.hpp>
#include <random>

namespace {

using namespace roost::tables;  // NOLINT

std::string moment(std::string_view text, std::string_view zone = "+00:00") {
  std::string out;
  return readDateTime(text, zoneSeconds(zone), out) ? out : "refused";
}

struct Case {
  const char* text;
  const char* read;
};

TEST_CASE("moments of RFC 3339", "[tables][moment]") {
  const Case cases[] = {
      {"2026-11-20T22:13:05Z", "2026-11-20 22:13:05"},
      {"2026-11-20t22:13:05z", "2026-11-20 22:13:05"},
      {"2026-11-20 22:13:05", "2026-11-20 22:13:05"},
      {"2026-11-20T22:13", "2026-11-20 22:13:00"},
      {"2026-11-20", "2026-11-20 00:00:00"},
      {"2026-11-20T22:13:05.123456Z", "2026-11-20 22:13:05.123456"},
      {"2026-11-20T22:13:05.1000Z", "2026-11-20 22:13:05.1"},
      {"2026-11-20T22:13:05.1234564Z", "2026-11-20 22:13:05.123456"},
      {"2026-11-20T22:13:05.1234565Z", "2026-11-20 22:13:05.123457"},
      {"2026-12-31T23:59:59.9999999Z", "2027-01-01 00:00:00"},
      {"2026-11-20T22:13:05+02:00", "2026-11-20 20:13:05"},
      {"2026-11-20T22:13:05 02:00", "2026-11-20 20:13:05"},
      {"2026-11-20T22:13:05-0530", "2026-11-21 03:43:05"},
      {"2026-11-20T22:13:05+02", "2026-11-20 20:13:05"},
      {"2024-02-29T00:00:00+00:01", "2024-02-28 23:59:00"},
      {"2024-03-01T00:00:00+01:00", "2024-02-29 23:00:00"},
      {"0001-01-01T00:00:00Z", "0001-01-01 00:00:00"},
      {"0001-01-01T00:00:00+00:01", "refused"},
      {"9999-12-31T23:59:59.9999999Z", "refused"},
      {"2023-02-29", "refused"},
      {"1900-02-29", "refused"},
      {"2000-02-29", "2000-02-29 00:00:00"},
      {"2026-13-01", "refused"},
      {"2026-00-01", "refused"},
      {"2026-01-00", "refused"},
      {"0000-01-01", "refused"},
      {"26-11-20", "refused"},
      {"2026-11-20T", "refused"},
      {"2026-11-20T24:00:00Z", "refused"},
      {"2026-11-20T22:60:00Z", "refused"},
      {"2026-11-20T22:13:60Z", "refused"},
      {"2026-11-20T22:13:05.Z", "refused"},
      {"2026-11-20T22:13:05+24:00", "refused"},
      {"2026-11-20T22:13:05Zx", "refused"},
      {"", "refused"},
  };
  for (const Case& one : cases) {
    INFO(one.text);
    CHECK(moment(one.text) == one.read);
  }
}

TEST_CASE("moments in the session's zone", "[tables][moment]") {
  CHECK(moment("2026-11-20T22:13:05Z", "+02:00") == "2026-11-21 00:13:05");
  CHECK(moment("2026-11-20T22:13:05+02:00", "+02:00") == "2026-11-20 22:13:05");
  CHECK(moment("2026-11-20T22:13:05", "+02:00") == "2026-11-20 22:13:05");
  CHECK(moment("2026-11-20T22:13:05Z", "-05:30") == "2026-11-20 16:43:05");
  CHECK(zoneSeconds("+02:00") == 7200);
  CHECK(zoneSeconds("-05:30") == -19800);
  CHECK(zoneSeconds("SYSTEM") == 0);
}

TEST_CASE("the calendar is the C library's", "[tables][moment]") {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int64_t> seconds(-62135596800 + 86400, 253402300799 - 86400);
  std::uniform_int_distribution<int> minutes(-14 * 60, 14 * 60);
  for (int i = 0; i < 5'000; ++i) {
    const time_t utc = seconds(random);
    const int offset = minutes(random);
    const auto text = [](time_t at) {
      tm parts{};
      gmtime_r(&at, &parts);
      return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                         parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
    };
    std::string sent = text(utc + offset * 60);
    sent +=
        fmt::format("{}{:02}:{:02}", offset < 0 ? '-' : '+', std::abs(offset) / 60, std::abs(offset) % 60);
    if (moment(sent) != text(utc))
      FAIL_CHECK(sent << " was read as " << moment(sent) << ", not " << text(utc));
  }
}

TEST_CASE("dates and times of day", "[tables][moment]") {
  const auto date = [](std::string_view text) {
    std::string out;
    return readDate(text, out) ? out : "refused";
  };
  const auto clock = [](std::string_view text) {
    std::string out;
    return readTime(text, out) ? out : "refused";
  };
  CHECK(date("2026-11-20") == "2026-11-20");
  CHECK(date("2026-11-20T23:59:59-10:00") == "2026-11-20");
  CHECK(date("2026-11-20x") == "refused");
  CHECK(date("20261120") == "refused");
  CHECK(clock("12:34") == "12:34:00");
  CHECK(clock("1:02:03") == "01:02:03");
  CHECK(clock("-838:59:59") == "-838:59:59");
  CHECK(clock("12:34:56.7890") == "12:34:56.789");
  CHECK(clock("12:34:59.9999999") == "12:35:00");
  CHECK(clock("839:00:00") == "refused");
  CHECK(clock("838:59:59.9999999") == "refused");
  CHECK(clock("12:60") == "refused");
  CHECK(clock("12") == "refused");
  CHECK(clock("") == "refused");
}

}  // namespace
