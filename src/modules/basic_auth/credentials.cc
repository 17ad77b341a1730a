#include "modules/basic_auth/credentials.h"

#include <algorithm>
#include <cstdint>

#include "http/ascii.h"

namespace roost::modules::basic_auth {
namespace {

int base64Value(char c) noexcept {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

// RFC 4648 section 4: padded, and without bits that mean nothing. Returns the size; SIZE_MAX for an error.
size_t decodeBase64(std::string_view text, char* out, size_t room) noexcept {
  if (text.size() % 4 != 0 || text.empty() || text.size() / 4 * 3 > room) return SIZE_MAX;
  const size_t padding = text.back() != '=' ? 0 : text[text.size() - 2] == '=' ? 2 : 1;
  const std::string_view digits = text.substr(0, text.size() - padding);
  size_t size = 0;
  uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : digits) {
    const int value = base64Value(c);
    if (value < 0) return SIZE_MAX;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out[size++] = static_cast<char>(bits >> count & 0xff);
  }
  return (bits & ((1U << count) - 1)) == 0 ? size : SIZE_MAX;
}

bool isControl(char c) noexcept {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

}  // namespace

bool parseBasic(std::string_view value, SecretRoom& room, Credentials& out) noexcept {
  constexpr std::string_view kScheme = "Basic";
  if (value.size() <= kScheme.size() || !http::equalsToken(value.substr(0, kScheme.size()), kScheme)) {
    return false;
  }
  value.remove_prefix(kScheme.size());
  const size_t begin = value.find_first_not_of(' ');
  if (begin == 0 || begin == std::string_view::npos) return false;
  const size_t size = decodeBase64(value.substr(begin), room.bytes, sizeof room.bytes);
  if (size == SIZE_MAX) return false;
  const std::string_view text(room.bytes, size);
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || std::any_of(text.begin(), text.end(), isControl)) return false;
  out = {text.substr(0, colon), text.substr(colon + 1)};
  return out.password.size() <= kMaxPasswordBytes;
}

}  // namespace roost::modules::basic_auth
