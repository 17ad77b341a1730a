// The default bodies of error answers: small, self-contained, and silent about which server wrote them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace roost::http {

constexpr std::string_view kErrorPageType = "text/html; charset=utf-8";
constexpr std::string_view kErrorTextType = "text/plain; charset=utf-8";

// No default body is larger than this, so that an answer with one fits into a first packet beside its head.
constexpr size_t kErrorPageLimitBytes = 700;

// The default body for an answer with this status as an HTML page of type kErrorPageType, in light and dark.
// A status without a sentence of its own gets its class's. Empty where the status carries no content (1xx,
// 204, 205, 304; RFC 9110 sections 6.4.1 and 15.3.6). Meant to be built once per status at start and kept.
// Any thread.
std::string errorPage(int status);

// The same in one line of text of type kErrorTextType, for clients that do not ask for HTML.
std::string errorText(int status);

}  // namespace roost::http
