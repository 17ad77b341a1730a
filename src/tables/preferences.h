#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace roost::tables {

// What a client asks for by Prefer (RFC 7240), in PostgREST's words.
struct Preferences {
  enum class Return : uint8_t { kUnsaid, kMinimal, kHeadersOnly, kRepresentation } returns = Return::kUnsaid;
  enum class Count : uint8_t { kNone, kExact, kPlanned, kEstimated } count = Count::kNone;
  enum class Resolution : uint8_t { kNone, kMerge, kIgnore } resolution = Resolution::kNone;
  enum class Missing : uint8_t { kUnsaid, kDefault, kNull } missing = Missing::kUnsaid;
  bool strict = false;    // handling=strict: what is not known is refused
  bool rollback = false;  // tx=rollback: nothing stays
  std::optional<uint64_t> max_affected;
  std::string unknown;  // those that mean nothing here, for handling=strict
};

// Adds what one Prefer field says. The first of contradicting ones counts.
void readPreferences(std::string_view field, Preferences& out);
// The value of Preference-Applied; empty: none was.
std::string appliedPreferences(const Preferences& preferences, bool is_write);

// Which rows: by Range ("0-24", unit "items") or by limit and offset.
struct RowRange {
  uint64_t first = 0;
  std::optional<uint64_t> last;  // inclusive
};

}  // namespace roost::tables
