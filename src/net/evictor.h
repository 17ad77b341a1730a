#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "event/timer_queue.h"
#include "metrics/counter.h"
#include "metrics/registry.h"

namespace roost::net {

class Connection;
class IoContext;

// MemoryRelief is one round of giving memory back, in which every IO loop takes part: each looks at all of
// its connections and says what they hold; when all have said so, each gives its part of what holds most. So
// the dearest connections of the process go first, whichever loops they are on.
//
// Whoever watches the process's memory owns it, starts a round when the one before is over, and outlives the
// loops. Any thread.
class MemoryRelief {
 public:
  // What connections hold: of one loop, or of all.
  struct Holdings {
    uint64_t dear_bytes = 0;  // of all that hold enough to be looked at
    uint64_t dearest = 0;     // of one
    uint64_t idle_bytes = 0;
  };

  // REQUIRES: over().
  void begin(uint64_t wanted_bytes, uint32_t loops) noexcept;
  bool over() const noexcept { return working_.load(std::memory_order_acquire) == 0; }
  uint64_t freedBytes() const noexcept { return freed_.load(std::memory_order_relaxed); }

  // For each loop, in this order.
  void report(const Holdings& holdings) noexcept;
  bool allReported() const noexcept { return reporting_.load(std::memory_order_acquire) == 0; }
  Holdings holdings() const noexcept;
  int64_t wantedBytes() const noexcept { return wanted_.load(std::memory_order_relaxed); }
  void freed(uint64_t bytes) noexcept;
  void leave() noexcept { working_.fetch_sub(1, std::memory_order_release); }

 private:
  std::atomic<int64_t> wanted_{0};  // still to be freed
  std::atomic<uint64_t> freed_{0};
  std::atomic<uint64_t> dear_bytes_{0};
  std::atomic<uint64_t> dearest_{0};
  std::atomic<uint64_t> idle_bytes_{0};
  std::atomic<uint32_t> reporting_{0};  // loops that have not reported yet
  std::atomic<uint32_t> working_{0};    // loops that have not left yet
};

// EvictionCounters are one loop's shards of what its Evictor counts.
struct EvictionCounters {
  explicit EvictionCounters(metrics::Registry& registry)
      : idle(registry.counter(
            {"roost_connections_evicted_total", "Idle connections closed to make room for others.", ""})),
        dear(registry.counter({"roost_connections_reset_for_memory_total",
                               "Connections reset because they held most when memory ran short.", ""})) {}
  metrics::Counter& idle;
  metrics::Counter& dear;
};

// Evictor decides which of a loop's accepted connections go when something runs out. For descriptors and
// places those go that have been idle longest. For memory those go that hold most, or idle ones where all of
// those together hold more. WebSockets, waiting (parked) exchanges and answers under way are not idle: they
// go only where they hold much.
//
// It finds them by walking over all connections, kTurnSlots at a time so that the loop's other work goes on,
// and keeps the best candidates of a walk for later calls.
//
// Owned beside its IoContext, which it must not outlive. Loop thread only, unless it says
// otherwise.
class Evictor final : private event::Timer {
 public:
  explicit Evictor(IoContext& io) noexcept;
  ~Evictor();
  Evictor(const Evictor&) = delete;
  Evictor& operator=(const Evictor&) = delete;

  // Counts there; it outlives this. nullptr, as at first: nowhere.
  void setCounters(const EvictionCounters* counters) noexcept { counters_ = counters; }

  // Closes those that have been idle longest: up to a sixteenth of the loop's connections, and up to
  // kMostIdle. Their descriptors are free at once. Where that takes a walk of several turns,
  // `more_may_follow`.
  struct Evicted {
    size_t closed;
    bool more_may_follow;
  };
  Evicted evictIdle() noexcept;
  // Any thread: has the loop do that soon.
  void askForIdle() noexcept;
  // Takes part in a round, and leaves it when it has given its part or nothing more is wanted.
  void relieve(MemoryRelief& relief) noexcept;
  // How many idle connections it has closed, ever. Any thread.
  uint64_t evictedCount() const noexcept { return evicted_.load(std::memory_order_relaxed); }

  static constexpr uint32_t kTurnSlots = 4096;
  static constexpr size_t kMostIdle = 64;       // of one call
  static constexpr size_t kTurnResets = 64;     // of one turn
  static constexpr uint64_t kLeastDear = 4096;  // bytes; who holds less is left alone

 private:
  struct Candidate {
    uint64_t weight;
    uint32_t slot;
    uint32_t generation;
  };
  // The `most` heaviest of all that are added.
  class Heaviest {
   public:
    void begin(size_t most) noexcept;
    void add(Candidate candidate) noexcept;
    void end() noexcept;  // from here on take() may be called, and add() not
    bool empty() const noexcept { return kept_.empty(); }
    Candidate take() noexcept;  // the heaviest. REQUIRES: !empty()

   private:
    size_t most_ = 0;
    std::vector<Candidate> kept_;  // a heap with the lightest on top; after end() the heaviest stands last
  };

  void onTimer() noexcept override { turn(); }
  void turn() noexcept;
  void beginWalk() noexcept;
  void walkOn() noexcept;
  void look(Connection& connection) noexcept;
  int64_t relieveOn() noexcept;
  bool resetDearest(uint64_t least_bytes) noexcept;
  bool closeIdleForMemory() noexcept;
  size_t closeIdle(size_t most) noexcept;

  static constexpr int64_t kOver = -1;
  static constexpr int64_t kWaitNs = 1'000'000;             // for other loops' reports,
  static constexpr int kMostWaits = 20;                     // which a loop that is stuck does not make
  static constexpr int64_t kIdleWalkPauseNs = 100'000'000;  // after a walk that has found nobody idle
  static constexpr uint64_t kIdleBytes = 128;               // what an idle connection gives back

  IoContext& io_;
  const EvictionCounters* counters_ = nullptr;
  MemoryRelief* relief_ = nullptr;  // that this loop takes part in; nullptr: none
  bool reported_ = false;           // to it
  int waits_ = 0;
  MemoryRelief::Holdings found_;  // by the walk
  bool walking_ = false;
  uint32_t next_slot_ = 0;  // of the walk
  size_t owed_ = 0;         // idle connections to close at the end of the walk
  int64_t next_idle_walk_ns_ = 0;
  Heaviest dear_;
  Heaviest idle_;
  std::atomic<uint64_t> evicted_{0};
  std::atomic<bool> asked_{false};
};

// RoomSeeker asks loops to evict idle connections for somebody who accepts, and knows whether that has
// helped. It belongs to the accepting thread; the evictors outlive it.
class RoomSeeker {
 public:
  void setEvictors(std::vector<Evictor*> evictors) { evictors_ = std::move(evictors); }
  // Returns false where they have been asked before and have found nobody idle since.
  bool ask() noexcept;
  void found() noexcept { has_asked_ = false; }  // there is room again

 private:
  std::vector<Evictor*> evictors_;
  bool has_asked_ = false;
  uint64_t evicted_when_asked_ = 0;
};

}  // namespace roost::net
