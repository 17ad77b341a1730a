// The machines that read heads, for any processor: bytes are classified one at a time by a table.
#include "http/h1/head_scan.h"

namespace roost::http::h1 {
namespace {

enum : uint8_t { kEndsName = 1, kEndsValue = 2, kEndsPath = 4 };

struct ByteClasses {
  uint8_t of[256];
};

constexpr ByteClasses makeClasses() noexcept {
  ByteClasses classes{};
  for (unsigned c = 0; c < 256; ++c) {
    const bool letter = (c | 0x20U) >= 'a' && (c | 0x20U) <= 'z';
    const bool digit = c >= '0' && c <= '9';
    uint8_t bits = 0;
    if (!letter && !digit && c != '-' && c != '_') bits |= kEndsName;
    if (c < 0x20 || c == 0x7f) bits |= kEndsValue;
    if (c <= 0x20 || c >= 0x7f || c == '#' || c == '?') bits |= kEndsPath;
    classes.of[c] = bits;
  }
  return classes;
}

constexpr ByteClasses kClasses = makeClasses();

inline uint8_t classOf(char c) noexcept {
  return kClasses.of[static_cast<unsigned char>(c)];
}

struct Classifier {
  void classify(const char* block, uint64_t& name, uint64_t& value) const noexcept {
    name = value = 0;
    for (unsigned i = 0; i < 64; ++i) {
      const uint64_t bits = classOf(block[i]);
      name |= (bits & kEndsName) << i;
      value |= (bits >> 1 & 1) << i;
    }
  }
};

inline TextMaps textMaps(const char* block, size_t size) noexcept {
  TextMaps maps{0, 0, 0};
  for (size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(block[i]);
    maps.odd |= uint64_t{byte < 0x20 || byte >= 0x80} << i;
    maps.cr |= uint64_t{byte == '\r'} << i;
    maps.lf |= uint64_t{byte == '\n'} << i;
  }
  return maps;
}

inline const char* targetStop(const char* p, const char* end) noexcept {
  while (p < end && (classOf(*p) & kEndsPath) == 0) ++p;
  return p;
}

}  // namespace
}  // namespace roost::http::h1

#include "http/h1/field_scan.h"

#define ROOST_REQUEST_SCAN scanRequestGeneric
#include "http/h1/request_scan.inc"

#define ROOST_RESPONSE_SCAN scanResponseGeneric
#include "http/client/response_scan.inc"
