#include "db/cap.h"

#include <cassert>
#include <utility>

#include "event/loop.h"

namespace roost::db {
namespace {

// How long a party has none before those who have only their share give it one.
constexpr int64_t kStarvingNs = 50'000'000;

}  // namespace

Cap::Cap(uint32_t max_connections, uint32_t max_waiting, uint32_t loop_count)
    : max_waiting_(max_waiting), free_(max_connections), seats_(loop_count) {}

void Cap::join(uint32_t loop_index, event::Loop& loop, Member& member) noexcept {
  const std::lock_guard<std::mutex> guard(lock_);
  seats_[loop_index].loop = &loop;
  seats_[loop_index].member = &member;
}

void Cap::leave(uint32_t loop_index) noexcept {
  const std::lock_guard<std::mutex> guard(lock_);
  Seat& seat = seats_[loop_index];
  seat.loop = nullptr;
  seat.member = nullptr;
  for (Party& party : seat.parties) {
    // What was granted and is still on its way.
    free_ += party.held;
    party.held = 0;
    setWants(party, false);
  }
  grantFree();
}

void Cap::setWants(Party& party, bool wants) noexcept {
  if (party.wants == wants) return;
  party.wants = wants;
  if (wants) {
    party.ticket = ++last_ticket_;
    wanting_.fetch_add(1, std::memory_order_relaxed);
  } else {
    wanting_.fetch_sub(1, std::memory_order_relaxed);
  }
}

// REQUIRES: the lock.
bool Cap::takeFree(uint32_t loop_index, Group group) noexcept {
  uint32_t& from = free_ == 0 && group == Group::kReplicas ? useless_ : free_;
  if (from == 0) return false;
  --from;
  ++party(loop_index, group).held;
  return true;
}

bool Cap::take(uint32_t loop_index, Group group) noexcept {
  const std::lock_guard<std::mutex> guard(lock_);
  return takeFree(loop_index, group);
}

bool Cap::takeOrWant(uint32_t loop_index, Group group, int64_t now_ns) noexcept {
  const std::lock_guard<std::mutex> guard(lock_);
  Party& asking = party(loop_index, group);
  if (takeFree(loop_index, group)) return true;
  if (!asking.wants) {
    asking.since_ns = now_ns;
    setWants(asking, true);
    askOthers();
  }
  return false;
}

void Cap::unwant(uint32_t loop_index, Group group) noexcept {
  const std::lock_guard<std::mutex> guard(lock_);
  setWants(party(loop_index, group), false);
}

void Cap::give(uint32_t loop_index, Group group) noexcept {
  const std::lock_guard<std::mutex> guard(lock_);
  Party& giver = party(loop_index, group);
  if (giver.held == 0) return;  // it has left
  --giver.held;
  ++free_;
  grantFree();
}

bool Cap::primaryFull(uint32_t loop_index) noexcept {
  const std::lock_guard<std::mutex> guard(lock_);
  uint32_t held = 0;
  for (uint32_t loop = 0; loop < seats_.size(); ++loop) {
    if (loop != loop_index) held += party(loop, Group::kPrimary).held;
  }
  if (held == 0) return false;
  --party(loop_index, Group::kPrimary).held;
  useless_ += 1 + std::exchange(free_, 0U);
  return true;
}

void Cap::restore() noexcept {
  const std::lock_guard<std::mutex> guard(lock_);
  free_ += std::exchange(useless_, 0U);
  grantFree();
}

void Cap::move(uint32_t loop_index, Group from, Group to) noexcept {
  const std::lock_guard<std::mutex> guard(lock_);
  assert(party(loop_index, from).held > 0);
  --party(loop_index, from).held;
  ++party(loop_index, to).held;
}

// Who wants one and has the fewest; of several, who has wanted it longest.
bool Cap::neediest(uint32_t& loop_index, Group& group) noexcept {
  const Party* best = nullptr;
  for (uint32_t loop = 0; loop < seats_.size(); ++loop) {
    for (uint32_t g = 0; g < kGroups; ++g) {
      const Party& one = seats_[loop].parties[g];
      if (!one.wants) continue;
      if (best != nullptr && (one.held > best->held || (one.held == best->held && one.ticket > best->ticket)))
        continue;
      best = &one;
      loop_index = loop;
      group = static_cast<Group>(g);
    }
  }
  return best != nullptr;
}

void Cap::grantFree() noexcept {
  uint32_t loop_index = 0;
  Group group = Group::kPrimary;
  while (free_ > 0 && neediest(loop_index, group)) {
    Seat& seat = seats_[loop_index];
    --free_;
    ++party(loop_index, group).held;
    setWants(party(loop_index, group), false);
    seat.loop->post(event::makeTask([member = seat.member, group] { member->onGranted(group); }));
  }
}

void Cap::askOthers() noexcept {
  for (Seat& seat : seats_) {
    const bool has_any = seat.parties[0].held + seat.parties[1].held > 0;
    if (has_any && seat.loop != nullptr)
      seat.loop->post(event::makeTask([member = seat.member] { member->onAsked(); }));
  }
}

bool Cap::shouldYield(uint32_t loop_index, Group group, int64_t now_ns) noexcept {
  if (!isWanted()) return false;
  const std::lock_guard<std::mutex> guard(lock_);
  uint32_t other_loop = 0;
  Group other_group = Group::kPrimary;
  if (!neediest(other_loop, other_group)) return false;
  if (other_loop == loop_index && other_group == group) return false;
  const Party& other = party(other_loop, other_group);
  if (party(loop_index, group).held >= other.held + 2) return true;
  return other.held == 0 && now_ns - other.since_ns >= kStarvingNs;
}

bool Cap::enterQueue() noexcept {
  if (waiting_.fetch_add(1, std::memory_order_relaxed) < max_waiting_) return true;
  leaveQueue();
  return false;
}

}  // namespace roost::db
