#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "db/error.h"
#include "db/options.h"
#include "db/row.h"
#include "db/value.h"

namespace roost::db {

class SpareSessions;

// One connection that blocks, for threads that may: reading a schema, killing a statement. One thread at a
// time. Everything goes by prepared statements.
class Connection {
 public:
  // Connects to `target` as `options` say (user, TLS, zone, time limits), within connect_timeout_ms. It is
  // one of `spares` from then on. nullptr: `error` says why.
  static std::unique_ptr<Connection> open(const Options& options, const Target& target, Error& error,
                                          SpareSessions* spares = nullptr);
  virtual ~Connection() = default;

  // Executes, calls `on_row` for each row; `columns` are the result's. False: `error` says why, and where it
  // is kLost the connection is of no use any more. Each statement takes query_timeout_ms at most.
  using OnRow = std::function<void(const ResultColumns& columns, const Row& row)>;
  virtual bool run(const Statement& statement, const OnRow& on_row, Error& error) = 0;

  virtual uint64_t threadId() const noexcept = 0;  // the server's number of this connection
  virtual bool isMariaDb() const noexcept = 0;
  virtual std::string serverVersion() const = 0;
};

}  // namespace roost::db
