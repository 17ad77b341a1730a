// The mirror itself: what its home tells, whom the sweep comes to, what the ring keeps, and who waits until
// all have a message.
#include <algorithm>
#include <cassert>

#include "push/local_channel.h"
#include "push/loop_shard.h"

namespace roost::push {
namespace {

// Publications whose publishers wait; each is looked at with every delivery. Further ones do not wait.
constexpr size_t kMostTickets = 64;

}  // namespace

// --- the mirror -----------------------------------------------------------------------------------------

void LocalChannel::onMessage(const BrokerMessage& told) noexcept {
  ring_.push(told.message);
  last_ = told.message->id();
  if (told.ticket != 0) {
    if (subscribers_ == 0 || tickets_.size() == kMostTickets)
      shard_.broker().acknowledge(key(), told.ticket, 0, -1, subscribers_ == 0);
    else
      tickets_.push_back({last_.seq, told.ticket, told.message->publishedNs(), subscribers_});
  }
  onTrim(told.first_seq);
  nextRound();
  shard_.wantTidy(*this);
}

void LocalChannel::onTrim(uint64_t first_seq) noexcept {
  if (first_seq <= history_first_) return;
  trimmed_time_s_ = ring_.at(first_seq - 1)->id().time_s;
  history_first_ = first_seq;
  shard_.wantTidy(*this);
}

void LocalChannel::nextRound() noexcept {
  if (todo_.linked() || (round_seq_ == last_.seq && !deleted_)) return;
  todo_floor_ = round_seq_;
  round_seq_ = last_.seq;
  if (!done_.linked()) return;
  todo_.takeAll(done_);
  shard_.wantSweep(*this);
}

void LocalChannel::sweep(uint32_t& budget) noexcept {
  uint32_t replaying = !replay_.linked() ? 0 : todo_.linked() ? (budget + 3) / 4 : budget;
  budget -= replaying;
  visit(todo_, budget);
  visit(replay_, replaying);
  budget += replaying;
  shard_.wantTidy(*this);
}

void LocalChannel::visit(ListHook& list, uint32_t& budget) noexcept {
  while (budget > 0 && list.linked()) {
    Subscriber& subscriber = of(*list.next);
    const uint32_t before = budget;
    settle(subscriber, deliver(subscriber, budget), list);
    if (budget == before) --budget;  // to tell somebody of an end takes time too
  }
}

// Up to where every subscriber that keeps up has been given the messages.
uint64_t LocalChannel::sweptSeq() const noexcept {
  uint64_t seq = last_.seq;
  if (todo_.linked()) seq = std::min(seq, todo_floor_);
  if (done_.linked()) seq = std::min(seq, round_seq_);
  return seq;
}

// Whether a message that only those who lag may need is still in their window.
bool LocalChannel::keeps(uint64_t seq, uint64_t keep_from) const noexcept {
  uint64_t needed = UINT64_MAX;
  if (blocked_.linked()) needed = blocked_floor_ + 1;
  if (strict_.linked()) needed = std::min(needed, strict_floor_ + 1);
  if (replay_.linked()) needed = std::min(needed, replay_floor_ + 1);
  return seq >= needed && keep_from - seq <= shard_.options().slow_window_messages &&
         ring_.bytesBefore(keep_from) - ring_.bytesBefore(seq) <= shard_.options().slow_window_bytes;
}

void LocalChannel::tidy() noexcept {
  nextRound();
  const uint64_t swept = sweptSeq();
  releaseBacklog(swept);
  const uint64_t keep_from = std::min(history_first_, swept + 1);
  while (ring_.first() < keep_from && !keeps(ring_.first(), keep_from)) {
    dropped_time_s_ = ring_.at(ring_.first())->id().time_s;
    ring_.pop();
  }
  if (strict_.linked() && strict_floor_ + 1 < ring_.first()) endTooSlow();
  closeTickets(true);
}

// Those whose next message is gone: the sweep ends them, when their turn comes (skipLost()).
void LocalChannel::endTooSlow() noexcept {
  strict_floor_ = UINT64_MAX;
  for (ListHook* hook = strict_.next; hook != &strict_;) {
    Subscriber& subscriber = of(*hook);
    hook = hook->next;
    const uint64_t seq = seqOf(subscriber);
    if (seq + 1 >= ring_.first()) {
      strict_floor_ = std::min(strict_floor_, seq);
      continue;
    }
    subscriber.hook_.unlink();
    if (!todo_.linked()) todo_floor_ = last_.seq;  // the ring has nothing that they need
    todo_.insertBefore(subscriber.hook_);
    shard_.wantSweep(*this);
  }
}

void LocalChannel::releaseBacklog(uint64_t up_to) noexcept {
  if (up_to <= backlog_seq_) return;
  const uint64_t bytes = ring_.bytesBefore(up_to + 1) - ring_.bytesBefore(backlog_seq_ + 1);
  shard_.broker().processed(key(), *counts_, static_cast<uint32_t>(up_to - backlog_seq_), bytes);
  backlog_seq_ = up_to;
}

// --- who waits until all have it ------------------------------------------------------------------------

void LocalChannel::joined(uint64_t seq) noexcept {
  for (Ticket& ticket : tickets_) {
    if (ticket.seq > seq) ++ticket.outstanding;
  }
}

void LocalChannel::given(uint64_t seq) noexcept {
  for (Ticket& ticket : tickets_) {
    if (ticket.seq != seq) continue;
    --ticket.outstanding;
    ++ticket.delivered;
    ticket.last_ns = std::max(ticket.last_ns, shard_.host().nowNs() - ticket.published_ns);
  }
}

void LocalChannel::skipped(uint64_t after_seq, uint64_t up_to) noexcept {
  for (Ticket& ticket : tickets_) {
    if (ticket.seq > after_seq && ticket.seq <= up_to) --ticket.outstanding;
  }
}

void LocalChannel::closeTickets(bool all) noexcept {
  size_t kept = 0;
  for (Ticket& ticket : tickets_) {
    if (all && ticket.outstanding > 0) {
      tickets_[kept++] = ticket;
      continue;
    }
    shard_.broker().acknowledge(key(), ticket.ticket, ticket.delivered, ticket.last_ns,
                                ticket.outstanding == 0);
  }
  tickets_.resize(kept);
  if (tickets_.empty() && tickets_.capacity() > 0) std::vector<Ticket>().swap(tickets_);
}

}  // namespace roost::push
