// Dates and times as clients write them (RFC 3339) and as the database reads them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace roost::tables {

// "+02:00", "-05:30" in seconds. What is none of these is 0: configurations are checked when they are read.
int32_t zoneSeconds(std::string_view time_zone) noexcept;

// "2026-11-20T22:13:05.25+02:00", also with a space for 'T', without zone (that of the session is meant), and
// without time (midnight). Into "2026-11-20 20:13:05.25", the session's zone being `zone_seconds`. Digits
// beyond microseconds are rounded. False: it is no such moment, or not within the years 1 to 9999.
bool readDateTime(std::string_view text, int32_t zone_seconds, std::string& out);
// "2026-11-20"; of a moment its date as written.
bool readDate(std::string_view text, std::string& out);
// "12:00", "-838:59:59.5".
bool readTime(std::string_view text, std::string& out);

}  // namespace roost::tables
