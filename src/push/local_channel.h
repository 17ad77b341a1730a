#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/list.h"
#include "push/broker.h"
#include "push/message_ring.h"
#include "push/name_table.h"

namespace roost::push {

class LoopShard;

// A channel as one shard sees it: its subscribers there, and a mirror of what its home has. Attached once,
// home delivers to it whatever is published, so that what a subscriber lacks and what comes live stand in one
// ring. Owned by its LoopShard, whose thread it is used on.
//
// The ring keeps, of the messages up to the newest: what home's history has; what not every subscriber that
// keeps up has been given; and, for those that lag (blocked, or catching up), a bounded window beyond.
//
// Subscribers stand in one of these lists: `todo_` (the sweep comes to them), `done_` (it has been with them
// in this round), `replay_` (they catch up, a piece at a time beside the others, and are done then),
// `blocked_` (until resume()). A round gives each of `todo_` all that it lacks; when it is over and newer
// messages have come, `done_` becomes `todo_`. Those who wait for home's answer stand in `waiting_`, in the
// order in which the answers come.
//
// Any call of a subscriber may unsubscribe, destroy or subscribe any others of the shard, so nothing is held
// across one but what LoopShard::Guard watches. The ring and the channel itself change only when no call is
// on the stack (tidy()).
class LocalChannel : public Named<LocalChannel> {
 public:
  LocalChannel(LoopShard& shard, BufferRef name, uint64_t hash, uint32_t serial) noexcept;
  ~LocalChannel();
  LocalChannel(const LocalChannel&) = delete;
  LocalChannel& operator=(const LocalChannel&) = delete;

  ChannelKey key() const { return {name, hash, serial_}; }
  uint32_t serial() const noexcept { return serial_; }
  static LocalChannel* of(const Subscriber& subscriber) noexcept { return subscriber.channel_; }

  void add(Subscriber& subscriber, const SubscribeOptions& options) noexcept;
  void remove(Subscriber& subscriber) noexcept;
  void resume(Subscriber& subscriber) noexcept;

  void onAttached(Snapshot snapshot) noexcept;
  void onMessage(const BrokerMessage& told) noexcept;
  void onTrim(uint64_t first_seq) noexcept;
  void onBarrier(uint32_t number) noexcept;
  // Its home has deleted it: everybody is given what came before, then ended. Those that are blocked are
  // ended at once. Nobody is added any more.
  void onDeleted() noexcept;
  // Its home does not have it: everybody is told so, who comes later too.
  void onRefused(EndReason reason) noexcept;
  // No more than what is left of a channel that has another of its name beside it, or none.
  bool ended() const noexcept { return deleted_ || refused_; }
  // Ends every subscription at once, those that have not begun too.
  void endAll(EndReason reason) noexcept;
  // Takes those away that have not begun: they are to begin elsewhere.
  struct Unbegun {
    Subscriber* subscriber;
    SubscribeOptions options;
  };
  bool takeUnbegun(Unbegun& out) noexcept;

  // Gives messages to those who lack some, about `budget` of them; it counts down.
  void sweep(uint32_t& budget) noexcept;
  bool toSweep() const noexcept { return todo_.linked() || replay_.linked(); }
  // Lets go of what nobody needs any more. REQUIRES: no subscriber's call is on the stack.
  void tidy() noexcept;
  bool unused() const noexcept { return subscribers_ == 0 && waiting_count_ == 0; }

  // A link of one of LoopShard's lists.
  struct Link : ListHook {
    explicit Link(LocalChannel& of) noexcept : channel(of) {}
    LocalChannel& channel;
  };
  static LocalChannel& firstOf(ListHook& list) noexcept { return static_cast<Link&>(*list.next).channel; }
  Link turn{*this};    // among those that have somebody to give messages to
  Link untidy{*this};  // among those to be tidied
  Link idle{*this};    // among those that nobody uses, or, once deleted or refused, among those
  int64_t unused_since_ns = 0;

 private:
  // Subscriber::seq_: 56 bits of sequence number (or, while it waits, where its Waiting is), then these.
  static constexpr unsigned kPolicyShift = 56;
  static constexpr unsigned kStateShift = 58;
  static constexpr uint64_t kSeqMask = (uint64_t{1} << kPolicyShift) - 1;
  static constexpr uint64_t kPolicyMask = uint64_t{3} << kPolicyShift;
  static constexpr uint64_t kStateMask = uint64_t{3} << kStateShift;
  enum class State : uint8_t { kWaiting, kActive, kBlocked, kBlockedByGap };
  struct Waiting {
    SubscribeOptions options;
    uint32_t barrier;  // home's answer to that one is waited for; 0: to attach()
  };
  // A publication whose publisher waits until all have it.
  struct Ticket {
    uint64_t seq;
    uint64_t ticket;
    int64_t published_ns;
    uint32_t outstanding;  // subscribers that have yet to get it
    uint32_t delivered = 0;
    int64_t last_ns = -1;
  };
  struct Begin {
    uint64_t seq = 0;  // the last that it needs no more
    bool gap = false;
    bool ask_home = false;  // the id is not known here: home may know it
    Gap told;
  };
  enum class Outcome : uint8_t { kGone, kUpToDate, kMore, kBlocked, kBlockedByGap, kEnded };

