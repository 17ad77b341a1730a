#include "base/base64.h"

namespace roost {
namespace {

int base64Value(char c) noexcept {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

}  // namespace

size_t decodeBase64(std::string_view text, char* out) noexcept {
  if (text.empty()) return 0;
  if (text.size() % 4 != 0) return SIZE_MAX;
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

void encodeBase64(std::string_view bytes, char* out) noexcept {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto byte = [&](size_t at) { return static_cast<uint32_t>(static_cast<unsigned char>(bytes[at])); };
  size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const uint32_t bits = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    *out++ = kDigits[bits >> 18];
    *out++ = kDigits[bits >> 12 & 63];
    *out++ = kDigits[bits >> 6 & 63];
    *out++ = kDigits[bits & 63];
  }
  const size_t left = bytes.size() - i;
  if (left == 0) return;
  const uint32_t bits = byte(i) << 16 | (left == 2 ? byte(i + 1) << 8 : 0);
  *out++ = kDigits[bits >> 18];
  *out++ = kDigits[bits >> 12 & 63];
  *out++ = left == 2 ? kDigits[bits >> 6 & 63] : '=';
  *out = '=';
}

}  // namespace roost
