#include "net/cidr.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace roost::net {
namespace {

constexpr size_t kLongestShown = 64;

Status notOne(std::string_view text) {
  return Status::error(
      fmt::format("\"{}\" is not an IP address nor a network such as 192.0.2.0/24 or 2001:db8::/32",
                  text.substr(0, kLongestShown)));
}

bool parseIp(std::string_view text, Cidr& out) noexcept {
  char ip[INET6_ADDRSTRLEN];
  if (text.size() >= sizeof ip || text.find('\0') != std::string_view::npos) return false;
  ip[text.copy(ip, sizeof ip - 1)] = '\0';
  for (const int family : {AF_INET, AF_INET6}) {
    if (::inet_pton(family, ip, out.ip) != 1) continue;
    out.family = static_cast<uint8_t>(family);
    return true;
  }
  return false;
}

// Sets the bits right of the prefix to 0; false where they were that already.
bool clearHostBits(Cidr& cidr) noexcept {
  bool changed = false;
  for (unsigned i = 0; i < (cidr.family == AF_INET ? 4U : 16U); ++i) {
    const int kept = std::clamp(static_cast<int>(cidr.prefix_bits) - static_cast<int>(i * 8), 0, 8);
    const auto mask = static_cast<uint8_t>(0xff00 >> kept);
    changed |= (cidr.ip[i] & ~mask & 0xff) != 0;
    cidr.ip[i] &= mask;
  }
  return changed;
}

void unmap(Cidr& cidr) noexcept {
  in6_addr v6;
  std::memcpy(&v6, cidr.ip, sizeof v6);
  if (cidr.family != AF_INET6 || cidr.prefix_bits < 96 || !IN6_IS_ADDR_V4MAPPED(&v6)) return;
  cidr.family = AF_INET;
  cidr.prefix_bits = static_cast<uint8_t>(cidr.prefix_bits - 96);
  std::memmove(cidr.ip, cidr.ip + 12, 4);
  std::memset(cidr.ip + 4, 0, 12);
}

}  // namespace

Result<Cidr> Cidr::parse(std::string_view text) {
  Cidr cidr;
  if (text == "all") return cidr;
  if (text == "unix" || text == "unix:") {
    cidr.family = AF_UNIX;
    return cidr;
  }
  const size_t slash = text.find('/');
  if (!parseIp(text.substr(0, slash), cidr)) return notOne(text);
  unsigned bits = cidr.family == AF_INET ? 32 : 128;
  if (slash != std::string_view::npos) {
    const unsigned width = bits;
    const std::string_view digits = text.substr(slash + 1);
    const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    if (ec != std::errc{} || end != digits.data() + digits.size() || bits > width) return notOne(text);
  }
  cidr.prefix_bits = static_cast<uint8_t>(bits);
  const bool had_host_bits = clearHostBits(cidr);
  unmap(cidr);
  if (!had_host_bits) return cidr;
  return Status::error(
      fmt::format("\"{}\" names an address and not a network: write \"{}\" for the network, or leave \"/{}\" "
                  "out for the address alone",
                  text, cidr.toString(), bits));
}

std::string Cidr::toString() const {
  if (family == 0) return "all";
  if (family == AF_UNIX) return "unix";
  char text[INET6_ADDRSTRLEN];
  ::inet_ntop(family, ip, text, sizeof text);
  if (prefix_bits == (family == AF_INET ? 32 : 128)) return text;
  return fmt::format("{}/{}", text, prefix_bits);
}

}  // namespace roost::net
