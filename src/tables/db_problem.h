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

// Of whom there is no schema to answer with yet: why it could not be read.
Problem schemaProblemOf(const db::Error& error);

// The error as far as it is known what became of a statement that `may_be_done`: one that ran out of time has
// had no effect only where the server itself says that it interrupted it (`has_link`), and never where it
// `commits`. Otherwise kLost.
db::Error asFarAsKnown(const db::Error& error, bool has_link, bool may_be_done, bool commits);

// Seconds for Retry-After; 0: none.
uint32_t retryAfter(const db::Error& error) noexcept;

}  // namespace roost::tables
