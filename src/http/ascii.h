// Letters of ASCII, whatever the locale. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace roost::http {

constexpr char lowerAscii(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

// Tokens compare without regard to ASCII case (field names, Connection options, codings, range units).
inline bool equalsToken(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && lowerAscii(a[i]) != lowerAscii(b[i])) return false;
  }
  return true;
}

}  // namespace roost::http
