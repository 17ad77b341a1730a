#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "base/counted.h"
#include "push/hub.h"

namespace roost::push {

// Names a channel to a broker, and one shard's making of its mirror: an answer to an older one is not
// mistaken for an answer to the one that stands there now.
struct ChannelKey {
  BufferRef name;
  uint64_t hash = 0;  // of the name, the hub's
  uint32_t serial = 0;
};

// What is counted of a channel over all shards. Shared by its home and its mirrors.
class ChannelCounts final : public Counted {
 public:
  using Ref = CountedRef<ChannelCounts>;

  std::atomic<uint32_t> subscribers{0};       // exactly
  std::atomic<uint32_t> backlog_messages{0};  // deliveries that were posted, and not processed()
  std::atomic<uint64_t> backlog_bytes{0};
  std::atomic<int64_t> requested_ns{-1};  // when somebody last subscribed; -1: never
  // Its home holds publications until this channel's backlog has fallen: see HubState::Backlog.
  std::atomic<bool> home_waits{false};
};

// What a channel's history holds when a shard attaches. What is published afterwards is delivered.
struct Snapshot {
  MessageId last;              // seq 0: nothing published yet, and time_s when the channel was made
  uint64_t first_seq = 1;      // of the history; last.seq + 1: it is empty
  int64_t trimmed_time_s = 0;  // time of the message before first_seq; 0: there was none
  // When, at the latest, a channel of this name was forgotten that had messages: an id of before the first
  // message that is no younger may have missed some.
  int64_t forgotten_s = 0;
  std::vector<Message::Ref> messages;
  ChannelCounts::Ref counts;
};

struct BrokerMessage {
  Message::Ref message;
  uint64_t first_seq;  // of the history, from now on
  uint64_t ticket;     // acknowledge() is wanted when all have it; 0: is not
  ChannelCounts::Ref counts;
};

// Which of a shard's PublishCalls or InfoCalls.
using CallId = uint64_t;

// What a broker tells a shard, on that shard's thread.
class BrokerClient {
 public:
  // Answers attach(); may come from within it.
  virtual void onAttached(const ChannelKey& key, Snapshot snapshot) noexcept = 0;
  virtual void onAttachRefused(const ChannelKey& key, EndReason reason) noexcept = 0;
  // The following never come from within a call. A message, in order, none missing. processed() is to be
  // called for it.
  virtual void onMessage(const ChannelKey& key, const BrokerMessage& told) noexcept = 0;
  virtual void onTrim(const ChannelKey& key, uint64_t first_seq) noexcept = 0;
  virtual void onDeleted(const ChannelKey& key) noexcept = 0;
  // Answers barrier(): everything that was published before it was asked has been delivered.
  virtual void onBarrier(const ChannelKey& key, uint32_t number) noexcept = 0;
  // Answer publish(), info() and remove(); may come from within them.
  virtual void onPublished(CallId call, const PublishResult& result) noexcept = 0;
  virtual void onInfo(CallId call, const ChannelInfo& info) noexcept = 0;

 protected:
  ~BrokerClient() = default;
};

// Who owns the channels: gives ids, keeps histories, tells the shards. One part of it per shard, which that
// shard alone calls, on its thread. To one shard things are told in the order in which they happened.
class Broker {
 public:
  virtual ~Broker() = default;
  virtual void attach(const ChannelKey& key) noexcept = 0;
  virtual void detach(const ChannelKey& key) noexcept = 0;
  virtual void barrier(const ChannelKey& key, uint32_t number) noexcept = 0;
  // To how many the message of that ticket was given here, and how long after its publication the last had
  // it (-1: nobody). `all`: nobody is left who has yet to get it.
  virtual void acknowledge(const ChannelKey& key, uint64_t ticket, uint32_t delivered, int64_t last_ns,
                           bool all) noexcept = 0;
  // What was told of has been given to all who were to have it, or to nobody: it no longer waits here.
  virtual void processed(const ChannelKey& key, ChannelCounts& counts, uint32_t messages,
                         uint64_t bytes) noexcept = 0;

  virtual void publish(const ChannelKey& key, Publication publication, CallId call) noexcept = 0;
  virtual void info(const ChannelKey& key, CallId call) noexcept = 0;
  virtual void remove(const ChannelKey& key, CallId call) noexcept = 0;

  virtual void tick() noexcept = 0;
  virtual void stop() noexcept = 0;
};

}  // namespace roost::push
