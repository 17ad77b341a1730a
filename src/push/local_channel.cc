#include "push/local_channel.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "push/loop_shard.h"

namespace roost::push {
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
  forgotten_s_ = snapshot.forgotten_s;
  counts_ = std::move(snapshot.counts);
  ring_.reset(history_first_);
  for (const Message::Ref& message : snapshot.messages) ring_.push(message);
  assert(ring_.next() == last_.seq + 1);
  todo_floor_ = round_seq_ = backlog_seq_ = last_.seq;
  onBarrier(0);
}

void LocalChannel::onBarrier(uint32_t number) noexcept {
  ListHook ready;
  while (waiting_.linked() && waitingOf(of(*waiting_.next))->barrier <= number) {
    ListHook& first = *waiting_.next;
    first.unlink();
    ready.insertBefore(first);
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
  catchUp(subscriber);
  joined(start.seq);
  const LoopShard::Guard guard(shard_, subscriber);
  const MessageId position = idBefore(start.seq + 1);
  subscriber.onSubscribed(position);
  if (guard.gone()) return;
  if (start.gap) {
    shard_.numbers().gaps.add(1);
    const Delivery answer = subscriber.onGap({start.told.after, start.told.missed, position});
    if (guard.gone()) return;
    if (answer != Delivery::kAccepted) {
      settle(subscriber, answer == Delivery::kBlocked ? Outcome::kBlockedByGap : Outcome::kEnded, replay_);
      return;
    }
  }
  uint32_t budget = shard_.options().at_once_messages;
  settle(subscriber, deliver(subscriber, budget), replay_);
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
  if (id.foreign()) return unknown(id);
  if (id.epoch == 0) {  // by time alone; one that is yet to come would skip all there is
    if (id.time_s > std::max(last_.time_s, shard_.host().unixSeconds())) return unknown(id);
    result.seq = history_first_ - 1;
    result.gap = trimmed_time_s_ > id.time_s;
    result.told = {id, 0, {}};
    if (result.gap) return result;
    result.seq = lastOfTime(id.time_s);
    return result;
  }
  if (id.epoch != last_.epoch || id.seq > last_.seq) return unknown(id);
  result.seq = id.seq;
  if (id.seq + 1 >= ring_.first()) return result;
  result.seq = history_first_ - 1;
  result.gap = true;
  result.told = {id, result.seq - id.seq, {}};
  return result;
}

// The last message of the history that is no younger than a time. Times never go back from one message to the
// next.
uint64_t LocalChannel::lastOfTime(int64_t time_s) const noexcept {
  uint64_t older = history_first_ - 1;
  for (uint64_t younger = last_.seq + 1; younger - older > 1;) {
    const uint64_t middle = older + (younger - older) / 2;
    (ring_.at(middle)->id().time_s <= time_s ? older : younger) = middle;
  }
  return older;
}

LocalChannel::Begin LocalChannel::unknown(const MessageId& id) const noexcept {
  Begin result;
  result.ask_home = true;
  result.seq = history_first_ - 1;
  // A channel that has been forgotten meanwhile because nothing was published is the same to its client.
  result.gap = id.foreign() || id.seq != 0 || last_.seq != 0 || id.time_s <= forgotten_s_;
  result.told = {id, 0, {}};
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
  gap.position = idBefore(seq + 1);
  setSeq(subscriber, seq);
  skipped(had, seq);
  shard_.numbers().gaps.add(1);
  const LoopShard::Guard guard(shard_, subscriber);
  const Delivery answer = subscriber.onGap(gap);
  if (guard.gone()) return Outcome::kGone;
  if (answer == Delivery::kBlocked) return Outcome::kBlockedByGap;
  return answer == Delivery::kAccepted ? Outcome::kMore : Outcome::kEnded;
}

// Puts it where it belongs after it was given something: where it lacks more, at the end of the list it came
// from. Where the outcome is kGone it is not touched.
void LocalChannel::settle(Subscriber& subscriber, Outcome outcome, ListHook& from) noexcept {
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
      from.insertBefore(subscriber.hook_);
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
  catchUp(subscriber);
  uint32_t budget = shard_.options().at_once_messages;
  settle(subscriber, deliver(subscriber, budget), replay_);
}

void LocalChannel::catchUp(Subscriber& subscriber) noexcept {
  const uint64_t seq = seqOf(subscriber);
  replay_floor_ = replay_.linked() ? std::min(replay_floor_, seq) : seq;
  replay_.insertBefore(subscriber.hook_);
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
  for (ListHook* list : {&todo_, &done_, &replay_, &blocked_, &strict_}) endList(*list, reason);
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

}  // namespace roost::push