  static Subscriber& of(ListHook& hook) noexcept;
  static uint64_t seqOf(const Subscriber& subscriber) noexcept;
  static State stateOf(const Subscriber& subscriber) noexcept;
  static SlowPolicy policyOf(const Subscriber& subscriber) noexcept;
  static void setSeq(Subscriber& subscriber, uint64_t seq) noexcept;
  static void setState(Subscriber& subscriber, State state) noexcept;
  static Waiting* waitingOf(const Subscriber& subscriber) noexcept;

  void wait(Subscriber& subscriber, const SubscribeOptions& options, uint32_t barrier);
  void stopWaiting(Subscriber& subscriber) noexcept;
  void begin(Subscriber& subscriber, const SubscribeOptions& options, bool asked) noexcept;
  Begin beginOf(const Start& start) const noexcept;
  Begin afterId(const MessageId& id) const noexcept;
  uint64_t lastOfTime(int64_t time_s) const noexcept;
  Begin unknown(const MessageId& id) const noexcept;
  MessageId idBefore(uint64_t next_seq) const noexcept;

  // Gives one subscriber up to `budget` messages of those it lacks.
  Outcome deliver(Subscriber& subscriber, uint32_t& budget) noexcept;
  Outcome skipLost(Subscriber& subscriber) noexcept;
  void settle(Subscriber& subscriber, Outcome outcome, ListHook& from) noexcept;
  void catchUp(Subscriber& subscriber) noexcept;
  void block(Subscriber& subscriber, State state) noexcept;
  // Unlinks a subscription that has begun, and counts it out.
  void leave(Subscriber& subscriber) noexcept;
  void endList(ListHook& list, EndReason reason) noexcept;
  void nextRound() noexcept;
  void visit(ListHook& list, uint32_t& budget) noexcept;
  uint64_t sweptSeq() const noexcept;
  bool keeps(uint64_t seq, uint64_t keep_from) const noexcept;
  void endTooSlow() noexcept;
  void releaseBacklog(uint64_t up_to) noexcept;

  void joined(uint64_t seq) noexcept;
  void given(uint64_t seq) noexcept;
  void skipped(uint64_t after_seq, uint64_t up_to) noexcept;
  void closeTickets(bool all) noexcept;

  LoopShard& shard_;
  ListHook todo_, done_, replay_, blocked_, strict_, waiting_;  // strict_: blocked ones that are not to lag
  MessageRing ring_;
  MessageId last_;
  uint64_t history_first_ = 1;
  int64_t trimmed_time_s_ = 0;  // of the message before history_first_
  int64_t forgotten_s_ = 0;     // see Snapshot
  int64_t dropped_time_s_ = 0;  // of the message before ring_.first()
  ChannelCounts::Ref counts_;
  // Lower bounds of what those in the lists have had.
  uint64_t todo_floor_ = 0;
  uint64_t round_seq_ = 0;  // of done_
  uint64_t replay_floor_ = 0;
  uint64_t blocked_floor_ = 0;
  uint64_t strict_floor_ = 0;
  uint64_t backlog_seq_ = 0;  // messages beyond it count in this shard's backlog
  std::vector<Ticket> tickets_;
  uint32_t subscribers_ = 0;
  uint32_t waiting_count_ = 0;
  uint32_t barriers_ = 0;
  uint32_t serial_;
  bool attached_ = false;
  bool deleted_ = false;
  bool refused_ = false;
  EndReason refusal_ = EndReason::kTooManyChannels;
};

#pragma GCC diagnostic push
// It has one base and no virtual ones: where its members lie is known.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
inline Subscriber& LocalChannel::of(ListHook& hook) noexcept {
  return *reinterpret_cast<Subscriber*>(reinterpret_cast<char*>(&hook) - offsetof(Subscriber, hook_));
}
#pragma GCC diagnostic pop

inline uint64_t LocalChannel::seqOf(const Subscriber& subscriber) noexcept {
  return subscriber.seq_ & kSeqMask;
}
inline LocalChannel::State LocalChannel::stateOf(const Subscriber& subscriber) noexcept {
  return static_cast<State>((subscriber.seq_ & kStateMask) >> kStateShift);
}
inline SlowPolicy LocalChannel::policyOf(const Subscriber& subscriber) noexcept {
  return static_cast<SlowPolicy>((subscriber.seq_ & kPolicyMask) >> kPolicyShift);
}
inline void LocalChannel::setSeq(Subscriber& subscriber, uint64_t seq) noexcept {
  subscriber.seq_ = (subscriber.seq_ & ~kSeqMask) | seq;
}
inline void LocalChannel::setState(Subscriber& subscriber, State state) noexcept {
  subscriber.seq_ = (subscriber.seq_ & ~kStateMask) | (static_cast<uint64_t>(state) << kStateShift);
}
inline LocalChannel::Waiting* LocalChannel::waitingOf(const Subscriber& subscriber) noexcept {
  return reinterpret_cast<Waiting*>(static_cast<uintptr_t>(seqOf(subscriber)));
}

}  // namespace roost::push
