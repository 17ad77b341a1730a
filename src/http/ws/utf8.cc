#include "http/ws/utf8.h"

#include <cstring>

#include "http/ws/kernels.h"

namespace roost::http::ws {
namespace {

// What may come next: the range of the next byte, and the state after it. 0 is between characters.
struct Next {
  uint8_t low;
  uint8_t high;
  uint8_t state;
};
enum : uint8_t { kOne = 1, kTwo, kThree, kAfterE0, kAfterEd, kAfterF0, kAfterF4, kBad };
constexpr Next kNext[] = {
    {0, 0, 0},           // between characters
    {0x80, 0xbf, 0},     // one more
    {0x80, 0xbf, kOne},  // two more
    {0x80, 0xbf, kTwo},  // three more
    {0xa0, 0xbf, kOne},  // after E0: nothing that fits into two bytes
    {0x80, 0x9f, kOne},  // after ED: no surrogates
    {0x90, 0xbf, kTwo},  // after F0: nothing that fits into three bytes
    {0x80, 0x8f, kTwo},  // after F4: nothing beyond U+10FFFF
};

inline uint8_t stateAfterLead(uint8_t lead) noexcept {
  if (lead >= 0xc2 && lead <= 0xdf) return kOne;
  if (lead < 0xc2) return kBad;
  if (lead <= 0xef) return lead == 0xe0 ? kAfterE0 : lead == 0xed ? kAfterEd : kTwo;
  if (lead <= 0xf4) return lead == 0xf0 ? kAfterF0 : lead == 0xf4 ? kAfterF4 : kThree;
  return kBad;
}

// Over ASCII. Short runs are looked at here, where a call would cost more than they do.
inline const uint8_t* skipAscii(const uint8_t* p, const uint8_t* end) noexcept {
  for (int words = 0; end - p >= 8; ++words) {
    if (words == 4)
      return p + bestKernels().ascii(reinterpret_cast<const char*>(p), static_cast<size_t>(end - p));
    uint64_t word;
    std::memcpy(&word, p, sizeof word);
    if ((word & 0x8080808080808080U) != 0) break;
    p += 8;
  }
  while (p < end && *p < 0x80) ++p;
  return p;
}

// Over whole characters of two and three bytes, the usual ones. REQUIRES: 3 bytes at `p`, the first not
// ASCII.
inline const uint8_t* skipUsual(const uint8_t* p, const uint8_t* end) noexcept {
  while (end - p >= 3) {
    const uint8_t lead = p[0];
    if (lead >= 0xc2 && lead <= 0xdf) {
      if ((p[1] & 0xc0) != 0x80) return p;
      p += 2;
    } else if ((lead & 0xf0) == 0xe0 && lead != 0xe0 && lead != 0xed) {
      if ((p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80) return p;
      p += 3;
    } else {
      return p;
    }
  }
  return p;
}

}  // namespace

bool Utf8Check::add(const char* data, size_t size) noexcept {
  const auto* p = reinterpret_cast<const uint8_t*>(data);
  const uint8_t* const end = p + size;
  uint8_t state = state_;
  while (p < end) {
    if (state != 0) {
      const Next& next = kNext[state];
      if (*p < next.low || *p > next.high) return false;
      state = next.state;
      ++p;
      continue;
    }
    p = skipUsual(skipAscii(p, end), end);
    if (p == end || *p < 0x80) continue;
    state = stateAfterLead(*p++);
    if (state == kBad) return false;
  }
  state_ = state;
  return true;
}

}  // namespace roost::http::ws
