#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "db/client.h"
#include "db/killer.h"
#include "db/loop_wire.h"
#include "db/pending_calls.h"
#include "db/spare_sessions.h"
#include "db/thread_wire.h"
#include "db/wire.h"
#include "event/loop.h"

namespace roost::db {

namespace {

constexpr std::chrono::seconds kStopWithin{2};

struct Worker {
  std::thread thread;
  bool done = false;  // it has only to be joined, which takes no time
};

// What the threads stand on. It outlives them, and they may outlive the factory: one that hangs in the
// resolver of names cannot be ended.
struct Ground {
  Ground(const Options& from, Driver which, std::shared_ptr<SpareSessions> spare)
      : options(from),
        driver(which),
        spares(spare != nullptr ? std::move(spare) : std::make_shared<SpareSessions>()) {
    targets.push_back(options.primary);
    targets.insert(targets.end(), options.replicas.begin(), options.replicas.end());
    connecting.resize(targets.size());
    killers.resize(targets.size());
  }

  const Options options;
  const Driver driver;
  const std::shared_ptr<SpareSessions> spares;
  std::vector<Target> targets;
  PendingCalls calls;

  std::mutex mutex;  // of the rest
  std::condition_variable ended;
  std::list<Worker> workers;
  std::vector<uint32_t> connecting;  // threads, per target
  std::vector<std::unique_ptr<Killer>> killers;
  bool watched = false;
  bool stopping = false;
};

void joinDone(std::list<Worker>& workers) {
  workers.remove_if([](Worker& worker) {
    if (worker.done && worker.thread.joinable()) worker.thread.join();
    return worker.done;
  });
}

// False: the system has none. REQUIRES: the lock.
template <class Work>
bool startThread(const std::shared_ptr<Ground>& ground, Work work) {
  joinDone(ground->workers);
  Worker& worker = ground->workers.emplace_back();
  try {
    worker.thread = std::thread([ground, &worker, work = std::move(work)]() mutable {
      work();
      const std::lock_guard<std::mutex> lock(ground->mutex);
      worker.done = true;
      ground->ended.notify_all();
    });
  } catch (const std::system_error&) {
    ground->workers.pop_back();
    return false;
  }
  return true;
}

// Carries a session to its loop; its thread ends where it never gets there.
class Handover {
 public:
  explicit Handover(std::shared_ptr<ThreadSession> session) noexcept : session_(std::move(session)) {}
  Handover(Handover&&) noexcept = default;
  Handover& operator=(Handover&&) = delete;
  ~Handover() {
    if (session_ != nullptr) session_->leave();
  }
  std::unique_ptr<Wire> arrive() noexcept { return makeThreadWire(std::move(session_)); }

 private:
  std::shared_ptr<ThreadSession> session_;
};

// Hands a session over by which its loop itself works.
void handToLoop(Ground& ground, uint64_t id, Session session) {
#if ROOST_MARIADB_CLIENT
  auto carried = std::make_shared<Session>(std::move(session));  // closed here where nobody waits any more
  ground.calls.connected(id, [&](event::Loop& loop, std::unique_ptr<ConnectCall> call) {
    loop.post(event::makeTask(
        [&loop, carried, call = std::move(call), max_statements = ground.options.max_statements] {
          call->onConnected(makeLoopWire(loop, std::move(*carried), max_statements));
        }));
  });
#else
  (void)ground, (void)id, (void)session;
#endif
}

// Hands it over, and executes what comes on this thread.
void handAndServe(Ground& ground, uint64_t id, Session session) {
  std::shared_ptr<ThreadSession> served;
  const bool wanted = ground.calls.connected(id, [&](event::Loop& loop, std::unique_ptr<ConnectCall> call) {
    served = makeThreadSession(loop, std::move(session), ground.options.max_statements);
    loop.post(event::makeTask([handover = Handover(served), call = std::move(call)]() mutable {
      call->onConnected(handover.arrive());
    }));
  });
  if (wanted) served->serve();
}

void connectOnThread(Ground& ground, size_t target, uint64_t id) {
  const bool on_loop = ground.driver == Driver::kLoop;
  Session session;
  Error error;
  const bool open = openSession(ground.options, ground.targets[target],
                                on_loop ? SessionUse::kLoop : SessionUse::kThread, session, error);
  {
    const std::lock_guard<std::mutex> lock(ground.mutex);
    --ground.connecting[target];
  }
  if (!open) {
    ground.calls.failed(id, error);
  } else if (on_loop) {
    handToLoop(ground, id, std::move(session));
  } else {
    handAndServe(ground, id, std::move(session));
  }
}

class Factory final : public WireFactory {
 public:
  Factory(const Options& options, Driver driver, std::shared_ptr<SpareSessions> spares)
      : ground_(std::make_shared<Ground>(options, driver, std::move(spares))) {}
  ~Factory() override { stop(); }

