// HTTP-date (RFC 9110 section 5.6.7). Pure functions, any thread; no allocation, no locale, no time zone
// data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace roost::http {

constexpr size_t kHttpDateSize = 29;

// Writes IMF-fixdate, "Sun, 06 Nov 1994 08:49:37 GMT", without a terminating NUL. Seconds since 1970; values
// outside the years 0 to 9999, which the form cannot tell, are written as the nearest it can.
void formatHttpDate(int64_t unix_s, char* out) noexcept;  // REQUIRES: kHttpDateSize bytes at out

// Reads any of the three forms (IMF-fixdate, RFC 850, asctime), exactly as their grammar has them: case,
// spaces, digits and "GMT" must be right, the day must exist in its month, and a leap second (":60") counts
// as the second after
// ":59". The name of the day must be one, but whether it is that date's is not asked: the date is what
// counts. A two-digit year more than 50 years after `now_s` is taken a century back. Returns seconds since
// 1970 (negative before), or nothing where the text is no HTTP-date.
std::optional<int64_t> parseHttpDate(std::string_view text, int64_t now_s) noexcept;

}  // namespace roost::http
