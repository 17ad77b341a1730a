#include "push/local_channel.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "push/loop_shard.h"

namespace roost::push {
namespace {

// Subscriber::seq_: 56 bits of sequence number (or, while it waits, where its Waiting is), then these.
constexpr unsigned kPolicyShift = 56;
constexpr unsigned kStateShift = 58;
constexpr uint64_t kSeqMask = (uint64_t{1} << kPolicyShift) - 1;
constexpr uint64_t kPolicyMask = uint64_t{3} << kPolicyShift;
constexpr uint64_t kStateMask = uint64_t{3} << kStateShift;

// Messages that a subscriber is given from within subscribe() or resume(); the sweep goes on.
constexpr uint32_t kAtOnce = 256;

// Publications whose publishers wait; each is looked at with every delivery. Further ones do not wait.
constexpr size_t kMostTickets = 64;

}  // namespace

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \
    "-Winvalid-offsetof"  // one base, no virtual ones: where it is laid out is known
Subscriber& LocalChannel::of(ListHook& hook) noexcept {
  return *reinterpret_cast<Subscriber*>(reinterpret_cast<char*>(&hook) - offsetof(Subscriber, hook_));
}
#pragma GCC diagnostic pop

uint64_t LocalChannel::seqOf(const Subscriber& subscriber) noexcept {
  return subscriber.seq_ & kSeqMask;
}
LocalChannel::State LocalChannel::stateOf(const Subscriber& subscriber) noexcept {
  return static_cast<State>((subscriber.seq_ & kStateMask) >> kStateShift);
}
SlowPolicy LocalChannel::policyOf(const Subscriber& subscriber) noexcept {
  return static_cast<SlowPolicy>((subscriber.seq_ & kPolicyMask) >> kPolicyShift);
}
void LocalChannel::setSeq(Subscriber& subscriber, uint64_t seq) noexcept {
  subscriber.seq_ = (subscriber.seq_ & ~kSeqMask) | seq;
}
void LocalChannel::setState(Subscriber& subscriber, State state) noexcept {
  subscriber.seq_ = (subscriber.seq_ & ~kStateMask) | (static_cast<uint64_t>(state) << kStateShift);
}
LocalChannel::Waiting* LocalChannel::waitingOf(const Subscriber& subscriber) noexcept {
  return reinterpret_cast<Waiting*>(static_cast<uintptr_t>(seqOf(subscriber)));
}

LocalChannel::LocalChannel(LoopShard& shard, BufferRef name_bytes, uint64_t name_hash,
                           uint32_t serial) noexcept
    : Named(std::move(name_bytes), name_hash), shard_(shard), serial_(serial) {}

LocalChannel::~LocalChannel() {
  assert(unused());
  closeTickets(false);
  releaseBacklog(last_.seq);
  turn.unlink();
  untidy.unlink();
  idle.unlink();
}

// --- beginning ------------------------------------------------------------------------------------------

void LocalChannel::add(Subscriber& subscriber, const SubscribeOptions& options) noexcept {
  assert(!subscriber.subscribed());
  if (refused_) {
    subscriber.onEnd(refusal_);
    return;
  }
  subscriber.channel_ = this;
  subscriber.seq_ = 0;
  if (attached_)
    begin(subscriber, options, false);
  else
    wait(subscriber, options, 0);
}

void LocalChannel::wait(Subscriber& subscriber, const SubscribeOptions& options, uint32_t barrier) {
  auto* waiting = new Waiting{options, barrier};
  assert(reinterpret_cast<uintptr_t>(waiting) <= kSeqMask);
  subscriber.seq_ = reinterpret_cast<uintptr_t>(waiting);
  setState(subscriber, State::kWaiting);
  waiting_.insertBefore(subscriber.hook_);
  ++waiting_count_;
}

void LocalChannel::stopWaiting(Subscriber& subscriber) noexcept {
  delete waitingOf(subscriber);
  subscriber.seq_ = 0;
  subscriber.hook_.unlink();
  --waiting_count_;
}

void LocalChannel::onAttached(Snapshot snapshot) noexcept {
  attached_ = true;
  last_ = snapshot.last;
  history_first_ = snapshot.first_seq;
  trimmed_time_s_ = dropped_time_s_ = snapshot.trimmed_time_s;
  counts_ = std::move(snapshot.counts);
  ring_.reset(history_first_);
  for (const Message::Ref& message : snapshot.messages) ring_.push(message);
  assert(ring_.next() == last_.seq + 1);
  todo_floor_ = round_seq_ = backlog_seq_ = last_.seq;
  onBarrier(0);
}

void LocalChannel::onBarrier(uint32_t number) noexcept {
  ListHook ready;
  for (ListHook* hook = waiting_.next; hook != &waiting_;) {
    Subscriber& subscriber = of(*hook);
    hook = hook->next;
    if (waitingOf(subscriber)->barrier > number) continue;
    subscriber.hook_.unlink();
    ready.insertBefore(subscriber.hook_);
  }
  while (ready.linked()) {
    Subscriber& subscriber = of(*ready.next);
    const Waiting waiting = *waitingOf(subscriber);
    stopWaiting(subscriber);
    begin(subscriber, waiting.options, number != 0);
  }
}

void LocalChannel::begin(Subscriber& subscriber, const SubscribeOptions& options, bool asked) noexcept {
  const Begin start = beginOf(options.start);
  if (start.ask_home && !asked) {
    wait(subscriber, options, ++barriers_);
    shard_.broker().barrier(key(), barriers_);
    return;
  }
  if (!shard_.countIn(*counts_)) {
    subscriber.channel_ = nullptr;
    shard_.forget(subscriber);
    shard_.wantTidy(*this);
    subscriber.onEnd(EndReason::kTooManySubscribers);
    return;
  }
  ++subscribers_;
  subscriber.seq_ = start.seq | (static_cast<uint64_t>(options.slow) << kPolicyShift);
  setState(subscriber, State::kActive);
  todo_floor_ = todo_.linked() ? std::min(todo_floor_, start.seq) : start.seq;
  todo_.insertBefore(subscriber.hook_);
  joined(start.seq);
  const LoopShard::Guard guard(shard_, subscriber);
  const MessageId position = idBefore(start.seq + 1);
  subscriber.onSubscribed(position);
  if (guard.gone()) return;
  if (start.gap) {
    shard_.numbers().gaps.add(1);
    const Delivery answer = subscriber.onGap(start.told);
    if (guard.gone()) return;
    if (answer != Delivery::kAccepted) {
      settle(subscriber, answer == Delivery::kBlocked ? Outcome::kBlockedByGap : Outcome::kEnded);
      return;
    }
  }
  uint32_t budget = kAtOnce;
  settle(subscriber, deliver(subscriber, budget));
}

LocalChannel::Begin LocalChannel::beginOf(const Start& start) const noexcept {
  Begin result;
  const uint64_t oldest = history_first_ - 1;
  switch (start.kind) {
    case Start::Kind::kNewest:
      result.seq = last_.seq;
      break;
    case Start::Kind::kOldest:
      result.seq = oldest;
      break;
    case Start::Kind::kBack:
      result.seq = std::max(oldest, last_.seq > start.back ? last_.seq - start.back : 0);
      break;
    case Start::Kind::kAfter:
      return afterId(start.after);
  }
  return result;
}

LocalChannel::Begin LocalChannel::afterId(const MessageId& id) const noexcept {
  Begin result;
  if (id.epoch == 0) {  // by time alone; one that is yet to come would skip all there is
    if (id.time_s > std::max(last_.time_s, shard_.host().unixSeconds())) return unknown(id);
    result.seq = history_first_ - 1;
    result.gap = trimmed_time_s_ > id.time_s;
    result.told = {id, 0};
    if (result.gap) return result;
    while (result.seq < last_.seq && ring_.at(result.seq + 1)->id().time_s <= id.time_s) ++result.seq;
    return result;
  }
  if (id.epoch != last_.epoch || id.seq > last_.seq) return unknown(id);
  result.seq = id.seq;
  if (id.seq + 1 >= ring_.first()) return result;
  result.seq = history_first_ - 1;
  result.gap = true;
  result.told = {id, result.seq - id.seq};
  return result;
}

LocalChannel::Begin LocalChannel::unknown(const MessageId& id) const noexcept {
  Begin result;
  result.ask_home = true;
  result.seq = history_first_ - 1;
  result.gap = true;
  result.told = {id, 0};
  return result;
}

// The id that comes before a message that is in the ring, or is to come.
MessageId LocalChannel::idBefore(uint64_t next_seq) const noexcept {
  MessageId id = last_;
  id.seq = next_seq - 1;
  if (id.seq == last_.seq) return id;
  if (id.seq >= ring_.first()) return ring_.at(id.seq)->id();
  id.time_s = id.seq + 1 == history_first_ ? trimmed_time_s_ : dropped_time_s_;
  return id;
}

// --- giving ---------------------------------------------------------------------------------------------

LocalChannel::Outcome LocalChannel::deliver(Subscriber& subscriber, uint32_t& budget) noexcept {
  const LoopShard::Guard guard(shard_, subscriber);
  for (uint64_t seq = seqOf(subscriber); seq < last_.seq; seq = seqOf(subscriber)) {
    if (seq + 1 < ring_.first()) {
      const Outcome skip = skipLost(subscriber);
      if (skip != Outcome::kMore) return skip;
      continue;
    }
    if (budget == 0) return Outcome::kMore;
    --budget;
    setSeq(subscriber, seq + 1);
    const Delivery answer = subscriber.onMessage(ring_.at(seq + 1));
    shard_.numbers().delivered.add(1);
    if (answer == Delivery::kBlocked && !guard.gone()) return Outcome::kBlocked;
    if (answer == Delivery::kAccepted || answer == Delivery::kDone)
      given(seq + 1);
    else
      skipped(seq, seq + 1);
    if (guard.gone()) return Outcome::kGone;
    if (answer != Delivery::kAccepted) return Outcome::kEnded;
  }
  return Outcome::kUpToDate;
}

// What it needs next has been let go: told, or the end, by its policy. kMore: go on.
LocalChannel::Outcome LocalChannel::skipLost(Subscriber& subscriber) noexcept {
  const SlowPolicy policy = policyOf(subscriber);
  if (policy == SlowPolicy::kDisconnect) {
    leave(subscriber);
    subscriber.onEnd(EndReason::kTooSlow);
    return Outcome::kGone;
  }
  const uint64_t had = seqOf(subscriber);
  uint64_t seq = ring_.first() - 1;
  if (policy == SlowPolicy::kLatest) seq = std::max(seq, last_.seq - 1);
  Gap gap;
  gap.after = {dropped_time_s_, had, last_.epoch};
  gap.missed = seq - had;
  setSeq(subscriber, seq);
  skipped(had, seq);
  shard_.numbers().gaps.add(1);
  const LoopShard::Guard guard(shard_, subscriber);
  const Delivery answer = subscriber.onGap(gap);
  if (guard.gone()) return Outcome::kGone;
  if (answer == Delivery::kBlocked) return Outcome::kBlockedByGap;
  return answer == Delivery::kAccepted ? Outcome::kMore : Outcome::kEnded;
}

// Puts it where it belongs after it was given something. Where the outcome is kGone it is not touched.
void LocalChannel::settle(Subscriber& subscriber, Outcome outcome) noexcept {
  shard_.wantTidy(*this);
  switch (outcome) {
    case Outcome::kGone:
      return;
    case Outcome::kEnded:
      leave(subscriber);
      return;
    case Outcome::kBlocked:
      block(subscriber, State::kBlocked);
      return;
    case Outcome::kBlockedByGap:
      block(subscriber, State::kBlockedByGap);
      return;
    case Outcome::kUpToDate:
      if (deleted_) {
        leave(subscriber);
        subscriber.onEnd(EndReason::kDeleted);
        return;
      }
      subscriber.hook_.unlink();
      done_.insertBefore(subscriber.hook_);
      return;
    case Outcome::kMore:
      subscriber.hook_.unlink();
      todo_floor_ = todo_.linked() ? std::min(todo_floor_, seqOf(subscriber)) : seqOf(subscriber);
      todo_.insertBefore(subscriber.hook_);
      shard_.wantSweep(*this);
      return;
  }
}

void LocalChannel::block(Subscriber& subscriber, State state) noexcept {
  const bool strict = policyOf(subscriber) == SlowPolicy::kDisconnect;
  ListHook& list = strict ? strict_ : blocked_;
  uint64_t& floor = strict ? strict_floor_ : blocked_floor_;
  const uint64_t seq = seqOf(subscriber);
  floor = list.linked() ? std::min(floor, seq) : seq;
  subscriber.hook_.unlink();
  list.insertBefore(subscriber.hook_);
  setState(subscriber, state);
  shard_.numbers().slow.add(1);
}

void LocalChannel::resume(Subscriber& subscriber) noexcept {
  const State state = stateOf(subscriber);
  if (state != State::kBlocked && state != State::kBlockedByGap) return;
  const uint64_t seq = seqOf(subscriber);
  if (state == State::kBlocked) given(seq);
  setState(subscriber, State::kActive);
  subscriber.hook_.unlink();
  todo_floor_ = todo_.linked() ? std::min(todo_floor_, seq) : seq;
  todo_.insertBefore(subscriber.hook_);
  uint32_t budget = kAtOnce;
  settle(subscriber, deliver(subscriber, budget));
}

void LocalChannel::remove(Subscriber& subscriber) noexcept {
  if (stateOf(subscriber) == State::kWaiting) {
    stopWaiting(subscriber);
    subscriber.channel_ = nullptr;
    shard_.forget(subscriber);
  } else {
    leave(subscriber);
  }
  shard_.wantTidy(*this);
}

void LocalChannel::leave(Subscriber& subscriber) noexcept {
  const uint64_t seq = seqOf(subscriber);
  skipped(stateOf(subscriber) == State::kBlocked ? seq - 1 : seq, last_.seq);
  subscriber.hook_.unlink();
  subscriber.channel_ = nullptr;
  --subscribers_;
  shard_.countOut(*counts_);
  shard_.forget(subscriber);
  shard_.wantTidy(*this);
}

bool LocalChannel::takeUnbegun(Unbegun& out) noexcept {
  if (!waiting_.linked()) return false;
  Subscriber& subscriber = of(*waiting_.next);
  out = {&subscriber, waitingOf(subscriber)->options};
  stopWaiting(subscriber);
  subscriber.channel_ = nullptr;
  shard_.forget(subscriber);
  return true;
}

void LocalChannel::endList(ListHook& list, EndReason reason) noexcept {
  while (list.linked()) {
    Subscriber& subscriber = of(*list.next);
    leave(subscriber);
    subscriber.onEnd(reason);
  }
}

void LocalChannel::endAll(EndReason reason) noexcept {
  Unbegun unbegun{};
  while (takeUnbegun(unbegun)) unbegun.subscriber->onEnd(reason);
  for (ListHook* list : {&todo_, &done_, &blocked_, &strict_}) endList(*list, reason);
}

void LocalChannel::onRefused(EndReason reason) noexcept {
  refused_ = true;
  refusal_ = reason;
  endAll(reason);
}

void LocalChannel::onDeleted() noexcept {
  deleted_ = true;
  endList(blocked_, EndReason::kDeleted);
  endList(strict_, EndReason::kDeleted);
  nextRound();
}

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
  while (budget > 0 && todo_.linked()) {
    Subscriber& subscriber = of(*todo_.next);
    settle(subscriber, deliver(subscriber, budget));
  }
  shard_.wantTidy(*this);
}

