// LoopPool's opening and closing of connections.
#include <algorithm>
#include <utility>

#include "db/loop_pool.h"
#include "log/log.h"

namespace roost::db {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kNsPerS = 1'000'000'000;
constexpr int64_t kFirstRetryNs = 250 * kNsPerMs;
constexpr int64_t kLastRetryNs = 32 * kNsPerS;
// Of a server that has accepted some: it is there, and only full.
constexpr int64_t kFullRetryNs = 1 * kNsPerS;
// How long they wait for a server that has failed before and is tried again. One that hangs is not waited
// for.
constexpr int64_t kTrustNs = 250 * kNsPerMs;
// How long somebody has waited before another loop is asked for one of its connections: one of this loop's
// own usually comes back sooner, and costs nothing.
constexpr int64_t kPatienceNs = 5 * kNsPerMs;
constexpr int64_t kQuietNs = 60 * kNsPerS;

}  // namespace

// Answers of other threads, for one connection of a place.
class LoopPool::Connecting final : public ConnectCall {
 public:
  Connecting(LoopPool& pool, Slot& slot) noexcept
      : pool_(pool), slot_(slot), generation_(slot.generation()) {}
  void onConnected(std::unique_ptr<Wire> wire) noexcept override {
    if (pool_.running_ && slot_.generation() == generation_) pool_.onConnected(slot_, std::move(wire));
  }
  void onFailed(const Error& error) noexcept override {
    if (pool_.running_ && slot_.generation() == generation_) pool_.onConnectFailed(slot_, error);
  }

 private:
  LoopPool& pool_;
  Slot& slot_;
  const uint32_t generation_;
};

class LoopPool::Killing final : public KillCall {
 public:
  Killing(LoopPool& pool, Slot& slot) noexcept : pool_(pool), slot_(slot), generation_(slot.generation()) {}
  void onDone(bool killed) noexcept override {
    if (!pool_.running_) return;
    if (killed) pool_.counters_.killed.add();
    slot_.onKillDone(generation_, killed);
  }

 private:
  LoopPool& pool_;
  Slot& slot_;
  const uint32_t generation_;
};

void LoopPool::close(Slot& slot) noexcept {
  const Group group = slot.group();
  --targets_[slot.target()].slots;
  slot.drop();
  free_slots_.insertBefore(slot);
  cap_.give(loop_index_, group);
}

bool LoopPool::closeOldestIdle(Group group) noexcept {
  ListHook& idle = idle_[static_cast<uint32_t>(group)];
  if (!idle.linked()) return false;
  close(static_cast<Slot&>(*idle.prev));
  return true;
}

void LoopPool::openMore() noexcept {
  for (const Group group : {Group::kPrimary, Group::kReplicas}) {
    bool& wants = wants_[static_cast<uint32_t>(group)];
    for (;;) {
      const size_t target = connectingOf(group) < demand(group) ? pickTarget(group) : kNoTarget;
      if (target == kNoTarget) {
        if (std::exchange(wants, false)) cap_.unwant(loop_index_, group);
        break;
      }
      if (!permitted(group, target)) break;
      connect(freeSlot(), target);
    }
  }
}

// Whether one more may be opened. What this loop does not use of the other group goes first; for a replica
// that was full nothing has to go.
bool LoopPool::permitted(Group group, size_t target) noexcept {
  bool& wants = wants_[static_cast<uint32_t>(group)];
  if (wants) return false;
  if (cap_.take(loop_index_, group)) return true;
  if (targets_[target].full) {
    targets_[target].retry_at_ns = nowNs() + kFullRetryNs;
    note(nowNs());  // whoever has waited for it may have to go elsewhere
    return false;
  }
  const Group other = group == Group::kPrimary ? Group::kReplicas : Group::kPrimary;
  if (closeOldestIdle(other) && cap_.take(loop_index_, group)) return true;
  const int64_t patient_until_ns = firstWaiting(group)->since_ns + kPatienceNs;
  if (slotsOf(group) > 0 && nowNs() < patient_until_ns) {
    note(patient_until_ns);
    return false;
  }
  if (cap_.takeOrWant(loop_index_, group, nowNs())) return true;
  wants = true;
  return false;
}

