#pragma once

#include <cassert>
#include <cstdint>

#include "base/list.h"
#include "push/message.h"

namespace roost::push {

class LocalChannel;

// What became of a message that was given to a subscriber. kAccepted: all of it is with the kernel. kBlocked:
// taken, but bytes wait for the peer: nothing more until Shard::resume(). kDone: taken, and it was the last
// that is wanted (long-poll): no longer subscribed. kClosed: the client is gone: no longer subscribed.
enum class Delivery : uint8_t { kAccepted, kBlocked, kDone, kClosed };

// Why a subscription ended, or did not begin, without the subscriber asking for it.
enum class EndReason : uint8_t {
  kDeleted,             // the channel was deleted: 410
  kTooSlow,             // SlowPolicy::kDisconnect
  kTooManyChannels,     // limits: 503
  kTooManySubscribers,  // of the channel, or in all: 503
  kShutdown
};

// Messages that a subscriber will not get: the first that follows is not the one after `after`. `after.seq` 0
// with an unknown epoch: the id it came with means nothing here.
struct Gap {
  MessageId after;      // the last it had, or the id it asked with
  uint64_t missed = 0;  // how many; 0: not known (another epoch)
  MessageId position;   // just before what follows: good to come back with
};

// What happens to a subscriber that lags so far behind that messages it needs are let go.
enum class SlowPolicy : uint8_t {
  kDropOldest,  // goes on with the oldest there is; the gap is told
  kLatest,      // goes on with the newest, all between dropped; the gap is told
  kDisconnect   // onEnd(kTooSlow)
};

// One client listening to one channel, whatever the transport. Made by a module, which owns it; belongs to
// one Shard and is used on its loop's thread. It may be destroyed at any time, also from within its own
// calls, if it is not subscribed then (Shard::unsubscribe).
//
// Calls come in this order: onSubscribed() or onEnd(), once; then onGap() and onMessage(), in the order of
// publication, none twice; at most one onEnd(), after which nothing comes and it is no longer subscribed.
// They may come from within Shard::subscribe() and Shard::resume(), never from within publish().
class Subscriber {
 public:
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;
  bool subscribed() const noexcept { return channel_ != nullptr; }

  // The home of the channel knows of it: it counts, and every message from its start on will come. `position`
  // is the id just before that start, good to come back with; it stays valid until the call returns.
  virtual void onSubscribed(const MessageId& position) noexcept = 0;
  virtual Delivery onMessage(const Message::Ref& message) noexcept = 0;
  // Comes before the first message behind the gap. May answer kAccepted, kBlocked or kClosed.
  virtual Delivery onGap(const Gap& gap) noexcept = 0;
  virtual void onEnd(EndReason reason) noexcept = 0;

 protected:
  Subscriber() noexcept = default;
  ~Subscriber() { assert(!subscribed()); }

 private:
  friend class LocalChannel;
  friend class Shard;
  ListHook hook_;  // among those of its channel in its shard
  LocalChannel* channel_ = nullptr;
  uint64_t seq_ = 0;  // of the last message it has had (the high bits may serve the shard as flags)
};
static_assert(sizeof(Subscriber) <= 40, "subscriber budget");

}  // namespace roost::push
