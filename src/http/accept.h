// What a client would rather have (RFC 9110 section 12.5.1).
#pragma once

#include <string_view>

#include "http/message.h"

namespace roost::http {

// How much the request's Accept wants a media type without parameters, in thousandths: 1000 is as it likes
// best, 0 not at all. The most specific range that fits counts ("text/html" before "text/*" before "*/*").
// 1000 without the field. A weight that is malformed is 1. Any thread that may read the head.
int qualityOf(const RequestHead& head, std::string_view type) noexcept;

// "q=0.25" as 250, without the name: what stands behind "q=". 1000 where it is malformed.
int parseQuality(std::string_view text) noexcept;

// Whether a media range ("text/html", "text/*", "*/*") covers a media type, which may carry parameters
// ("text/html; charset=utf-8").
bool rangeCovers(std::string_view range, std::string_view type) noexcept;

}  // namespace roost::http