void LoopPool::onGranted(Group group) noexcept {
  if (!running_) return;  // what it had is no longer counted as its own
  wants_[static_cast<uint32_t>(group)] = false;
  const size_t target = connectingOf(group) < demand(group) ? pickTarget(group) : kNoTarget;
  if (target == kNoTarget) {
    cap_.give(loop_index_, group);
    return;
  }
  has_room_made_ = group == Group::kPrimary && restore_at_ns_ != Slot::kNever;
  connect(freeSlot(), target);
  openMore();
}

void LoopPool::onAsked() noexcept {
  if (!running_) return;
  for (const Group group : {Group::kPrimary, Group::kReplicas}) {
    while (cap_.isWanted() && closeOldestIdle(group)) {
    }
  }
}

// Of the servers that may be asked, the one with the fewest connections, in turn. One at a time after a
// failure.
size_t LoopPool::pickTarget(Group group) noexcept {
  const auto open = [this](size_t target) {
    const TargetState& state = targets_[target];
    return !backsOff(target) && (state.failures == 0 || state.connecting == 0);
  };
  if (group == Group::kPrimary) return open(0) && !waits_for_room_ ? 0 : kNoTarget;
  size_t best = kNoTarget;
  const size_t count = targets_.size() - 1;
  for (size_t i = 1; i <= count; ++i) {
    const size_t target = 1 + (last_replica_ + i) % count;
    if (open(target) && (best == kNoTarget || targets_[target].slots < targets_[best].slots)) best = target;
  }
  if (best != kNoTarget) last_replica_ = best - 1;
  return best;
}

Slot& LoopPool::freeSlot() {
  if (!free_slots_.linked()) {
    slots_.push_back(std::make_unique<Slot>(*this));
    return *slots_.back();
  }
  auto& slot = static_cast<Slot&>(*free_slots_.next);
  slot.unlink();
  return slot;
}

// REQUIRES: the permission is there.
void LoopPool::connect(Slot& slot, size_t target) noexcept {
  ++targets_[target].slots;
  ++targets_[target].connecting;
  targets_[target].missed = false;
  if (targets_[target].failures > 0) {
    targets_[target].trusted_until_ns = nowNs() + kTrustNs;
    note(targets_[target].trusted_until_ns);
  }
  slot.beginConnect(target);
  factory_.connect(*loop_, target, std::make_unique<Connecting>(*this, slot));
}

void LoopPool::onConnected(Slot& slot, std::unique_ptr<Wire> wire) noexcept {
  TargetState& target = targets_[slot.target()];
  --target.connecting;
  if (std::exchange(target.told, false)) LOG_INFO("mysql: {} is reached again", labelOf(slot.target()));
  target.failures = 0;
  target.retry_at_ns = 0;
  target.full = false;
  if (slot.target() == 0) has_room_made_ = waits_for_room_ = crowded_ = false;
  counters_.connects.add();
  int64_t expires_ns = Slot::kNever;
  if (const int64_t life_ns = int64_t{options_.lifetime_s} * kNsPerS; life_ns > 0) {
    std::uniform_int_distribution<int64_t> less(0, life_ns / 10);
    expires_ns = nowNs() + life_ns - less(random_);
  }
  const bool revives = slot.revives();
  slot.opened(std::move(wire), expires_ns);
  if (revives) {
    slot.goOn();
    openMore();
  } else {
    cameBack(slot);
  }
}

