// What may stand in a field line (RFC 9110 section 5). Pure functions, any thread.
#pragma once

#include <string_view>

namespace roost::http {

// token, section 5.6.2.
bool isToken(std::string_view text) noexcept;

// field-content without whitespace at its ends, section 5.5: no control characters but tabs inside. May be
// empty.
bool isFieldValue(std::string_view text) noexcept;

}  // namespace roost::http
