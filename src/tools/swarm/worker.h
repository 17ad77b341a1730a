#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "event/loop.h"
#include "net/io_context.h"
#include "tools/swarm/client.h"
#include "tools/swarm/payload.h"
#include "tools/swarm/scenario.h"
#include "tools/swarm/schedule.h"
#include "tools/swarm/stats.h"

namespace roost::swarm {

class HeadReader;

// When the phases of a run begin and end, on the monotonic clock. The main thread sets them, in advance; the
// workers look at them now and then (Plan::tickNs).
struct Control {
  static constexpr int64_t kNever = INT64_MAX;
  std::atomic<int64_t> connect_from_ns{kNever};
  std::atomic<int64_t> load_from_ns{kNever};
  std::atomic<int64_t> measure_from_ns{kNever};
  std::atomic<int64_t> measure_to_ns{kNever};  // nothing is asked any more
  std::atomic<int64_t> end_ns{kNever};         // everything is closed
  std::atomic<uint64_t> published{0};          // messages that the publisher has sent; set by its thread
};

// What the first answer was, whoever got it: the later ones have to be the same.
struct Agreed {
  static constexpr int64_t kNothing = -1;
  std::atomic<int64_t> bytes{kNothing};
  std::atomic<uint64_t> hash{0};
};

// What all workers share; none changes anything but `agreed`.
struct Plan {
  Scenario scenario;
  uint32_t threads = 1;
  std::vector<net::SocketAddress> sources;  // the clients take turns; empty: the system chooses
  std::string request;                      // the bytes of an http request or a handshake
  size_t client_at = std::string::npos;     // where in `request` the client's number goes
  Payload payload;
  mutable Agreed agreed;

