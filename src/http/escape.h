// Names from outside, made safe to stand in a page or a JSON text. Pure functions, any thread; not for hot
// paths: the string may grow.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace roost::http {

using roost::utf8Size;

// Appends text for HTML content or a quoted attribute value: & < > " ' as references. Bytes that are no UTF-8
// and control characters become U+FFFD.
void appendHtml(std::string& out, std::string_view text);

// Appends text as a JSON string with its quotes (RFC 8259 section 7). Bytes that are no UTF-8 become U+FFFD.
void appendJson(std::string& out, std::string_view text);

}  // namespace roost::http
