#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "db/cap.h"
#include "db/pool.h"
#include "db/pool_counters.h"
#include "db/slot.h"
#include "db/wire.h"
#include "event/loop.h"

namespace roost::db {

// One loop's pool: who waits, who gets which connection, when one is opened and when closed. Owned by the
// Database; loop thread only between start() and stop().
//
// Reads wait for replicas where there are some, and for the primary while none of those can be reached. What
// is lent again is what came back last, so that the others grow old and are closed. One timer serves all
// deadlines: it is set to the earliest, is not moved when that one is met in time, and looks at everything
// when it fires.
class LoopPool final : public Pool, private Cap::Member, private event::Timer {
 public:
  // All of it outlives the pool.
  LoopPool(const Options& options, Cap& cap, WireFactory& factory, metrics::Registry& metrics,
           uint32_t loop_index);
  ~LoopPool() override;

  void start(event::Loop& loop) noexcept;
  void stop() noexcept;  // nothing is called any more, and nothing stays open

  const PoolCounters& counters() const noexcept { return counters_; }

 private:
  friend class Slot;
  class Connecting;
  class Killing;

  struct TargetState {
    uint32_t failures = 0;  // in a row
    int64_t retry_at_ns = 0;
    int64_t trusted_until_ns = 0;  // while it is tried again
    uint32_t slots = 0;            // open or connecting
    uint32_t connecting = 0;
    bool missed = false;                 // somebody has asked for it in vain
    bool full = false;                   // a replica whose last failure was that it takes no more
    bool told = false;                   // that it cannot be reached
    int64_t quiet_until_ns[2] = {0, 0};  // while some are open: of failures, of too many
  };

  // Pool
  void onRequest(Work& work, Role role) noexcept override;
  void onCancel(Work& work) noexcept override;
  // Cap::Member
  void onGranted(Group group) noexcept override;
  void onAsked() noexcept override;
  // event::Timer
  void onTimer() noexcept override;

  // Slots' calls.
  int64_t nowNs() const noexcept { return loop_->nowNs(); }
  void note(int64_t deadline_ns) noexcept;      // the timer fires then at the latest
  void cameBack(Slot& slot) noexcept;           // it can be lent again, or closed
  void close(Slot& slot) noexcept;              // its connection is of no use any more
  bool mustGiveWay(const Slot& slot) noexcept;  // its reader is slow, and somebody waits: one at a time
  bool revive(Slot& slot) noexcept;  // finds another connection for a lent one that has lost its own
  void kill(Slot& slot, const Wire& wire) noexcept;

  void onConnected(Slot& slot, std::unique_ptr<Wire> wire) noexcept;
  void onConnectFailed(Slot& slot, const Error& error) noexcept;

  bool readsGoToReplicas() const noexcept;
  Group groupOf(bool any_server) const noexcept;
  WaitPlace* firstWaiting(Group group) noexcept;
  uint32_t demand(Group group) const noexcept;
  uint32_t slotsOf(Group group) const noexcept;
  uint32_t connectingOf(Group group) const noexcept;
  bool backsOff(size_t target) const noexcept {
    return nowNs() < targets_[target].retry_at_ns && !(crowded_ && target == 0 && targets_[0].slots == 0);
  }
  bool hopeless(Group group) const noexcept;
  Error unavailable() const;
  void refuse(Work& work, Error error) noexcept;
  void leaveQueue(WaitPlace& place) noexcept;
  void failHopeless() noexcept;
  void expireWaiting(int64_t now_ns) noexcept;

  Slot* takeIdle(Group group) noexcept;
  void keepIdle(Slot& slot) noexcept;
  bool closeOldestIdle(Group group) noexcept;
  void pump() noexcept;
  void openMore() noexcept;
  bool permitted(Group group, size_t target) noexcept;
  size_t pickTarget(Group group) noexcept;
  Slot& freeSlot();
  void connect(Slot& slot, size_t target) noexcept;
  void probeMissed(int64_t now_ns) noexcept;
  bool makeRoom(Slot& slot, const Error& error) noexcept;
  void noteFailure(size_t target, const Error& error, bool has_others) noexcept;
  void tellFailure(size_t target, const Error& error, bool has_others) noexcept;
  std::string labelOf(size_t target) const;

  static constexpr size_t kNoTarget = SIZE_MAX;

  const Options& options_;
  Cap& cap_;
  WireFactory& factory_;
  PoolCounters counters_;
  const uint32_t loop_index_;
  event::Loop* loop_ = nullptr;
  bool running_ = false;
  bool pumping_ = false;
  int64_t armed_ns_ = Slot::kNever;
  std::vector<TargetState> targets_;  // the primary, then the replicas
  std::vector<std::unique_ptr<Slot>> slots_;
  ListHook free_slots_;
  ListHook idle_[kGroups];  // the last used first
  ListHook waiting_[2];     // those who need the primary, those who do not
  uint32_t waiting_count_[2] = {0, 0};
  bool wants_[kGroups] = {false, false};
  uint64_t last_ticket_ = 0;
  size_t last_replica_ = 0;
  int64_t restore_at_ns_ = Slot::kNever;  // Cap::restore()
  bool has_room_made_ = false;            // for the primary: another loop has given one up
  bool waits_for_room_ = false;           // that was in vain: until restore_at_ns_
  bool crowded_ = false;  // the primary had room for some of this loop's, and not for one more
  int64_t gave_way_ns_ = 0;
  std::string last_failure_;
  std::minstd_rand random_;
};

}  // namespace roost::db
