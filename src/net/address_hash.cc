#include "net/address_hash.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace roost::net {

uint64_t AddressHash::operator()(const PeerAddr& peer) const noexcept {
  char bytes[1 + sizeof peer.ip] = {static_cast<char>(peer.family)};
  size_t size = 1;
  if (peer.family == AF_INET) {
    std::memcpy(bytes + 1, peer.ip, 4);
    size = 5;
  } else if (peer.family == AF_INET6) {
    const unsigned bits = std::min(bits_, 128U);
    std::memcpy(bytes + 1, peer.ip, bits / 8);
    size = 1 + bits / 8;
    if (bits % 8 != 0) {
      bytes[size] = static_cast<char>(peer.ip[bits / 8] & (0xff00U >> (bits % 8)));
      ++size;
    }
  }
  return sipHash13(key_, {bytes, size});
}

}  // namespace roost::net
