// The keys of the opening handshake (RFC 6455 section 4). Pure functions, any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace roost::http::ws {

// The value of Sec-WebSocket-Accept for one of Sec-WebSocket-Key (section 4.2.2).
std::array<char, 28> acceptKey(std::string_view key) noexcept;

// Whether a value of Sec-WebSocket-Key is 16 bytes in base64 (section 4.1).
bool isKey(std::string_view key) noexcept;

// A client's Sec-WebSocket-Key of 16 random bytes.
std::array<char, 24> makeKey(uint64_t random_high, uint64_t random_low) noexcept;

}  // namespace roost::http::ws
