// Escaping for lines made of values from outside: whatever the bytes, the line does not end in them, nor does
// the quoted string they stand in.
#pragma once

#include <cstddef>

namespace roost::log {

// Both copy `size` bytes to `to` and return the end of what they wrote. REQUIRES: kEscapeSlack bytes readable
// behind the text, and room for kMostEscapedBytes times `size` and kEscapeSlack more.
constexpr size_t kEscapeSlack = 16;
constexpr size_t kMostEscapedBytes = 6;

// For the inside of a JSON string, which is valid UTF-8 afterwards: quotes, backslashes, control characters
// (C1 and U+007F too) and line separators become escapes; each byte that is not UTF-8 becomes \ufffd.
char* putJsonEscaped(char* to, const char* text, size_t size) noexcept;
// As nginx writes its logs: everything but printable ASCII, and quotes and backslashes, becomes \xHH.
char* putHexEscaped(char* to, const char* text, size_t size) noexcept;

}  // namespace roost::log
