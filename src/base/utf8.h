#pragma once

#include <cstddef>
#include <string_view>

namespace roost {

// How many bytes the character at the beginning of `text` takes in well-formed UTF-8 (RFC 3629); 0 where it
// is malformed: too long, a surrogate, beyond U+10FFFF, cut off. REQUIRES: !text.empty().
size_t utf8Size(std::string_view text) noexcept;

bool isUtf8(std::string_view text) noexcept;

}  // namespace roost
