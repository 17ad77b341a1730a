// What the request machines for x86-64 have in common, over the vectors of their instruction set. Internal to
// http/h1.
//
// `Vector` has kBytes, and as static functions: load(at), all(c), equal(a, b), greater(a, b) of signed bytes,
// either(a, b), butNot(a, b) for a without b, and mask(a), a bit for each byte.
//
// Functions here have internal linkage on purpose: they are compiled for different instruction sets, and the
// linker must not let one of those stand for the other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "http/h1/head_scan.h"

namespace roost::http::h1 {

template <class Vector>
static inline TextMaps textMapsOf(const char* block) noexcept {
  TextMaps maps{0, 0, 0};
#pragma GCC unroll 4
  for (size_t at = 0; at < 64; at += Vector::kBytes) {
    const auto bytes = Vector::load(block + at);
    maps.odd |= Vector::mask(Vector::greater(Vector::all(0x20), bytes)) << at;  // signed: all from 0x80 on
    maps.cr |= Vector::mask(Vector::equal(bytes, Vector::all('\r'))) << at;
    maps.lf |= Vector::mask(Vector::equal(bytes, Vector::all('\n'))) << at;
  }
  return maps;
}

template <class Vector>
static inline const char* targetStopOf(const char* p, const char* end) noexcept {
  constexpr uint64_t kEveryByte = (uint64_t{1} << Vector::kBytes) - 1;
  for (; p < end; p += Vector::kBytes) {
    const auto bytes = Vector::load(p);
    const auto visible = Vector::greater(bytes, Vector::all(0x20));  // signed: nothing from 0x80 on
    const auto special = Vector::either(
        Vector::equal(bytes, Vector::all('?')),
        Vector::either(Vector::equal(bytes, Vector::all('#')), Vector::equal(bytes, Vector::all(0x7f))));
    const uint64_t stops = Vector::mask(Vector::butNot(visible, special)) ^ kEveryByte;
    if (stops != 0) return p + __builtin_ctzll(stops);
  }
  return end;
}

}  // namespace roost::http::h1
