#include "http/field_syntax.h"

#include <algorithm>

namespace roost::http {
namespace {

bool isTokenChar(char c) noexcept {
  const bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return alnum || (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}

bool isSpace(char c) noexcept {
  return c == ' ' || c == '\t';
}

}  // namespace

bool isToken(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), isTokenChar);
}

bool isFieldValue(std::string_view text) noexcept {
  if (!text.empty() && (isSpace(text.front()) || isSpace(text.back()))) return false;
  return std::none_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

}  // namespace roost::http
