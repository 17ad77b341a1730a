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
constexpr uint32_t kFieldSeed = 0xd0c51eddU;

// An empty slot has len 0, which no looked-up name has.
struct FieldSlots {
  FieldSlot at[1U << kFieldSlotBits];
};
extern const FieldSlots kFieldSlots;

// From the first two and last two bytes in any case, and the length.
static constexpr uint32_t fieldHash(uint32_t first, uint32_t last, uint32_t len) noexcept {
  return (((first | last << 16) | 0x20202020U) + len) * kFieldSeed >> (32 - kFieldSlotBits);
}

// REQUIRES: 32 readable bytes at `name`, whose `len` bytes are all token characters: the comparison folds
// case with one bit, which is exact for letters and '-' only as long as no control character can come in.
static inline FieldId fieldIdAt(const char* name, size_t len) noexcept {
  if (len - kFieldNameMin > kFieldNameMax - kFieldNameMin) return FieldId::kOther;
  uint16_t first;
  uint16_t last;
  std::memcpy(&first, name, 2);
  std::memcpy(&last, name + len - 2, 2);
  const FieldSlot& slot = kFieldSlots.at[fieldHash(first, last, static_cast<uint32_t>(len))];
  if (slot.len != len) return FieldId::kOther;
#if defined(__AVX2__)
  const __m256i sent = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(name));
  const __m256i known = _mm256_load_si256(reinterpret_cast<const __m256i*>(slot.name));
  const __m256i equal = _mm256_cmpeq_epi8(_mm256_or_si256(sent, _mm256_set1_epi8(0x20)), known);
  const auto same = static_cast<uint32_t>(_mm256_movemask_epi8(equal));
  return ~same << (32 - len) == 0 ? slot.id : FieldId::kOther;
#elif defined(__SSE2__)
  const __m128i fold = _mm_set1_epi8(0x20);
  const auto* sent = reinterpret_cast<const __m128i*>(name);
  const auto* known = reinterpret_cast<const __m128i*>(slot.name);
  const __m128i low = _mm_cmpeq_epi8(_mm_or_si128(_mm_loadu_si128(sent), fold), _mm_load_si128(known));
  const __m128i high =
      _mm_cmpeq_epi8(_mm_or_si128(_mm_loadu_si128(sent + 1), fold), _mm_load_si128(known + 1));
  const auto same =
      static_cast<uint32_t>(_mm_movemask_epi8(low)) | static_cast<uint32_t>(_mm_movemask_epi8(high)) << 16;
  return ~same << (32 - len) == 0 ? slot.id : FieldId::kOther;
#else
  for (size_t i = 0; i < len; ++i) {
    if ((name[i] | 0x20) != slot.name[i]) return FieldId::kOther;
  }
  return slot.id;
#endif
}

}  // namespace roost::http
