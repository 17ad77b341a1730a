#pragma once

#include <cstddef>
#include <cstdint>

namespace roost::http::ws {

// Checks UTF-8 (RFC 3629) piece by piece; text may be cut anywhere. Says of an invalid byte when it comes,
// not at the end of the message (RFC 6455 section 8.1). Runs of ASCII are passed over many bytes at a time.
// One byte of state.
class Utf8Check {
 public:
  // False once what has been added cannot be the beginning of valid text; nothing may be added then.
  bool add(const char* data, size_t size) noexcept;
  // Whether no character is cut off.
  bool complete() const noexcept { return state_ == 0; }
  void reset() noexcept { state_ = 0; }

 private:
  uint8_t state_ = 0;  // what the next byte may be
};

}  // namespace roost::http::ws
