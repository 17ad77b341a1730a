// The words of the WebSocket protocol (RFC 6455): opcodes, roles, close codes, and the header of a frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace roost::http::ws {

// RFC 6455 section 5.2.
enum class Opcode : uint8_t {
  kContinuation = 0,
  kText = 1,
  kBinary = 2,
  kClose = 8,
  kPing = 9,
  kPong = 10,
};
constexpr bool isControl(Opcode opcode) noexcept {
  return (static_cast<uint8_t>(opcode) & 8) != 0;
}

// Which end of the connection we are: clients mask what they send, servers must not (section 5.1).
enum class Role : uint8_t { kServer, kClient };

// RFC 6455 section 7.4.1 and IANA's registry. Peers may send others too (isCloseCode).
enum CloseCode : uint16_t {
  kNormal = 1000,
  kGoingAway = 1001,
  kProtocolError = 1002,
  kUnsupported = 1003,
  kNoStatus = 1005,  // never on the wire: the peer's Close said nothing
  kAbnormal = 1006,  // never on the wire: there was no Close
  kInvalidPayload = 1007,
  kPolicyViolation = 1008,
  kTooBig = 1009,
  kMissingExtension = 1010,
  kInternalError = 1011,
  kServiceRestart = 1012,
  kTryAgainLater = 1013,
};

// Whether a Close frame may carry `code`: 1000 to 1003, 1007 to 1014, and what libraries and applications
// choose for themselves, 3000 to 4999 (section 7.4.2).
constexpr bool isCloseCode(uint16_t code) noexcept {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

constexpr size_t kMaxControlBytes = 125;                  // of a control frame's payload (section 5.5)
constexpr size_t kMaxReasonBytes = kMaxControlBytes - 2;  // of a Close frame's text
constexpr size_t kMaxFrameHeader = 14;

// Writes the header of an unmasked frame (a server's) with `size` bytes of payload, in the shortest form.
// `compressed` sets RSV1 (RFC 7692 section 6). Returns its length, 2, 4 or 10. REQUIRES: kMaxFrameHeader
// bytes of room.
inline size_t writeFrameHeader(char* out, Opcode opcode, bool fin, bool compressed, uint64_t size) noexcept {
  const auto byte = [](uint64_t value) { return static_cast<char>(value & 0xff); };
  out[0] = byte((fin ? 0x80U : 0U) | (compressed ? 0x40U : 0U) | static_cast<unsigned>(opcode));
  if (size < 126) {
    out[1] = byte(size);
    return 2;
  }
  const size_t bytes = size < 65536 ? 2 : 8;
  out[1] = bytes == 2 ? 126 : 127;
  for (size_t i = 0; i < bytes; ++i) out[2 + i] = byte(size >> (8 * (bytes - 1 - i)));
  return 2 + bytes;
}

// The same for a masked frame (a client's): the payload that follows is masked with `key` (applyMask).
// Returns 6, 8 or 14.
inline size_t writeMaskedHeader(char* out, Opcode opcode, bool fin, bool compressed, uint64_t size,
                                uint32_t key) noexcept {
  const size_t length = writeFrameHeader(out, opcode, fin, compressed, size);
  out[1] = static_cast<char>(static_cast<unsigned char>(out[1]) | 0x80U);
  __builtin_memcpy(out + length, &key, sizeof key);
  return length + sizeof key;
}

// What a Close frame says (section 5.5.1).
struct CloseText {
  uint16_t code = kNoStatus;
  std::string_view reason;  // in the payload
  uint16_t error = 0;       // 0, or the code to answer a malformed one with
};
CloseText readClose(std::string_view payload) noexcept;
// Writes the payload of a Close frame: the code and as much of `reason` as fits, cut before a character.
// kNoStatus makes an empty one. Returns its length. REQUIRES: kMaxControlBytes of room.
size_t writeClose(char* out, uint16_t code, std::string_view reason) noexcept;

}  // namespace roost::http::ws