  // How often a thread looks at the phases. The more threads there are the more rarely each does: a hundred
  // of them on two processors would otherwise spend a tenth of one on it.
  int64_t tickNs() const noexcept {
    return std::clamp<int64_t>(int64_t{threads} * 500'000, 10'000'000, 100'000'000);
  }
  // The same while connections are to be opened.
  int64_t openingTickNs() const noexcept {
    return std::clamp<int64_t>(int64_t{threads} * 500'000, 1'000'000, 10'000'000);
  }

  explicit Plan(Scenario wanted) : scenario(std::move(wanted)), payload(scenario.message_bytes) {}
};

// One thread's clients, on a loop of its own: opens their connections, makes them ask when it is time, and
// counts. Made and run on its thread; `plan`, `control` and `stats` outlive it.
class Worker final : private event::Timer {
 public:
  static Result<std::unique_ptr<Worker>> create(Sys& sys, const Plan& plan, const Control& control,
                                                uint32_t index, Stats& stats);
  ~Worker();

  void run() noexcept;  // until everything is closed
  // For tests that drive the loop themselves.
  event::Loop& loop() noexcept { return *loop_; }
  net::IoContext& context() noexcept { return *context_; }
  bool finished() const noexcept { return finished_; }

  // ---- for the clients ----
  const Plan& plan() const noexcept { return plan_; }
  const Scenario& scenario() const noexcept { return plan_.scenario; }
  Stats& stats() noexcept { return stats_; }
  int64_t clockNs() const noexcept { return loop_->sys().monotonicNs(); }
  bool measuring(int64_t now_ns) const noexcept {
    return now_ns >= measure_from_ns_ && now_ns < measure_to_ns_;
  }
  bool over() const noexcept { return closing_; }
  // How many messages every client should have had; 0: any number.
  uint64_t expectedMessages() const noexcept;
  // Whether a message comes from before this run: a channel may have kept those of an earlier one.
  bool isStale(int64_t sent_ns) const noexcept { return sent_ns < connect_from_ns_; }
  HeadReader& heads() noexcept { return *heads_; }
  // The length, and the content's hash, that answers must have; that of the first one where it is not told.
  uint64_t expectedBytes(uint64_t first) noexcept;
  uint64_t expectedHash(uint64_t first) noexcept;
  std::string& scratch() noexcept { return scratch_; }  // for bytes that are made to be sent at once
  uint32_t runIndex(uint32_t own_index) const noexcept { return own_index * plan_.threads + index_; }

  void onReady(Client& client) noexcept;
  void onAnswered(Client& client) noexcept;
  void onPart(const Client& client) noexcept;  // one of several pipelined answers, not the last
  // Pipelined requests that the server will not answer: it ends the connection before.
  void onInVain(const Client& client, uint32_t requests) noexcept;
  void onClosed(Client& client) noexcept;
  void onTimeout(Client& client) noexcept;
  void onDone(Client& client) noexcept;
  // A listening client's ask(), after the time to think; nothing where it is over or has lost its connection
  // by then.
  void askLater(Client& client) noexcept { thinkUntil(client, clockNs() + scenario().think_ns); }
  void count(ErrorKind kind, const Client& client, const std::string& detail) noexcept;
  // Keeps the detail of something that is counted later.
  void note(ErrorKind kind, const Client& client, const std::string& detail) noexcept;

 private:
  Worker(const Plan& plan, const Control& control, uint32_t index, Stats& stats);
  struct Later {
    int64_t due_ns;
    Client* client;
  };

  void onTimer() noexcept override;
  void wakeBy(int64_t ns) noexcept;
  int64_t nextWakeNs(int64_t now_ns) const noexcept;
  void readControl(int64_t now_ns) noexcept;
  void openMore(int64_t now_ns) noexcept;
  void open(Client& client) noexcept;
  void settle(Client& client) noexcept;
  void beginLoad(int64_t now_ns) noexcept;
  void askAtEnd() noexcept;
  void pace(int64_t now_ns) noexcept;
  void goOn(Client& client, int64_t now_ns) noexcept;
  void ask(Client& client, int64_t due_ns, int64_t now_ns) noexcept;
  void retry(int64_t now_ns) noexcept;
  void thinkUntil(Client& client, int64_t ns) noexcept;
  void think(int64_t now_ns) noexcept;
  void mark(WindowMark& mark, int64_t now_ns) noexcept;
  void spin() noexcept;
  void closeAll() noexcept;
  void noteStall(int64_t now_ns) noexcept;
  void countUnsent(int64_t now_ns) noexcept;
  bool ownFault(const Client& client, int64_t due_ns) const noexcept;
  uint64_t dueOf(const Client& client, int64_t until_ns) const noexcept;

  static constexpr int64_t kStallNs = 20'000'000;   // this thread came so late that it could not do its part
  static constexpr uint32_t kMostConnecting = 256;  // attempts under way, where no rate is given

  const Plan& plan_;
  const Control& control_;
  Stats& stats_;
  uint32_t index_;
  Schedule schedule_;
  std::unique_ptr<event::Loop> loop_;
  std::unique_ptr<net::IoContext> context_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::deque<Later> thinking_;  // by time
  std::deque<Later> away_;      // clients that try again, by time
  std::unique_ptr<HeadReader> heads_;
  std::string scratch_;
  uint64_t expected_bytes_ = 0;
  uint64_t expected_hash_ = 0;
  bool knows_bytes_ = false;
  bool knows_hash_ = false;

  int64_t connect_from_ns_ = Control::kNever;
  int64_t load_from_ns_ = Control::kNever;
  int64_t measure_from_ns_ = Control::kNever;
  int64_t measure_to_ns_ = Control::kNever;
  int64_t end_ns_ = Control::kNever;
  int64_t armed_ns_ = Control::kNever;
  int64_t stall_from_ns_ = 0, stall_to_ns_ = 0;  // the last one
  int64_t idle_ns_ = 0;                          // polled in vain
  uint64_t paced_ = 0;                           // requests of the schedule that have come due
  uint32_t opened_ = 0;                          // clients that have been told to connect
  uint32_t connecting_ = 0;                      // attempts under way
  uint32_t done_ = 0;
  bool loading_ = false;
  bool asked_at_end_ = false;
  bool closing_ = false;
  bool finished_ = false;
};

}  // namespace roost::swarm
