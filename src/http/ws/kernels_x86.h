// The loops over payload bytes, for vectors of any width. Each file that includes this has its own
// instruction set and its own Vector: what is here has internal linkage, so that the linker cannot let one
// stand for the other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "http/ws/kernels.h"

namespace roost::http::ws {
namespace {

// Vector: kBytes, Type, load, store, all (of a key), none, differ (xor), either (or), highBits.
template <class Vector>
inline bool maskBy(char* to, const char* from, size_t size, uint32_t key) noexcept {
  constexpr size_t kBytes = Vector::kBytes;
  using Type = typename Vector::Type;
  const Type wide = Vector::all(key);
  Type seen = Vector::none();
  size_t at = 0;
  for (; at + 4 * kBytes <= size; at += 4 * kBytes) {
    const Type a = Vector::differ(Vector::load(from + at), wide);
    const Type b = Vector::differ(Vector::load(from + at + kBytes), wide);
    const Type c = Vector::differ(Vector::load(from + at + 2 * kBytes), wide);
    const Type d = Vector::differ(Vector::load(from + at + 3 * kBytes), wide);
    Vector::store(to + at, a);
    Vector::store(to + at + kBytes, b);
    Vector::store(to + at + 2 * kBytes, c);
    Vector::store(to + at + 3 * kBytes, d);
    seen = Vector::either(seen, Vector::either(Vector::either(a, b), Vector::either(c, d)));
  }
  for (; at + kBytes <= size; at += kBytes) {
    const Type a = Vector::differ(Vector::load(from + at), wide);
    Vector::store(to + at, a);
    seen = Vector::either(seen, a);
  }
  const bool ascii = maskGeneric(to + at, from + at, size - at, key);
  return Vector::highBits(seen) == 0 && ascii;
}

template <class Vector>
inline size_t asciiBy(const char* data, size_t size) noexcept {
  size_t at = 0;
  for (; at + Vector::kBytes <= size; at += Vector::kBytes) {
    const unsigned high = Vector::highBits(Vector::load(data + at));
    if (high != 0) return at + static_cast<size_t>(__builtin_ctz(high));
  }
  return at + asciiGeneric(data + at, size - at);
}

}  // namespace
}  // namespace roost::http::ws
