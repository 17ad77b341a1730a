#include "http/host.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cstring>

#include "http/ascii.h"

namespace roost::http {

namespace {

enum CharBits : uint8_t { kBad = 1, kEscape = 2, kNameOnly = 4 };

// What the characters of a host add up to: any kBad spoils it, kNameOnly says it is no IPv4 address.
constexpr std::array<uint8_t, 256> makeBits() {
  std::array<uint8_t, 256> bits{};
  for (uint8_t& b : bits) b = kBad;
  for (size_t c = '0'; c <= '9'; ++c) bits[c] = 0;
  bits['.'] = 0;
  for (size_t c = 'a'; c <= 'z'; ++c) bits[c] = kNameOnly;
  for (size_t c = 'A'; c <= 'Z'; ++c) bits[c] = kNameOnly;
  for (const char c : std::string_view("-_~!$&'()*+;=")) bits[static_cast<uint8_t>(c)] = kNameOnly;
  bits['%'] = kNameOnly | kEscape;
  return bits;
}

constexpr std::array<uint8_t, 256> kBits = makeBits();

constexpr uint8_t bitsOf(char c) noexcept {
  return kBits[static_cast<uint8_t>(c)];
}

constexpr bool isHex(char c) noexcept {
  const char l = lowerAscii(c);
  return (c >= '0' && c <= '9') || (l >= 'a' && l <= 'f');
}

bool escapesAreWhole(std::string_view name) noexcept {
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') continue;
    if (name.size() - i < 3 || !isHex(name[i + 1]) || !isHex(name[i + 2])) return false;
    i += 2;
  }
  return true;
}

// dec-octet of RFC 3986: four numbers up to 255 without leading zeros.
bool isIpv4(std::string_view text) noexcept {
  int parts = 0;
  for (size_t i = 0;;) {
    const size_t first = i;
    int value = 0;
    while (i < text.size() && text[i] != '.' && i - first < 3) value = value * 10 + (text[i++] - '0');
    const size_t digits = i - first;
    if (digits == 0 || value > 255 || (digits > 1 && text[first] == '0')) return false;
    ++parts;
    if (i == text.size()) return parts == 4;
    if (text[i] != '.' || parts == 4) return false;
    ++i;
  }
}

bool isIpv6(std::string_view text) noexcept {
  char buffer[INET6_ADDRSTRLEN];
  if (text.size() >= sizeof buffer) return false;
  for (const char c : text) {
    if (!isHex(c) && c != ':' && c != '.') return false;
  }
  std::memcpy(buffer, text.data(), text.size());
  buffer[text.size()] = '\0';
  in6_addr address;
  return ::inet_pton(AF_INET6, buffer, &address) == 1;
}

// `rest` is what follows the host: nothing, or ':' and digits.
bool readPort(std::string_view rest, Authority& authority) noexcept {
  if (rest.empty()) return true;
  if (rest[0] != ':') return false;
  uint32_t port = 0;
  for (const char c : rest.substr(1)) {
    if (c < '0' || c > '9') return false;
    port = port * 10 + static_cast<uint32_t>(c - '0');
    if (port > UINT16_MAX) return false;
  }
  authority.has_port = rest.size() > 1;
  authority.port = static_cast<uint16_t>(port);
  return true;
}

Authority parseBracketed(std::string_view text) noexcept {
  Authority authority;
  const size_t close = text.find(']');
  if (close == std::string_view::npos || !isIpv6(text.substr(1, close - 1))) return {};
  authority.host = text.substr(0, close + 1);
  if (!readPort(text.substr(close + 1), authority)) return {};
  authority.kind = HostKind::kIpv6;
  return authority;
}

}  // namespace

Authority parseAuthority(std::string_view text) noexcept {
  if (text.empty()) return {};
  if (text[0] == '[') return parseBracketed(text);

  Authority authority;
  size_t len = 0;
  unsigned seen = 0;
  while (len < text.size() && text[len] != ':') seen |= bitsOf(text[len++]);
  if ((seen & kBad) != 0 || len == 0 || len > kMaxHostBytes) return {};
  authority.host = text.substr(0, len);
  if ((seen & kEscape) != 0 && !escapesAreWhole(authority.host)) return {};
  if (!readPort(text.substr(len), authority)) return {};

  if (authority.host.back() == '.') {
    authority.host.remove_suffix(1);
    if (authority.host.empty() || authority.host.back() == '.') return {};
  }
  const bool is_ipv4 = (seen & kNameOnly) == 0 && isIpv4(authority.host);
  authority.kind = is_ipv4 ? HostKind::kIpv4 : HostKind::kRegName;
  return authority;
}

Authority parseHost(std::string_view value) noexcept {
  if (!value.empty()) return parseAuthority(value);
  Authority authority;
  authority.kind = HostKind::kEmpty;
  return authority;
}

size_t lowerHost(std::string_view host, char (&out)[kMaxHostBytes]) noexcept {
  for (size_t i = 0; i < host.size(); ++i) out[i] = lowerAscii(host[i]);
  return host.size();
}

}  // namespace roost::http
