// What the machines that read heads do besides walking the grammar of field lines (field_lines.rl). Internal
// to http/h1 and http/client.
//
// Included by scan_<instruction set>.cc, which has defined with internal linkage
//   Classifier      which of 64 bytes may end a field name, and which a field value,
//   targetStop()    the first byte that is not a plain character of a path,
//   textMaps()      which of up to 64 bytes are CR, LF, or no text.
// The skips may stop too often, never too late: the machine looks at every byte they stop at.
//
// Functions here have internal linkage on purpose: they are compiled for different instruction sets, and the
// linker must not let one of those stand for the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "http/field_table.h"
#include "http/h1/head_scan.h"

namespace roost::http::h1 {
namespace {

inline uint16_t load16(const char* at) noexcept {
  uint16_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

inline uint32_t load32(const char* at) noexcept {
  uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

inline uint64_t load64(const char* at) noexcept {
  uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

inline bool startsWith(const char* at, const char (&text)[5]) noexcept {
  return load32(at) == load32(text);
}
inline bool startsWith(const char* at, const char (&text)[9]) noexcept {
  return load64(at) == load64(text);
}
inline bool startsWith(const char* at, const char (&text)[3]) noexcept {
  return load16(at) == load16(text);
}

// Bitmaps of the 64 bytes from base_ on, made when first asked for: one load serves several tokens, and
// finding the next stop is then a matter of bits, without waiting for the address the last one gave. Reads up
// to 63 bytes past the end. Places are offsets into the head.
class Stops {
 public:
  Stops(const char* data, size_t end) noexcept : data_(data), end_(end) {}

  // The first byte from `at` on where a name (a value) may end, or a place not before the end of the data.
  // REQUIRES: `at` is not before the last one.
  size_t name(size_t at) noexcept { return next<&Stops::name_>(at); }
  size_t value(size_t at) noexcept { return next<&Stops::value_>(at); }

 private:
  template <uint64_t Stops::*kMap>
  size_t next(size_t at) noexcept {
    for (;;) {
      const size_t bit = at - base_;
      if (bit < 64) {
        const uint64_t left = this->*kMap >> bit;
        if (__builtin_expect(left != 0, 1)) return at + static_cast<size_t>(__builtin_ctzll(left));
        at = base_ + 64;
      }
      if (at >= end_) return end_;
      base_ = at;
      classifier_.classify(data_ + at, name_, value_);
    }
  }

  Classifier classifier_{};
  const char* data_;
  size_t end_;
  size_t base_ = ~size_t{0} / 2;  // no place lies in the 64 bytes from here
  uint64_t name_ = 0;
  uint64_t value_ = 0;
};

// Over what is plain from p + 1 on: the last byte before a stop, where p has to stand so that the machine
// looks at the stop next.
[[gnu::noinline]] const char* skipName(const char* p, const char* end) noexcept {
  Stops stops(p, static_cast<size_t>(end - p));
  const char* const stop = p + stops.name(1);
  return (stop < end ? stop : end) - 1;
}
[[gnu::noinline]] const char* skipValue(const char* p, const char* end) noexcept {
  Stops stops(p, static_cast<size_t>(end - p));
  const char* const stop = p + stops.value(1);
  return (stop < end ? stop : end) - 1;
}
inline Field* fieldsOf(HeadFields& head) noexcept {
  return reinterpret_cast<Field*>(&head.fields);
}
inline uint8_t* firstOf(HeadFields& head) noexcept {
  return reinterpret_cast<uint8_t*>(&head.first);
}
inline uint8_t* lastOf(HeadFields& head) noexcept {
  return reinterpret_cast<uint8_t*>(&head.last);
}

// As HeadFields::clear(), but for the text.
inline void clearFields(HeadFields& head) noexcept {
  head.size = 0;
  head.version_minor = 1;
  head.field_count = 0;
  head.present = 0;
  head.repeated = 0;
  std::memset(&head.first, HeadFields::kNoField, sizeof head.first);
}

// Where a machine may look: no byte beyond the limit, so that the outcome does not depend on how the head was
// split.
inline size_t scanEnd(size_t size, const HeadLimits& limits) noexcept {
  return size < limits.max_head_bytes ? size : limits.max_head_bytes;
}
inline uint32_t maxFields(const HeadLimits& limits) noexcept {
  return limits.max_fields < HeadFields::kMaxFields ? limits.max_fields : uint32_t{HeadFields::kMaxFields};
}

// The field lines of the head so far, while more are added.
struct Lines {
  uint32_t count;
  uint64_t present;
};

[[gnu::noinline, gnu::cold]] void linkRepeated(HeadFields& head, FieldId id, uint32_t index) noexcept {
  const auto slot = static_cast<size_t>(id);
  const uint64_t bit = uint64_t{1} << slot;
  const uint8_t before = (head.repeated & bit) != 0 ? lastOf(head)[slot] : firstOf(head)[slot];
  fieldsOf(head)[before].next = static_cast<uint8_t>(index);
  lastOf(head)[slot] = static_cast<uint8_t>(index);
  head.repeated |= bit;
}

// Enters a line in the head. REQUIRES: there is room for one.
inline void addLine(const char* data, HeadFields& head, Lines& lines, size_t name, size_t name_len,
                    size_t value, size_t value_len, const NameMatcher& matcher) noexcept {
  const FieldId id = fieldIdAt(data + name, name_len, matcher);
  fieldsOf(head)[lines.count] = Field{static_cast<uint32_t>(name),
                                      static_cast<uint32_t>(value),
                                      static_cast<uint32_t>(value_len),
                                      static_cast<uint16_t>(name_len),
                                      id,
                                      0};
  const uint64_t bit = uint64_t{1} << static_cast<unsigned>(id);
  if (__builtin_expect((lines.present & bit & ~uint64_t{1}) != 0, 0)) {
    linkRepeated(head, id, lines.count);
  } else {
    firstOf(head)[static_cast<size_t>(id)] = static_cast<uint8_t>(lines.count);
  }
  lines.present |= bit;
  ++lines.count;
}

// Where plainLines() stopped, and whether that is a line begun without fault that only lacks its end.
struct LinesEnd {
  size_t at;
  bool is_cut;
};

// A line so short may be looked at again from its beginning when more of it has come.
constexpr size_t kAgainBytes = 256;

// Takes lines from `at` on as long as they are all there and plain: "name: value" CRLF without whitespace
// around the value but the one space. What stands behind them is for the machine, which goes by the same
// grammar and looks at every byte.
[[gnu::noinline]] LinesEnd plainLines(const char* data, size_t at, size_t end, uint32_t max_fields,
                                      HeadFields& head) noexcept {
  const size_t limit = end - at > UINT16_MAX ? at + UINT16_MAX : end;  // so every name_len fits
  Stops stops(data, limit);
  Lines lines{head.field_count, head.present};
  const NameMatcher matcher;
  size_t reached = at;
  while (lines.count < max_fields) {
    const size_t colon = reached = stops.name(at);
    if (colon == at || !startsWith(data + colon, ": ")) break;
    const size_t value = colon + 2;
    const size_t stop = reached = stops.value(value);
    if (stop + 1 >= limit || !startsWith(data + stop, "\r\n")) break;
    if (data[value] == ' ' || data[stop - 1] == ' ') break;
    addLine(data, head, lines, at, colon - at, value, stop - value, matcher);
    at = stop + 2;
  }
  head.field_count = static_cast<uint8_t>(lines.count);
  head.present = lines.present;
  return {at, reached >= end && at < end && end - at <= kAgainBytes};
}

// Takes the line whose edges the machine has found.
[[gnu::noinline]] bool fieldLine(ScanProgress& progress, const char* data, uint32_t max_fields,
                                 HeadFields& head) noexcept {
  size_t begin = progress.colon + 1;
  size_t end = progress.value_end;
  while (begin < end && (data[begin] == ' ' || data[begin] == '\t')) ++begin;
  while (end > begin && (data[end - 1] == ' ' || data[end - 1] == '\t')) --end;
  const size_t name_len = progress.colon - progress.mark;
  Lines lines{head.field_count, head.present};
  if (name_len > UINT16_MAX || lines.count >= max_fields) {
    progress.error = name_len > UINT16_MAX ? HeadError::kFieldLong : HeadError::kFieldCount;
    return false;
  }
  addLine(data, head, lines, progress.mark, name_len, begin, end - begin, NameMatcher{});
  head.field_count = static_cast<uint8_t>(lines.count);
  head.present = lines.present;
  return true;
}

}  // namespace
}  // namespace roost::http::h1
