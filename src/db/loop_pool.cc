#include "db/loop_pool.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace roost::db {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kNsPerS = 1'000'000'000;
// Of two slow readers that give way: the one's connection has come back by then, most often.
constexpr int64_t kGiveWayNs = 50 * kNsPerMs;

Error shutdownError() {
  Error error;
  error.kind = ErrorKind::kShutdown;
  return error;
}

}  // namespace

LoopPool::LoopPool(const Options& options, Cap& cap, WireFactory& factory, metrics::Registry& metrics,
                   uint32_t loop_index)
    : options_(options),
      cap_(cap),
      factory_(factory),
      counters_(metrics),
      loop_index_(loop_index),
      targets_(1 + options.replicas.size()),
      last_replica_(loop_index) {}

LoopPool::~LoopPool() {
  assert(!running_);
}

void LoopPool::start(event::Loop& loop) noexcept {
  assert(!running_);
  loop_ = &loop;
  running_ = true;
  random_.seed(static_cast<uint32_t>(loop.sys().realtimeNs()) + loop_index_);
  cap_.join(loop_index_, loop, *this);
}

void LoopPool::stop() noexcept {
  if (!running_) return;
  running_ = false;
  loop_->cancel(*this);
  armed_ns_ = Slot::kNever;
  for (ListHook& queue : waiting_) {
    while (queue.linked()) {
      auto& place = static_cast<WaitPlace&>(*queue.next);
      Work& work = place.work;
      leaveQueue(place);
      refuse(work, shutdownError());
    }
  }
  for (const auto& slot : slots_) {
    if (slot->state() == Slot::State::kFree) continue;
    const Group group = slot->group();
    slot->shutDown();
    cap_.give(loop_index_, group);
  }
  for (TargetState& target : targets_) target = TargetState();
  has_room_made_ = waits_for_room_ = crowded_ = false;
  if (std::exchange(restore_at_ns_, Slot::kNever) != Slot::kNever) cap_.restore();
  for (const auto& slot : slots_) {
    if (slot->linked()) slot->unlink();
    free_slots_.insertBefore(*slot);
  }
  cap_.leave(loop_index_);
}

void LoopPool::note(int64_t deadline_ns) noexcept {
  if (deadline_ns >= armed_ns_) return;
  armed_ns_ = deadline_ns;
  loop_->armAt(*this, deadline_ns);
}

// ---- who waits ----

void LoopPool::onRequest(Work& work, Role role) noexcept {
  if (!running_) {
    refuse(work, shutdownError());
    return;
  }
  const bool any_server = role == Role::kReplica;
  const Group group = groupOf(any_server);
  if (firstWaiting(group) == nullptr) {
    if (Slot* slot = takeIdle(group); slot != nullptr) {
      slot->lend(work, any_server);
      return;
    }
  }
  if (hopeless(group)) {
    counters_.unavailable.add();
    for (TargetState& target : targets_) target.missed = true;
    refuse(work, unavailable());
    return;
  }
  if (!cap_.enterQueue()) {
    counters_.queue_full.add();
    Error error;
    error.kind = ErrorKind::kQueueFull;
    error.retry_after_s = 1;
    refuse(work, std::move(error));
    return;
  }
  WaitPlace& place = placeOf(work);
  place.since_ns = nowNs();
  place.ticket = ++last_ticket_;
  place.any_server = any_server;
  waiting_[any_server].insertBefore(place);
  ++waiting_count_[any_server];
  counters_.waiting.add();
  note(place.since_ns + int64_t{options_.queue_timeout_ms} * kNsPerMs);
  openMore();
}

void LoopPool::refuse(Work& work, Error error) noexcept {
  detach(work);
  work.onError(nullptr, error);
}

void LoopPool::leaveQueue(WaitPlace& place) noexcept {
  place.unlink();
  --waiting_count_[place.any_server];
  counters_.waiting.sub();
  cap_.leaveQueue();
}

void LoopPool::onCancel(Work& work) noexcept {
  if (Link* link = linkOf(work); link != nullptr) {
    static_cast<Slot*>(link)->abandon();
    return;
  }
  leaveQueue(placeOf(work));
  detach(work);
}

bool LoopPool::readsGoToReplicas() const noexcept {
  return targets_.size() > 1 && !hopeless(Group::kReplicas);
}

Group LoopPool::groupOf(bool any_server) const noexcept {
  return any_server && readsGoToReplicas() ? Group::kReplicas : Group::kPrimary;
}

// Of those who may have a connection of the group, who came first.
WaitPlace* LoopPool::firstWaiting(Group group) noexcept {
  WaitPlace* first = nullptr;
  for (const bool any_server : {false, true}) {
    if (!waiting_[any_server].linked() || groupOf(any_server) != group) continue;
    auto& place = static_cast<WaitPlace&>(*waiting_[any_server].next);
    if (first == nullptr || place.ticket < first->ticket) first = &place;
  }
  return first;
}

uint32_t LoopPool::demand(Group group) const noexcept {
  uint32_t count = 0;
  for (const bool any_server : {false, true}) {
    if (waiting_count_[any_server] > 0 && groupOf(any_server) == group) count += waiting_count_[any_server];
  }
  return count;
}

uint32_t LoopPool::slotsOf(Group group) const noexcept {
  if (group == Group::kPrimary) return targets_[0].slots;
  uint32_t count = 0;
  for (size_t i = 1; i < targets_.size(); ++i) count += targets_[i].slots;
  return count;
}

uint32_t LoopPool::connectingOf(Group group) const noexcept {
  if (group == Group::kPrimary) return targets_[0].connecting;
  uint32_t count = 0;
  for (size_t i = 1; i < targets_.size(); ++i) count += targets_[i].connecting;
  return count;
}

