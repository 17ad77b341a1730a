#pragma once

#include <cstdint>

#include "base/sip_hash.h"
#include "net/address.h"

namespace roost::net {

// Tells clients apart by their address, for limits: IPv4 whole, IPv6 by its first bits, since one client has
// a whole network of those (RFC 6177). Ports do not count. A plain value; any thread.
class AddressHash {
 public:
  static constexpr unsigned kUsualPrefixBits = 64;

  AddressHash(const SipKey& key, unsigned ipv6_prefix_bits) noexcept : key_(key), bits_(ipv6_prefix_bits) {}

  // Peers without an address (Unix sockets) all have the same one.
  uint64_t operator()(const PeerAddr& peer) const noexcept;

 private:
  SipKey key_;
  unsigned bits_;
};

}  // namespace roost::net
