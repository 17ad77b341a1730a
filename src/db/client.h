// The client library, MariaDB's or Oracle's, as the rest of this folder sees it.
#pragma once

#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "db/error.h"
#include "db/options.h"

// MariaDB's connector: rows unconverted, a non-blocking interface for all that a statement needs.
#if defined(MARIADB_BASE_VERSION) || defined(MARIADB_PACKAGE_VERSION)
#define ROOST_MARIADB_CLIENT 1
#else
#define ROOST_MARIADB_CLIENT 0
#endif

namespace roost::db {

// What that library calls a truth value: a char of MariaDB's, a bool of Oracle's.
using ClientBool = std::remove_pointer_t<decltype(MYSQL_BIND::is_null)>;

struct CloseMysql {
  void operator()(MYSQL* mysql) const noexcept { mysql_close(mysql); }
};
using MysqlPtr = std::unique_ptr<MYSQL, CloseMysql>;

// The library's error after a failed call, sorted. REQUIRES: there is one.
Error errorOf(MYSQL* mysql);
Error errorOf(MYSQL_STMT* statement);
// A number of the library, or none, means that the connection is dead.
ErrorKind kindOf(uint32_t number) noexcept;

// What a session is opened for.
enum class SessionUse : uint8_t {
  kBlocking,  // on one thread that may wait; bounds each statement by query_timeout_ms itself
  kThread,    // the same, whose statements somebody else bounds
  kLoop,      // for the non-blocking interface, once it is open; REQUIRES: ROOST_MARIADB_CLIENT
};

// An open session as all of ours are, however the server is configured: utf8mb4, the zone, strict mode,
// autocommit, REPEATABLE READ, and what else says what statements mean.
struct Session {
  MysqlPtr mysql;
  size_t max_packet_bytes = 0;  // the server's max_allowed_packet: a longer command would end the connection
  ServerPlace server;
};

// Connects and sets the session up, waiting for it. False: `error` says why (kUnavailable). Any thread.
bool openSession(const Options& options, const Target& target, SessionUse use, Session& session,
                 Error& error);

bool isMariaDb(MYSQL* mysql);

// Beginning a transaction cannot be prepared at MySQL's servers, only at MariaDB's: there it goes as it is.
constexpr std::string_view kStartTransaction = "START TRANSACTION";

// Whether the last result, with that status, says that something is left behind in the session.
bool saysSessionChanged(MYSQL* mysql, uint32_t status);

}  // namespace roost::db
