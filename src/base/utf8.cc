#include "base/utf8.h"

namespace roost {
namespace {

unsigned byteAt(std::string_view text, size_t i) noexcept {
  return static_cast<unsigned char>(text[i]);
}

}  // namespace

size_t utf8Size(std::string_view text) noexcept {
  const unsigned first = byteAt(text, 0);
  if (first < 0x80) return 1;
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((byteAt(text, i) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = byteAt(text, 1);
  const bool too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second > 0x9f;
  const bool too_high = first == 0xf4 && second > 0x8f;
  return too_long || surrogate || too_high ? 0 : size;
}

bool isUtf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const size_t size = utf8Size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace roost
