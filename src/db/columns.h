// What the client library tells of a result's columns, in our words.
#pragma once

#include <cstddef>
#include <cstdint>

#include "db/client.h"
#include "db/row.h"

namespace roost::db {

ResultColumn columnOf(const MYSQL_FIELD& field);

// Bytes of a value in the binary protocol; kCounted: its length stands before it.
constexpr int8_t kCounted = -1;
int8_t widthOf(enum_field_types type) noexcept;

// The length of a counted value, and how many bytes tell it.
struct Counted {
  uint64_t size;
  size_t skip;
};
Counted countedAt(const unsigned char* bytes) noexcept;

// As the binary protocol has it, into `out` of 12 bytes; how many. For a library that unpacks.
size_t packMoment(const MYSQL_TIME& time, bool is_span, char* out) noexcept;

}  // namespace roost::db