void LoopPool::onConnectFailed(Slot& slot, const Error& error) noexcept {
  const size_t target = slot.target();
  --targets_[target].connecting;
  counters_.connect_failures.add();
  const bool revives = slot.revives();
  if (!revives && makeRoom(slot, error)) return;
  if (!revives) close(slot);
  const uint32_t open = targets_[target].slots - targets_[target].connecting - (revives ? 1 : 0);
  noteFailure(target, error, open > 0);
  const bool full = isFull(error.number);
  targets_[target].full = target != 0 && full;
  if (target == 0) crowded_ = full && (open > 0 || targets_[0].connecting > 0);
  if (revives) slot.failRevival();
  failHopeless();
  pump();  // reads may go elsewhere now
}

// Where the primary has no room for this loop, and other loops have some of it, they have to share. What one
// of them has given up may go to somebody else before it is asked for: then not at once again. A full replica
// is one that cannot be reached.
bool LoopPool::makeRoom(Slot& slot, const Error& error) noexcept {
  if (slot.target() != 0 || !isFull(error.number)) return false;
  const uint32_t open = targets_[0].slots - targets_[0].connecting - 1;
  if (open > 0 || !cap_.primaryFull(loop_index_)) return false;
  waits_for_room_ = waits_for_room_ || std::exchange(has_room_made_, false);
  --targets_[0].slots;
  tellFailure(0, error, true);
  slot.drop();
  free_slots_.insertBefore(slot);
  restore_at_ns_ = nowNs() + kFullRetryNs;
  note(restore_at_ns_);
  openMore();
  return true;
}

// Attempts that fail together count once.
void LoopPool::noteFailure(size_t target, const Error& error, bool has_others) noexcept {
  TargetState& state = targets_[target];
  last_failure_ = error.message;
  if (backsOff(target)) return;
  const int64_t longest_ns = has_others ? kFullRetryNs : kLastRetryNs;
  const uint32_t doublings = std::min<uint32_t>(state.failures, 10);
  const int64_t delay_ns = std::min(kFirstRetryNs << doublings, longest_ns);
  std::uniform_int_distribution<int64_t> less(0, delay_ns / 5);
  ++state.failures;
  state.retry_at_ns = nowNs() + delay_ns - less(random_);
  note(state.retry_at_ns);
  tellFailure(target, error, has_others);
}

// While others are open it may fail as often as somebody needs one more.
void LoopPool::tellFailure(size_t target, const Error& error, bool has_others) noexcept {
  TargetState& state = targets_[target];
  const bool full = isFull(error.number);
  if (has_others) {
    int64_t& quiet_until_ns = state.quiet_until_ns[full];
    if (nowNs() < quiet_until_ns) return;
    quiet_until_ns = nowNs() + kQuietNs;
  }
  if (has_others && full) {
    LOG_WARN("mysql: {} takes fewer connections than mysql.max_connections ({}): {}", labelOf(target),
             options_.max_connections, error.message);
    return;
  }
  state.told = true;
  LOG_WARN("mysql: {} cannot be reached: {}; again in {} ms", labelOf(target), error.message,
           (state.retry_at_ns - nowNs()) / kNsPerMs);
}

std::string LoopPool::labelOf(size_t target) const {
  return target == 0 ? options_.primary.label() : options_.replicas[target - 1].label();
}

bool LoopPool::revive(Slot& slot) noexcept {
  const Group old_group = slot.group();
  const Group group = groupOf(true);
  if (Slot* idle = takeIdle(group); idle != nullptr) {
    // The other's connection and permission become this one's, whose own are given back.
    const size_t old_target = slot.target();
    slot.takeWire(*idle);
    --targets_[old_target].slots;
    idle->drop();
    free_slots_.insertBefore(*idle);
    cap_.give(loop_index_, old_group);
    slot.goOn();
    return true;
  }
  const size_t target = pickTarget(group);
  if (target == kNoTarget) return false;
  if (group != old_group) cap_.move(loop_index_, old_group, group);
  --targets_[slot.target()].slots;
  connect(slot, target);
  return true;
}

void LoopPool::kill(Slot& slot, const Wire& wire) noexcept {
  factory_.kill(*loop_, slot.target(), wire.server(), wire.threadId(),
                std::make_unique<Killing>(*this, slot));
}

}  // namespace roost::db
