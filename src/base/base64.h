#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace roost {

// Decodes base64 (RFC 4648 section 4): padded, and without bits that mean nothing, so that there is one text
// for each value. Returns how many bytes it has written, at most text.size() / 4 * 3; SIZE_MAX for an error.
size_t decodeBase64(std::string_view text, char* out) noexcept;

// How many characters `bytes` bytes take, and writes them: padded, without line breaks.
constexpr size_t base64Size(size_t bytes) noexcept {
  return (bytes + 2) / 3 * 4;
}
void encodeBase64(std::string_view bytes, char* out) noexcept;

}  // namespace roost