// Up to where every subscriber that keeps up has been given the messages.
uint64_t LocalChannel::sweptSeq() const noexcept {
  uint64_t seq = last_.seq;
  if (todo_.linked()) seq = std::min(seq, todo_floor_);
  if (done_.linked()) seq = std::min(seq, round_seq_);
  return seq;
}

// Whether a message that only the blocked may need is still in their window.
bool LocalChannel::keeps(uint64_t seq, uint64_t keep_from) const noexcept {
  uint64_t needed = UINT64_MAX;
  if (blocked_.linked()) needed = blocked_floor_ + 1;
  if (strict_.linked()) needed = std::min(needed, strict_floor_ + 1);
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

void LocalChannel::endTooSlow() noexcept {
  ListHook ending;
  strict_floor_ = UINT64_MAX;
  for (ListHook* hook = strict_.next; hook != &strict_;) {
    Subscriber& subscriber = of(*hook);
    hook = hook->next;
    const uint64_t seq = seqOf(subscriber);
    if (seq + 1 < ring_.first()) {
      subscriber.hook_.unlink();
      ending.insertBefore(subscriber.hook_);
    } else {
      strict_floor_ = std::min(strict_floor_, seq);
    }
  }
  while (ending.linked()) {
    Subscriber& subscriber = of(*ending.next);
    leave(subscriber);
    subscriber.onEnd(EndReason::kTooSlow);
  }
}

void LocalChannel::releaseBacklog(uint64_t up_to) noexcept {
  if (up_to <= backlog_seq_) return;
  const uint64_t bytes = ring_.bytesBefore(up_to + 1) - ring_.bytesBefore(backlog_seq_ + 1);
  shard_.broker().processed(*counts_, static_cast<uint32_t>(up_to - backlog_seq_), bytes);
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
