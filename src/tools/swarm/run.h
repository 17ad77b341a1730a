#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "tools/swarm/proc_watch.h"
#include "tools/swarm/stats.h"
#include "tools/swarm/worker.h"

namespace roost::swarm {

enum class Phase : uint8_t { kConnecting, kSettling, kWarming, kMeasuring, kDraining, kOver };
std::string_view phaseName(Phase phase) noexcept;

// A moment of a run, as the live display and the plot show it.
struct Sample {
  Phase phase = Phase::kConnecting;
  double at_s = 0;         // since the first attempt to connect
  double remaining_s = 0;  // until the end of the run, as far as it is known
  double part = 0;         // of the run that is over, 0 to 1
  uint64_t open = 0, waiting = 0, settled = 0, done = 0;
  uint64_t replies = 0, messages = 0, errors = 0;
  double rate = 0;      // replies, or messages, per second since the sample before
  uint64_t p99_ns = 0;  // of everything measured so far; only where somebody looks
};

// Processor time and memory at the points of a run that matter.
struct Uses {
  ProcessUse before, held, begin, end;
};

// All that is known when a run is over. The totals are the sums of all threads.
struct Outcome {
  Stats total;
  std::vector<Sample> samples;
  Uses server, own;
  KernelUse kernel_before, kernel_held;
  uint64_t held = 0;      // connections open when memory was read
  int64_t begin_ns = 0;   // the first attempt to connect, CLOCK_MONOTONIC
  double connect_s = 0;   // from then to the last connection
  double measured_s = 0;  // the mean of the threads
  uint64_t replies = 0, messages = 0, bytes_in = 0, bytes_out = 0;  // within the measured time
  double replies_per_s = 0, messages_per_s = 0;
  double own_cpu_s = 0;  // of the threads, within it; polling in vain left out
  double server_cpu_s = 0;
  double own_waited_s = 0;  // mean of the threads: ready to run, and something else had the processor
  double server_waited_s = 0;
  bool interrupted = false;
  bool too_few = false;       // clients were connected, and all are required
  bool server_ended = false;  // one of its processes that were to be watched
  bool shared_table = false;  // threads could not have tables of their own
};

// One run: the threads of the clients and of the publisher, and the main thread that leads them through the
// phases. Made and used on the main thread.
class Run {
 public:
  // `interrupts` counts the user's wishes to stop. `watch` is called with each sample, ten times a second.
  Run(const Plan& plan, const std::atomic<int>& interrupts, std::function<void(const Sample&)> watch);
  ~Run();

  // Everything, until all threads have ended. Errors: a thread could not be set up.
  Status execute(Outcome& outcome);

 private:
  struct Thread;
  template <class Make>
  Status startThread(uint32_t index, const Make& make);
  Status startThreads();
  void connectAll(Outcome& outcome);
  void holdStill(Outcome& outcome);
  void load(Outcome& outcome);
  void drain(Outcome& outcome);
  // Waits until `ns`, or until `done` says so, or the user; samples meanwhile. False: the user.
  bool waitUntil(int64_t ns, Phase phase, Outcome& outcome, const std::function<bool(const Sample&)>& done);
  Sample look(Phase phase, Outcome& outcome);
  void setTime(std::atomic<int64_t>& when, int64_t ns) noexcept { when.store(ns, std::memory_order_release); }
  int64_t aheadNs() const noexcept;
  int64_t endOfRunNs() const noexcept;
  void sum(Outcome& outcome);
  static void addCounts(const Stats& stats, Stats& total);
  void addWindow(const Stats& stats, Outcome& outcome) const;

  const Plan& plan_;
  const std::atomic<int>& interrupts_;
  std::function<void(const Sample&)> watch_;
  Control control_;
  std::vector<std::unique_ptr<Thread>> threads_;  // of the workers, and behind them the publisher's
  std::atomic<uint32_t> up_{0};
  int64_t begin_ns_ = 0;
  int64_t next_sample_ns_ = 0;
  int64_t sample_every_ns_ = 100'000'000;
  Sample last_;
  int64_t last_ns_ = 0;
};

}  // namespace roost::swarm
