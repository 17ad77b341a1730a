#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "config/node.h"
#include "event/loop.h"
#include "event/task_pool.h"
#include "metrics/registry.h"
#include "module/registry.h"
#include "net/acceptor.h"
#include "server/database_host.h"
#include "server/heap_watch.h"
#include "server/io_thread.h"
#include "server/overload.h"
#include "server/pid_file.h"
#include "server/push_host.h"
#include "server/reserve_watch.h"
#include "server/server_config.h"
#include "server/signals.h"

namespace roost::server {

// The running server: listeners, IO threads, task threads and the main loop, which accepts (in handoff mode)
// and hears signals. One per process, on the main thread. REQUIRES: Signals::block() has been called.
class Server final : private SignalListener {
 public:
  // `registry`, and what `root` belongs to, outlive the server.
  Server(ServerConfig config, config::Node root, module::Registry& registry, Sys& sys);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Opens what may take root to open: the pid file and the listeners. Starts no thread. The error is one
  // line.
  Status open();
  // Gives the Unix sockets' files to a user, as whom the server is going to run. REQUIRES: open() was called.
  Status giveSockets(uid_t user, gid_t group) const;
  // Opens the rest and starts the threads. `gave_up_root`: root has started the process, which is another
  // user since. After an error what had begun has ended again. REQUIRES: open() has succeeded.
  Status start(bool gave_up_root);
  // What was opened: "http://127.0.0.1:4507/ unix:/run/roost.sock (pid 1, 2 IO threads, handoff)".
  std::string description() const;
  // What its threads count.
  const metrics::Registry& metrics() const noexcept { return metrics_; }
  // The listeners that other machines can reach, for the log; empty where there is none.
  std::string exposure() const;
  // Serves until a signal ends it. REQUIRES: start() has succeeded.
  void run();

 private:
  push::Hub* hub() noexcept { return push_host_ != nullptr ? &push_host_->hub() : nullptr; }
  bool capsMemory() const noexcept { return config_.max_memory_bytes != 0U; }
  void makeMemoryWatch();
  void startMemoryWatch();
  void watchHeap();
  Status openListeners();
  Status openDatabase();
  void openReusePort();
  std::vector<net::Evictor*> evictors() const;
  Status openHandoff();
  Status openThreads();
  Status startThreads();
  void setProtocols(IoThread& thread);
  void onSignal(int number) noexcept override;
  void beginStop(int signal_number);
  void finishStop();
  void endThreads() noexcept;

  static constexpr size_t kTaskQueueLimit = 4096;

  const ServerConfig config_;
  PidFile pid_file_;
  const config::Node root_;
  module::Registry& registry_;
  Sys& sys_;

  metrics::Registry metrics_;
  const net::AcceptCounters accept_counters_{metrics_};
  std::unique_ptr<event::Loop> main_loop_;
  Signals signals_;
  std::atomic<net::Load> memory_load_{net::Load::kFine};
  std::unique_ptr<HeapWatch> heap_watch_;
  std::unique_ptr<MemoryWatch> memory_watch_;
  std::unique_ptr<ReserveWatch> reserve_watch_;
  std::unique_ptr<PushHost> push_host_;  // and the hub, where a module uses it
  DatabaseHost database_;                // and the database, where a module uses it
  std::unique_ptr<event::TaskPool> tasks_;
  std::vector<net::SocketAddress> addresses_;       // as bound
  std::vector<std::vector<net::Listener>> opened_;  // per listener: one, or one for each IO thread
  std::vector<std::unique_ptr<IoThread>> threads_;
  std::unique_ptr<net::RoundRobinSink> sink_;
  std::vector<std::unique_ptr<net::Acceptor>> acceptors_;
  size_t drained_ = 0;  // IO threads
  bool stopping_ = false;
  std::thread stopper_;  // waits for the other threads' ends, so that the main loop goes on hearing signals
};

}  // namespace roost::server
