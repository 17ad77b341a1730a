#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace roost::net {

// A network, or one address, as a configuration names it. A plain value.
struct Cidr {
  uint8_t family = 0;       // AF_INET, AF_INET6, AF_UNIX; 0: everybody
  uint8_t prefix_bits = 0;  // of AF_INET up to 32, of AF_INET6 up to 128
  uint8_t ip[16] = {};      // network byte order; nothing but zeros right of the prefix

  // "192.0.2.1", "192.0.2.0/24", "2001:db8::1", "2001:db8::/32", "unix" (or "unix:") for every peer on a Unix
  // socket, "all" for everybody. A mapped network (::ffff:192.0.2.0/120) means the IPv4 one; no other IPv6
  // network covers IPv4 peers. Errors name the text and, where bits are set right of the prefix, the network
  // that was most likely meant.
  static Result<Cidr> parse(std::string_view text);

  std::string toString() const;  // as parse() reads it; an address alone without its prefix length
};

}  // namespace roost::net
