#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/list.h"
#include "base/status.h"
#include "db/error.h"
#include "db/options.h"
#include "db/row.h"
#include "db/value.h"

namespace roost::event {
class Loop;
}
namespace roost::metrics {
class Registry;
}

namespace roost::db {

class Link;
class Pool;
class SpareSessions;
class Work;

// A Work's place in a pool's queue, for the pool alone.
struct WaitPlace : ListHook {
  explicit WaitPlace(Work& of) noexcept : work(of) {}
  Work& work;
  int64_t since_ns = 0;
  uint64_t ticket = 0;  // who came first
  bool any_server = false;
};

// What a statement that came to its end has brought.
struct Outcome {
  uint64_t affected_rows = 0;  // that matched, changed or not (CLIENT_FOUND_ROWS); 0 of a statement with rows
  uint64_t insert_id = 0;      // the first AUTO_INCREMENT value it made; 0: none
  uint64_t rows = 0;           // that were passed to onRow
  uint32_t warnings = 0;
  // The server says that something is left behind in the session: a variable that a trigger has set. Its
  // connection is closed once it comes back.
  bool session_changed = false;
};

// Something that needs a connection: a request that reads, a transaction. Implemented by whoever asks, who
// owns it; one thread, the pool's. Destroying it at any time gives up whatever is under way (Pool::cancel).
// Calls may come from within Pool::request() and from within Link::execute(), so these are the last thing a
// caller does; any of the calls may destroy the Work.
class Work {
 public:
  Work() noexcept = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  virtual ~Work();

  // A connection is there for it, until Link::release().
  virtual void onConnection(Link& link) noexcept = 0;
  // Before the first row of a statement that has rows. `columns` stay until onResult or onError.
  virtual void onColumns(Link& link, const ResultColumns& columns) noexcept;
  // False: no more for now; Link::resume() goes on. Nothing of the connection's may be kept.
  virtual bool onRow(Link& link, const Row& row) noexcept;
  // The statement has ended: the next execute(), or release().
  virtual void onResult(Link& link, const Outcome& outcome) noexcept = 0;
  // There is no connection, or no result. With `link` the statement failed and the connection goes on: as
  // after onResult (an open transaction is still there unless the server rolled it back, see
  // Link::inTransaction). Without, nothing is held any more. Of kTimeout: with `link` the statement has ended
  // without effect, without it that is not known.
  virtual void onError(Link* link, const Error& error) noexcept = 0;

 private:
  friend class Pool;
  Pool* pool_ = nullptr;  // while it waits or holds a connection
  Link* link_ = nullptr;  // while it holds one
  WaitPlace place_{*this};
};

// A connection in the hands of one Work. Loop thread only.
class Link {
 public:
  // Prepares the text where this connection has not, and executes it. One at a time: REQUIRES that the one
  // before has ended. 0: Options::query_timeout_ms.
  virtual void execute(Statement statement, uint32_t timeout_ms = 0) noexcept = 0;
  // After onRow answered false. Not from within onRow.
  virtual void resume() noexcept = 0;
  // Whether the server says that a transaction is open, after the last statement.
  virtual bool inTransaction() const noexcept = 0;
  // The text of the last statement that was executed, until the next; for logs.
  virtual std::string_view lastText() const noexcept { return {}; }
  // Nobody waits for the statement that runs: if it goes on it is killed, as one whose time is over, and its
  // end is told as ever. The next has its own time.
  virtual void hurry() noexcept {}
  // What was executed has changed the session itself: variables, temporary tables, locks. The connection is
  // closed when it is given back, so that nobody else meets that.
  virtual void touched() noexcept {}
  // Gives the connection back; the pool rolls back what is open. The Work is free then, and may ask again.
  virtual void release() noexcept = 0;

 protected:
  ~Link() = default;
};

enum class Role : uint8_t {
  kPrimary,
  kReplica,  // any server will do, since it only reads, in one statement. The primary where no replica can be
             // had. If the connection dies before a row came, it is done once more on another.
};

// The connections of one loop. Owned by the Database; its thread only.
class Pool {
 public:
  virtual ~Pool() = default;

  // Asks for a connection; first come, first served. onConnection or onError follows. REQUIRES: the work
  // waits for none and holds none.
  void request(Work& work, Role role = Role::kPrimary) noexcept;
  // Gives up: no call comes any more. A statement that runs is killed at the server, and its connection is
  // used again when it has ended. Nothing where nothing is under way.
  void cancel(Work& work) noexcept;

 protected:
  virtual void onRequest(Work& work, Role role) noexcept = 0;
  virtual void onCancel(Work& work) noexcept = 0;
  // For implementations: what a Work keeps for them.
  static Link*& linkOf(Work& work) noexcept { return work.link_; }
  static WaitPlace& placeOf(Work& work) noexcept { return work.place_; }
  static void detach(Work& work) noexcept;  // it neither waits nor holds any more
};

// Counted per loop, read by any thread, summed up.
struct Numbers {
  uint64_t connections = 0;  // open now
  uint64_t in_use = 0;
  uint64_t waiting = 0;
  uint64_t statements = 0;  // executed
  uint64_t prepared = 0;    // times that a text had to be prepared
  uint64_t connects = 0;    // that succeeded
  uint64_t connect_failures = 0;
  uint64_t killed = 0;  // statements, by timeout or because the client had gone
  uint64_t queue_full = 0;
  uint64_t queue_timeouts = 0;
  uint64_t lost = 0;  // connections that died in use
  uint64_t leaks_reported = 0;
};

// The database as the process sees it: its servers, the cap on connections that all loops share, and the
// threads that do what blocks (connecting, killing; the driver kThreads). Main thread, made before the loops,
// outlives them.
class Database {
 public:
  // Connects to nobody yet. Counts in `metrics` (roost_mysql_...), which outlives it; nullptr: in some of its
  // own. Errors: no threads, a driver that this build does not have.
  static Result<std::unique_ptr<Database>> create(const Options& options, uint32_t loop_count,
                                                  metrics::Registry* metrics = nullptr);
  virtual ~Database() = default;

  // On the loop's own thread, before its first use and after its last: closes its connections, and whoever
  // waits gets kShutdown.
  virtual void startLoop(event::Loop& loop) noexcept = 0;
  virtual void stopLoop(event::Loop& loop) noexcept = 0;
  virtual Pool& pool(uint32_t loop_index) noexcept = 0;  // for that loop's thread
  virtual Numbers numbers() const noexcept = 0;          // any thread
  virtual const Options& options() const noexcept = 0;
  virtual Driver driver() const noexcept = 0;  // never kAuto
  // For sessions of others' that may end a statement where the server takes no further one.
  virtual std::shared_ptr<SpareSessions> spares() const noexcept = 0;
  // Ends the threads, in bounded time whatever the server does. Main thread, after the loops have ended.
  virtual void stop() noexcept = 0;
};

}  // namespace roost::db