// Nothing of the group is open, and it is too early to try again, or that seems to be in vain.
bool LoopPool::hopeless(Group group) const noexcept {
  const size_t begin = group == Group::kPrimary ? 0 : 1;
  const size_t end = group == Group::kPrimary ? 1 : targets_.size();
  for (size_t i = begin; i < end; ++i) {
    const TargetState& target = targets_[i];
    if (target.slots > target.connecting || (i == 0 && crowded_)) return false;
    if (target.connecting == 0 ? !backsOff(i) : target.failures == 0 || nowNs() < target.trusted_until_ns)
      return false;
  }
  return true;
}

Error LoopPool::unavailable() const {
  Error error;
  error.kind = ErrorKind::kUnavailable;
  error.message = last_failure_;
  const int64_t left_ns = targets_[0].retry_at_ns - nowNs();
  error.retry_after_s = static_cast<uint32_t>(std::max<int64_t>(1, (left_ns + kNsPerS - 1) / kNsPerS));
  return error;
}

void LoopPool::failHopeless() noexcept {
  for (;;) {
    WaitPlace* const place = firstWaiting(Group::kPrimary);
    if (place == nullptr || !hopeless(Group::kPrimary)) return;
    Work& work = place->work;
    leaveQueue(*place);
    counters_.unavailable.add();
    targets_[0].missed = true;
    refuse(work, unavailable());
  }
}

void LoopPool::expireWaiting(int64_t now_ns) noexcept {
  const int64_t since_ns = now_ns - int64_t{options_.queue_timeout_ms} * kNsPerMs;
  for (ListHook& queue : waiting_) {
    while (queue.linked()) {
      auto& place = static_cast<WaitPlace&>(*queue.next);
      if (place.since_ns > since_ns) break;
      Work& work = place.work;
      leaveQueue(place);
      counters_.queue_timeouts.add();
      Error error;
      error.kind = ErrorKind::kQueueTimeout;
      error.retry_after_s = 1;
      refuse(work, std::move(error));
    }
  }
}

// ---- who gets which ----

Slot* LoopPool::takeIdle(Group group) noexcept {
  ListHook& idle = idle_[static_cast<uint32_t>(group)];
  while (idle.linked()) {
    auto& slot = static_cast<Slot&>(*idle.next);
    slot.unlink();
    if (slot.usable(nowNs())) return &slot;
    close(slot);
  }
  return nullptr;
}

void LoopPool::cameBack(Slot& slot) noexcept {
  const int64_t now_ns = nowNs();
  const Group group = slot.group();
  const bool given_up =
      cap_.isWanted() && (firstWaiting(group) == nullptr || cap_.shouldYield(loop_index_, group, now_ns));
  if (given_up || slot.worn(now_ns)) {
    close(slot);
    openMore();
    return;
  }
  keepIdle(slot);
  pump();
}

void LoopPool::keepIdle(Slot& slot) noexcept {
  slot.setIdle(nowNs());
  idle_[static_cast<uint32_t>(slot.group())].next->insertBefore(slot);
  note(slot.check(nowNs()));
}

// One after the other and never from within itself, however many are served at once.
void LoopPool::pump() noexcept {
  if (pumping_) return;
  pumping_ = true;
  for (const Group group : {Group::kPrimary, Group::kReplicas}) {
    for (;;) {
      WaitPlace* place = firstWaiting(group);
      if (place == nullptr) break;
      Slot* const slot = takeIdle(group);
      if (slot == nullptr) break;
      Work& work = place->work;
      const bool any_server = place->any_server;
      counters_.wait_ns.record(static_cast<uint64_t>(nowNs() - place->since_ns));
      leaveQueue(*place);
      slot->lend(work, any_server);
    }
  }
  pumping_ = false;
  openMore();
}

// Its connection may be of the group that is not waited for: closed, it makes room for the other.
bool LoopPool::mustGiveWay(const Slot& slot) noexcept {
  if (!cap_.isWanted() && firstWaiting(slot.group()) == nullptr) return false;
  if (nowNs() - gave_way_ns_ < kGiveWayNs) return false;
  gave_way_ns_ = nowNs();
  counters_.slow_readers.add();
  return true;
}

// ---- time ----

void LoopPool::onTimer() noexcept {
  armed_ns_ = Slot::kNever;
  const int64_t now_ns = nowNs();
  expireWaiting(now_ns);
  for (size_t i = 0; i < slots_.size(); ++i) note(slots_[i]->check(now_ns));
  probeMissed(now_ns);
  if (now_ns >= restore_at_ns_) {
    restore_at_ns_ = Slot::kNever;
    has_room_made_ = waits_for_room_ = false;
    cap_.restore();
  }
  note(restore_at_ns_);
  pump();
  failHopeless();
  for (ListHook& queue : waiting_) {
    if (!queue.linked()) continue;
    const auto& first = static_cast<const WaitPlace&>(*queue.next);
    note(first.since_ns + int64_t{options_.queue_timeout_ms} * kNsPerMs);
  }
}

// A server that somebody has asked for in vain is tried again when its time has come, so that the next one
// who asks need not wait for it.
void LoopPool::probeMissed(int64_t now_ns) noexcept {
  for (size_t i = 0; i < targets_.size(); ++i) {
    const TargetState& target = targets_[i];
    if (target.failures == 0 || target.connecting > 0) continue;
    if (now_ns < target.retry_at_ns) {
      if (target.missed || demand(i == 0 ? Group::kPrimary : Group::kReplicas) > 0) note(target.retry_at_ns);
    } else if (target.missed && cap_.take(loop_index_, i == 0 ? Group::kPrimary : Group::kReplicas)) {
      connect(freeSlot(), i);
    }
  }
}

}  // namespace roost::db
