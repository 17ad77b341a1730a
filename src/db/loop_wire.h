#pragma once

#include <memory>

#include "db/client.h"
#include "db/wire.h"

#if ROOST_MARIADB_CLIENT
namespace roost::db {

// A wire on MariaDB's non-blocking interface. REQUIRES: the session was opened for it (SessionUse::kLoop);
// the loop's thread.
std::unique_ptr<Wire> makeLoopWire(event::Loop& loop, Session session, size_t max_statements);

}  // namespace roost::db
#endif
