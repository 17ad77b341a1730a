// The seam between the pool, which decides who gets which connection, and what carries one. Two things stand
// behind it: the client library's non-blocking interface on the loop, and a thread per connection. Tests put
// a scripted one there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "db/error.h"
#include "db/options.h"
#include "db/pool.h"
#include "db/row.h"
#include "db/value.h"

namespace roost::event {
class Loop;
}

namespace roost::db {

class SpareSessions;

// Told of what happens on one Wire, on its loop's thread. Calls may come from within Wire::execute() and
// Wire::resume(); a Wire may be destroyed from within any of them.
class WireListener {
 public:
  virtual void onColumns(const ResultColumns& columns) noexcept = 0;
  virtual bool onRow(const Row& row) noexcept = 0;  // false: wait for resume()
  virtual void onResult(const Outcome& outcome) noexcept = 0;
  // kStatement, kTimeout (a limit of the server's own), kTooLarge: it can be used again. kLost: it cannot.
  virtual void onError(const Error& error) noexcept = 0;
  virtual void onIdleClosed() noexcept = 0;  // the server ended it while nothing was under way

 protected:
  ~WireListener() = default;
};

// An established connection and its prepared statements. Owned by the pool of a loop; its thread only.
class Wire {
 public:
  virtual ~Wire() = default;  // closes it, without waiting for anything
  virtual void setListener(WireListener& listener) noexcept = 0;
  // Prepares where need be (once more where the server has forgotten the statement), then executes.
  // `statement` stays until the end. REQUIRES: nothing is under way.
  virtual void execute(const Statement& statement) noexcept = 0;
  virtual void resume() noexcept = 0;  // after onRow answered false
  // A look at the socket without waiting: false when the server has closed it or said something unasked, or
  // when the connection is better not kept (a giant row has left it too much memory).
  virtual bool alive() noexcept = 0;
  // After the last statement; after one that failed, what it was before, since the server does not say.
  virtual bool inTransaction() const noexcept = 0;
  virtual uint64_t threadId() const noexcept = 0;  // the server's number of it
  virtual const ServerPlace& server() const noexcept = 0;
  virtual uint64_t prepares() const noexcept = 0;  // how many statements it has prepared so far
};

// The answer to WireFactory::connect, on the loop's thread.
class ConnectCall {
 public:
  virtual ~ConnectCall() = default;
  virtual void onConnected(std::unique_ptr<Wire> wire) noexcept = 0;
  virtual void onFailed(const Error& error) noexcept = 0;
};

// The answer to WireFactory::kill, on the loop's thread. Only when it has been carried out may the connection
// execute anything else, since a kill that comes late hits whatever runs. `killed` false: it could not be, or
// nobody knows; then never.
class KillCall {
 public:
  virtual ~KillCall() = default;
  virtual void onDone(bool killed) noexcept = 0;
};

// Makes wires and ends statements: what blocks, on threads of its own. A loop's calls come from its thread,
// whose table of descriptors the threads share that are started for it.
class WireFactory {
 public:
  virtual ~WireFactory() = default;
  // target 0: the primary; others: replicas, in their order. Exactly one answer, unless the factory or the
  // loop ends first; then the call is destroyed.
  virtual void connect(event::Loop& loop, size_t target, std::unique_ptr<ConnectCall> call) noexcept = 0;
  // KILL QUERY, at once, however many connects are hanging, and at that server of the target's alone. What
  // that statement's wire tells is how it ended. Exactly one answer, as of connect().
  virtual void kill(event::Loop& loop, size_t target, const ServerPlace& server, uint64_t thread_id,
                    std::unique_ptr<KillCall> call) noexcept = 0;
  // The loop is about to end: its calls are destroyed unanswered, and none follow. On its thread.
  virtual void forget(event::Loop& loop) noexcept { (void)loop; }
  virtual void stop() noexcept = 0;  // ends the threads in bounded time; idempotent
};

// Whether the client library of this build has a non-blocking interface (Driver::kLoop).
bool hasLoopDriver() noexcept;
// `driver` is not kAuto. Statements are ended by `spares`, too, where no session is to be had for that.
std::unique_ptr<WireFactory> makeWireFactory(const Options& options, Driver driver,
                                             std::shared_ptr<SpareSessions> spares = nullptr);

}  // namespace roost::db
