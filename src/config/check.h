// Checking a tree against the schema, in words and with places. For this folder only.
#pragma once

#include "config/diagnostics.h"
#include "config/schema_impl.h"
#include "config/value.h"

namespace roost::config {

// Adds an error for each thing that is wrong: unknown keys with a suggestion, types, ranges, enumerations,
// patterns, lengths, missing keys, routes without exactly one handler. On the way values take the form the
// schema means: switches become booleans, whole numbers integers, strings made of one ${reference} the number
// or boolean they spell.
void checkTree(Value& root, const SchemaImpl& schema, Errors& errors);

}  // namespace roost::config
