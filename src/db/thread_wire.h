#pragma once

#include <memory>

#include "db/client.h"
#include "db/wire.h"

namespace roost::db {

// What a wire and the thread that executes its statements have between them.
class ThreadSession {
 public:
  virtual ~ThreadSession() = default;
  // The thread's work: until the wire has gone, in bounded time then.
  virtual void serve() = 0;
  // There will be no wire: serve() ends. Any thread.
  virtual void leave() noexcept = 0;
};

// REQUIRES: the session was opened for it (SessionUse::kThread). Any thread; the wire is for the loop's.
std::shared_ptr<ThreadSession> makeThreadSession(event::Loop& loop, Session session, size_t max_statements);
// The loop's thread, once per session.
std::unique_ptr<Wire> makeThreadWire(std::shared_ptr<ThreadSession> session);

}  // namespace roost::db
