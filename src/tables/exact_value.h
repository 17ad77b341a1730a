// Values by which a row is found again: they have to be what the database will have made of them.
#pragma once

#include <cstdint>

#include "db/value.h"
#include "tables/exposure.h"
#include "tables/problem.h"

namespace roost::tables {

// Brings a value, which convertText has made, into the one form in which its column keeps it: a DECIMAL
// without what means nothing ("7.10" and "7.1" are one text), BINARY with its zeros, CHAR without its blanks,
// a SET's members in the column's order. False: 400, the column would round it or cut it.
bool makeExact(const Column& column, db::Value& value, Problem& problem);

// Whether rows are found by the column: it is part of a unique key.
bool isInUniqueKey(const Table& table, uint16_t column) noexcept;

}  // namespace roost::tables
