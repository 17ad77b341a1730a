#include "http/ws/frame.h"

#include <algorithm>
#include <cstring>

#include "http/ws/utf8.h"

namespace roost::http::ws {

CloseText readClose(std::string_view payload) noexcept {
  CloseText text;
  if (payload.empty()) return text;
  if (payload.size() == 1) {
    text.error = kProtocolError;
    return text;
  }
  const auto byte = [&](size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(payload[i])); };
  text.code = static_cast<uint16_t>(byte(0) << 8 | byte(1));
  text.reason = payload.substr(2);
  Utf8Check check;
  if (!isCloseCode(text.code)) {
    text.error = kProtocolError;
  } else if (!check.add(text.reason.data(), text.reason.size()) || !check.complete()) {
    text.error = kInvalidPayload;
  }
  return text;
}

size_t writeClose(char* out, uint16_t code, std::string_view reason) noexcept {
  if (code == kNoStatus) return 0;
  size_t size = std::min(reason.size(), kMaxReasonBytes);
  while (size < reason.size() && size > 0 && (static_cast<unsigned char>(reason[size]) & 0xc0) == 0x80)
    --size;
  out[0] = static_cast<char>(code >> 8);
  out[1] = static_cast<char>(code & 0xff);
  if (size > 0) std::memcpy(out + 2, reason.data(), size);
  return 2 + size;
}

}  // namespace roost::http::ws
