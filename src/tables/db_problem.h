// From what the database says to what a client is told.
#pragma once

#include "db/error.h"
#include "tables/exposure.h"
#include "tables/problem.h"

namespace roost::tables {

// The problem of a statement that failed. Nothing of the server's message is passed on: constraints and
// columns are named where `table` (nullptr: none in particular) shows them. `wrote`: the statement, or one
// before it in its transaction, may have changed something, so that after a lost connection nobody knows what
// became of it. Code "schema_changed": the schema is another than the one that the statement was made for.
Problem problemOf(const db::Error& error, const ExposedTable* table, bool wrote);

// Seconds for Retry-After; 0: none.
uint32_t retryAfter(const db::Error& error) noexcept;

}  // namespace roost::tables
