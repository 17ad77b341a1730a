// Reads what tables a database has.
#pragma once

#include <memory>
#include <string>

#include "db/connection.h"
#include "tables/catalog.h"

namespace roost::tables {

// Everything that `database` has, as the connection's user may see it, from information_schema. A schema that
// changes meanwhile is read again, a few times. nullptr: `error` says why. Blocks.
std::shared_ptr<const Catalog> loadCatalog(db::Connection& connection, const std::string& database,
                                           const std::string& time_zone, db::Error& error);

// One statement, whose answer changes with every change of the schema that a Catalog would show. False:
// `error` says why. Blocks.
bool readFingerprint(db::Connection& connection, const std::string& database, std::string& fingerprint,
                     db::Error& error);

}  // namespace roost::tables
