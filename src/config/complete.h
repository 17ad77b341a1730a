// From what the files say to what the server runs with. For this folder only.
#pragma once

#include <string>

#include "config/diagnostics.h"
#include "config/schema_impl.h"
#include "config/value.h"

namespace roost::config {

// Moves old spellings to their keys and spells out the short form of a listener. REQUIRES: checkTree() found
// nothing. Errors: an old and a new spelling together; "listen" beside "address" or "port"; "unix" beside
// either.
void normaliseTree(Value& root, const SchemaImpl& schema, Errors& errors);

// Fills in every default and the values that null inherits, and brings keys into the schema's order.
// REQUIRES: normaliseTree() succeeded.
void completeTree(Value& root, const SchemaImpl& schema);

// Makes relative paths absolute. REQUIRES: completeTree() ran.
void resolvePaths(Value& value, const SchemaJson& schema, const std::string& base_directory);

}  // namespace roost::config