  void connect(event::Loop& loop, size_t target, std::unique_ptr<ConnectCall> call) noexcept override;
  void kill(event::Loop& loop, size_t target, const ServerPlace& server, uint64_t thread_id,
            std::unique_ptr<KillCall> call) noexcept override;
  void forget(event::Loop& loop) noexcept override { ground_->calls.forget(loop); }
  void stop() noexcept override;

 private:
  const char* startConnecting(size_t target, uint64_t id);
  bool startWatching();

  std::shared_ptr<Ground> ground_;
};

void Factory::connect(event::Loop& loop, size_t target, std::unique_ptr<ConnectCall> call) noexcept {
  const uint32_t ms = ground_->options.connect_timeout_ms;
  const auto deadline = ms == 0 ? PendingCalls::Clock::time_point::max()
                                : PendingCalls::Clock::now() + std::chrono::milliseconds(ms);
  const uint64_t id = ground_->calls.add(loop, std::move(call), deadline);
  const std::lock_guard<std::mutex> lock(ground_->mutex);
  if (ground_->stopping) return;
  const char* const refused = startConnecting(target, id);
  if (refused != nullptr) ground_->calls.failed(id, {ErrorKind::kUnavailable, 0, "HY000", refused});
}

bool Factory::startWatching() {
  if (!ground_->watched) {
    ground_->watched = startThread(ground_, [ground = ground_] { ground->calls.watch(); });
  }
  return ground_->watched;
}

// Why it is not, or nullptr. REQUIRES: the lock.
const char* Factory::startConnecting(size_t target, uint64_t id) {
  // So many hang that one more would hang too, and the threads have to have a bound.
  if (ground_->connecting[target] >= ground_->options.max_connections) return "all connects are hanging";
  if (!startWatching()) return "no thread";
  ++ground_->connecting[target];
  if (startThread(ground_, [ground = ground_, target, id] { connectOnThread(*ground, target, id); })) {
    return nullptr;
  }
  --ground_->connecting[target];
  return "no thread";
}

void Factory::kill(event::Loop& loop, size_t target, const ServerPlace& server, uint64_t thread_id,
                   std::unique_ptr<KillCall> call) noexcept {
  const uint64_t id = ground_->calls.add(loop, std::move(call));
  const std::lock_guard<std::mutex> lock(ground_->mutex);
  if (ground_->stopping) return;
  auto& killer = ground_->killers[target];
  if (killer == nullptr) {
    killer = std::make_unique<Killer>(ground_->options, ground_->targets[target], *ground_->spares,
                                      ground_->calls);
    if (!startThread(ground_, [ground = ground_, running = killer.get()] { running->run(); })) {
      killer.reset();
      ground_->calls.killed(id, false);
      return;
    }
  }
  killer->kill(server, thread_id, id);
}

void Factory::stop() noexcept {
  ground_->calls.close();
  std::unique_lock<std::mutex> lock(ground_->mutex);
  if (std::exchange(ground_->stopping, true)) return;
  for (const auto& killer : ground_->killers) {
    if (killer != nullptr) killer->close();
  }
  const auto all_done = [this] {
    const auto& workers = ground_->workers;
    return std::all_of(workers.begin(), workers.end(), [](const Worker& worker) { return worker.done; });
  };
  ground_->ended.wait_for(lock, kStopWithin, all_done);
  joinDone(ground_->workers);
  for (Worker& worker : ground_->workers) {
    if (worker.thread.joinable()) worker.thread.detach();  // it hangs; what it stands on it shares
  }
}

}  // namespace

bool hasLoopDriver() noexcept {
  return ROOST_MARIADB_CLIENT != 0;
}

std::unique_ptr<WireFactory> makeWireFactory(const Options& options, Driver driver,
                                             std::shared_ptr<SpareSessions> spares) {
  return std::make_unique<Factory>(options, driver, std::move(spares));
}

}  // namespace roost::db
