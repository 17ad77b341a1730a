#include "tools/swarm/payload.h"

#include <cstring>

#include "base/random.h"

namespace roost::swarm {

Payload::Payload(size_t message_bytes)
    : message_bytes_(message_bytes), bytes_(kWindows + message_bytes, '\0') {
  // Printable, so that a WebSocket's text message may carry it and a dump shows it.
  uint64_t word = 0x726f6f7374;
  for (char& byte : bytes_) {
    word = scrambled(word + 0x9e3779b97f4a7c15);
    byte = static_cast<char>('0' + (word >> 32) % 75);  // '0' to 'z'
  }
}

size_t Payload::offset(uint32_t client, uint64_t n) noexcept {
  return static_cast<size_t>(scrambled((uint64_t{client} << 40) + n)) % kWindows;
}

}  // namespace roost::swarm
