// The PROXY protocol, versions 1 and 2, as HAProxy's specification (proxy-protocol.txt) has it: what a proxy
// says of its client before the client's own bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "net/address.h"

namespace roost::net {

struct ProxyHeader {
  enum class State : uint8_t { kNeedMore, kDone, kError };
  // Version 1 is one line of at most this, its CRLF included; version 2 begins with a block of fixed size.
  static constexpr size_t kMaxV1Bytes = 107;
  static constexpr size_t kV2FixedBytes = 16;
  // The specification allows 64 KiB behind the fixed block; what proxies send (certificates included) is far
  // smaller.
  static constexpr size_t kMaxV2Bytes = kV2FixedBytes + (16 << 10);

  State state = State::kNeedMore;
  // kDone: bytes of the header. What follows is the client's.
  uint32_t size = 0;
  // kDone: the client. Family 0 where the proxy speaks for itself (LOCAL, a health check) or does not know
  // (UNKNOWN): then the peer is the client.
  PeerAddr client{};
  const char* error = "";  // kError: why, for the log
};

// Reads the header at the front of `bytes`, all that has come so far. Never more than kMaxV2Bytes are needed.
// Any thread.
ProxyHeader parseProxyHeader(std::string_view bytes) noexcept;

// CRC-32C (RFC 3720 appendix B.4), which a version 2 header may carry.
uint32_t crc32c(std::string_view bytes, uint32_t crc = 0) noexcept;

}  // namespace roost::net
