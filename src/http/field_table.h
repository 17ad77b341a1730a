// The hash table behind fieldId(), for the parser, which looks names up where they lie. Internal to http/.
//
// Functions here have internal linkage on purpose: they are compiled into translation units for different
// instruction sets, and the linker must not let one of those stand for the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "http/message.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace roost::http {

// One known name in lower case, padded with zeros. Half a cache line.
struct alignas(32) FieldSlot {
  char name[30];
  uint8_t len;
  FieldId id;
};
static_assert(sizeof(FieldSlot) == 32);

constexpr size_t kFieldNameMin = 2;   // "te"
constexpr size_t kFieldNameMax = 24;  // "sec-websocket-extensions"
constexpr uint32_t kFieldSlotBits = 7;

// Keeps all known names apart; field_id.cc does not compile if it does not. Any odd number that does will do.
constexpr uint32_t kFieldSeed = 0x1e2feb89U;

// An empty slot has len 0, which no looked-up name has.
struct FieldSlots {
  FieldSlot at[1U << kFieldSlotBits];
};
extern const FieldSlots kFieldSlots;

// From the first two and last two bytes in any case, and the length.
static constexpr uint32_t fieldHash(uint32_t first, uint32_t last, uint32_t len) noexcept {
  return (((first | last << 16) | 0x20202020U) + len) * kFieldSeed >> (32 - kFieldSlotBits);
}

// The comparison of a name with a slot. An object, so that a loop keeps what it needs in registers.
struct NameMatcher {
#if defined(__AVX2__)
  NameMatcher() noexcept : fold(_mm256_set1_epi8(0x20)) {
    asm("" : "+x"(fold));
  }

  uint32_t differs(const char* name, const FieldSlot& slot) const noexcept {
    const __m256i sent = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(name));
    const __m256i known = _mm256_load_si256(reinterpret_cast<const __m256i*>(slot.name));
    const __m256i equal = _mm256_cmpeq_epi8(_mm256_or_si256(sent, fold), known);
    return ~static_cast<uint32_t>(_mm256_movemask_epi8(equal));
  }
  __m256i fold;
#elif defined(__SSE2__)
  uint32_t differs(const char* name, const FieldSlot& slot) const noexcept {
    const __m128i fold = _mm_set1_epi8(0x20);
    const auto* sent = reinterpret_cast<const __m128i*>(name);
    const auto* known = reinterpret_cast<const __m128i*>(slot.name);
    const __m128i low = _mm_cmpeq_epi8(_mm_or_si128(_mm_loadu_si128(sent), fold), _mm_load_si128(known));
    const __m128i high =
        _mm_cmpeq_epi8(_mm_or_si128(_mm_loadu_si128(sent + 1), fold), _mm_load_si128(known + 1));
    return ~(static_cast<uint32_t>(_mm_movemask_epi8(low)) | static_cast<uint32_t>(_mm_movemask_epi8(high))
                                                                 << 16);
  }
#else
  uint32_t differs(const char* name, const FieldSlot& slot) const noexcept {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < slot.len; ++i)
      bits |= static_cast<uint32_t>((name[i] | 0x20) != slot.name[i]) << i;
    return bits;
  }
#endif
};

// REQUIRES: 32 readable bytes at `name` and one before it; its `len` bytes, at least one, are all token
// characters: the comparison folds case with one bit, which is exact for letters and '-' only as long as no
// control character comes in.
static inline FieldId fieldIdAt(const char* name, size_t len, const NameMatcher& matcher = {}) noexcept {
  uint16_t first;
  uint16_t last;
  std::memcpy(&first, name, 2);
  std::memcpy(&last, name + len - 2, 2);
  const FieldSlot& slot = kFieldSlots.at[fieldHash(first, last, static_cast<uint32_t>(len))];
  // Bit i of differs() is byte i's: those beyond the name are shifted out. Any other length differs by
  // itself.
  const auto length = static_cast<uint32_t>(len);
  const uint32_t differs = matcher.differs(name, slot) << ((32 - length) & 31) | (slot.len ^ length);
  return static_cast<FieldId>(static_cast<uint8_t>(slot.id) & (differs == 0 ? 0xff : 0));
}

}  // namespace roost::http
