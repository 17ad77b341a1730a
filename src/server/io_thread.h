#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/status.h"
#include "event/loop.h"
#include "event/task_pool.h"
#include "http/counters.h"
#include "http/h1/protocol.h"
#include "http/loop_context.h"
#include "metrics/registry.h"
#include "module/registry.h"
#include "net/acceptor.h"
#include "net/evictor.h"
#include "net/fd_handoff.h"
#include "net/io_context.h"
#include "net/load_gate.h"
#include "net/proxy_session.h"
#include "server/housekeeper.h"
#include "server/overload.h"
#include "server/push_ticker.h"

namespace roost::server {

class DatabaseHost;

// What an IO thread is made of.
struct IoThreadOptions {
  uint32_t index = 0;
  uint64_t connection_limit = UINT64_MAX;
  uint32_t linger_ms = 5000;
  uint16_t listener_count = 0;   // connections name the one they came through
  std::optional<int> processor;  // the thread is tied to it
  // What the whole process may still take on, and how late the loop may be (0: as late as it likes).
  const std::atomic<net::Load>* process_load = nullptr;
  uint32_t max_loop_lag_ms = 0;
  net::GrowthListener* growth_listener = nullptr;  // nullptr: nobody cares how much memory is taken
  net::AddressLimit* address_limit = nullptr;
  bool own_fd_table = false;
  push::Hub* hub = nullptr;          // this loop's shard is ticked and stopped here; nullptr: there is none
  DatabaseHost* database = nullptr;  // this loop's pool is started and stopped here
};

// With own_fd_table the thread's first step is to give itself a table of
// descriptors (base/fd_table.h) in which it keeps what all threads share, the descriptors that wake loops,
// and what is its own: its poller and listeners, which then exist nowhere else. Everything it opens later,
// and all it closes, is in its table.
//
// One IO thread and all that lives on its loop. Made, started, joined and destroyed by the main thread, which
// owns it; the registries, the task pool and what `drained` refers to outlive it.
//
// Its end has two steps, so that what other threads still post to its loop is run while everything stands:
//   beginDrain()  it accepts no more and closes what is silent; who is being answered, or waits for an answer
//                 that is being made, has kDrainMs at most; then it calls `drained` once;
//   finish()      when the task pool has ended too: closes the rest, lets modules go, ends the thread.
class IoThread {
 public:
  static constexpr int kDrainMs = 1000;
  static constexpr const char* kCutShortMetric = "roost_answers_cut_short_total";

  // Opens the loop; no thread yet. Errors: out of descriptors.
  static Result<std::unique_ptr<IoThread>> create(Sys& sys, const IoThreadOptions& options,
                                                  event::TaskPool& tasks, module::Registry& modules,
                                                  metrics::Registry& metrics,
                                                  std::shared_ptr<const http::Service> service);
  ~IoThread();  // REQUIRES: never started, or joined
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  // Before start(): that listener speaks this instead of HTTP. `service` outlives this.
  void setSpeaker(uint16_t listener_index, const module::ListenerService& service) {
    protocols_[listener_index].service = &service;
  }
  // Before start(): connections of that listener begin with a PROXY protocol header.
  void expectProxyHeader(uint16_t listener_index, const net::ProxySession::Options& options) {
    protocols_[listener_index].proxy = options;
  }
  // Before start(): where its connections come from, one of these or both.
  Status openHandoff();
  void addListener(net::Listener listener, uint16_t listener_index, const net::CidrSet* blocked);
  net::FdHandoff& handoff() noexcept { return *handoff_; }  // REQUIRES: openHandoff()

  // Starts the thread and returns when its loop is about to run. `shared_fds`: what it keeps in a table of
  // its own beside what belongs to it.
  Status start(const std::vector<int>& shared_fds = {});
  int wakeFd() const noexcept { return loop_->wakeFd(); }
  // Any thread. `drained` is called on the IO thread.
  void beginDrain(std::function<void()> drained);
  void finish() noexcept { loop_->stop(); }  // any thread
  // Any thread. The loop takes part in that round.
  void relieve(net::MemoryRelief& relief);
  net::Evictor& evictor() noexcept { return evictor_; }
  // Before start(): those of all threads whose descriptors are of this one's table.
  void setEvictors(std::vector<net::Evictor*> evictors) { local_sink_.setEvictors(std::move(evictors)); }
  event::Loop& loop() noexcept { return *loop_; }
  void join();

 private:
  class DrainTimer final : public event::Timer {
   public:
    explicit DrainTimer(IoThread& owner) noexcept : owner_(owner) {}
    void onTimer() noexcept override { owner_.checkDrained(); }

   private:
    IoThread& owner_;
  };

  // What the connections of one listener go through, from the last to the first.
  struct ListenerProtocol {
    const module::ListenerService* service = nullptr;  // nullptr: HTTP
    std::optional<net::ProxySession::Options> proxy;
    std::unique_ptr<module::LoopListener> speaker;
    std::unique_ptr<net::ProxySession> proxy_session;
  };

  IoThread(const IoThreadOptions& options, std::unique_ptr<event::Loop> loop, event::TaskPool& tasks,
           module::Registry& modules, metrics::Registry& metrics);
  std::vector<int> ownFds() const;
  void openProtocols();
  Status begin(const std::vector<int>& keep) noexcept;
  void run(const std::vector<int>& keep, std::promise<Status> ready) noexcept;
  void end() noexcept;
  void drain() noexcept;
  void closeSilent() noexcept;
  void checkDrained() noexcept;
  void countCutShort() noexcept;

  // Destroyed from the last to the first: what accepts, then HTTP, then the connections' memory, then the
  // loop. All connections are closed by then (run()).
  const IoThreadOptions options_;
  module::Registry& modules_;
  std::unique_ptr<event::Loop> loop_;
  const net::IoCounters io_counters_;
  const net::AcceptCounters accept_counters_;
  metrics::Counter& cut_short_;
  const http::HttpCounters http_counters_;
  net::LoadGate gate_;
  LagWatch lag_watch_;
  const net::EvictionCounters eviction_counters_;
  net::IoContext io_;
  net::Evictor evictor_;
  http::LoopContext http_;
  http::h1::Protocol protocol_;
  Housekeeper housekeeper_;
  std::vector<ListenerProtocol> protocols_;  // by listener
  net::LocalSink local_sink_;
  std::unique_ptr<net::FdHandoff> handoff_;
  std::vector<std::unique_ptr<net::Acceptor>> acceptors_;
  DrainTimer drain_timer_{*this};
  std::optional<PushTicker> push_ticker_;
  std::function<void()> drained_;
  int64_t drain_deadline_ns_ = 0;
  bool has_own_table_ = false;  // set by the thread before it says that it is ready
  std::thread thread_;
};

}  // namespace roost::server
