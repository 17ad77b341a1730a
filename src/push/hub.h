#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/random.h"
#include "event/task.h"
#include "push/message.h"
#include "push/subscriber.h"

namespace roost::push {

// What the hub needs of the world: tests put a simulation behind it.
class Host {
 public:
  // Runs the task on that shard's thread, later; tasks of one thread for one shard in their order. Any
  // thread.
  virtual void post(uint32_t shard, std::unique_ptr<event::Task> task) noexcept = 0;
  virtual int64_t nowNs() const noexcept = 0;  // monotonic, to the microsecond; any thread
  virtual int64_t unixSeconds() const noexcept = 0;
  // Of which the secret of hashes and the epochs are made.
  virtual uint64_t randomWord() noexcept { return roost::randomWord(); }

 protected:
  ~Host() = default;
};

// Limits of the whole process; 0: none.
struct HubOptions {
  uint64_t max_history_bytes =
      256u << 20;  // of all messages held; the least recently used channels' go first
  uint32_t max_channels = 1'000'000;
  uint32_t max_subscribers = 0;
  uint32_t max_subscribers_per_channel = 0;
  // What may wait for one loop to take it. Beyond it a publication waits for room.
  uint32_t max_backlog_messages = 4096;
  uint64_t max_backlog_bytes = 64u << 20;
  // How long a publication may wait for room, and how many bytes of them one loop's publishers may have
  // waiting or on their way. Beyond either it is refused (kOverloaded). queue_ms 0: none waits.
  uint32_t queue_ms = 5000;
  uint64_t max_queued_bytes = 64u << 20;
  // What is kept on a loop for subscribers that lag, beyond the channel's history, per channel.
  uint32_t slow_window_messages = 256;
  uint64_t slow_window_bytes = 1u << 20;
  // What somebody is given from within subscribe() and resume(); the rest comes beside what others are given.
  uint32_t at_once_messages = 256;
  uint32_t max_idempotency_keys = 64;  // remembered per channel
};

// Counted per shard, read by any thread; `Hub` sums them. Modules count what is theirs (transports, lag).
struct HubNumbers {
  uint64_t channels = 0;
  uint64_t subscribers = 0;
  uint64_t published = 0;
  uint64_t delivered = 0;  // to subscribers
  uint64_t gaps = 0;
  uint64_t evictions = 0;     // times that the memory cap took from a channel's history
  uint64_t slow = 0;          // times that a subscriber began to lag
  uint64_t refused = 0;       // publications
  uint64_t queued = 0;        // publications that had to wait for room
  uint64_t queued_bytes = 0;  // of publications that wait for room or are on their way, now
  int64_t history_bytes = 0;
};

// Where a subscription begins.
struct Start {
  enum class Kind : uint8_t { kNewest, kOldest, kBack, kAfter };
  Kind kind = Kind::kNewest;  // kNewest: what is published from now on
  uint32_t back = 0;          // kBack: with that many of the last messages
  // kAfter: behind that message. One that is not known any more, of another epoch or of the future: a gap is
  // told, then as kOldest, and of a foreign() one too. (But where it says that there was no message yet, and
  // there is none now, nor may there have been any in between, nothing is told.) Without a tag (epoch 0, seq
  // 0): with the first published after time_s.
  MessageId after;
};

struct SubscribeOptions {
  Start start;
  SlowPolicy slow = SlowPolicy::kDropOldest;
};

struct Publication {
  BufferRef payload;
  std::string content_type;
  std::string event;
  // The channel's history from now on. 0 messages: none.
  uint32_t history_messages = 10;
  uint32_t history_s = 3600;  // 0: whatever its age
  // A key that the channel has seen is answered as the first time, and nothing is published; or refused
  // (kKeyReused) where payload, type or event are others than then.
  std::string idempotency_key;
  uint32_t wait_ms = 0;  // answer when it has been delivered to all, or after this time; 0: at once
};

enum class PublishStatus : uint8_t { kPublished, kTooManyChannels, kOverloaded, kNoMemory, kKeyReused };

struct ChannelInfo {
  bool exists = false;
  uint32_t messages = 0;  // in its history
  uint32_t subscribers = 0;
  int64_t requested_ago_s = -1;  // since somebody last subscribed; -1: never
  MessageId last_id;
};

struct PublishResult {
  PublishStatus status = PublishStatus::kPublished;
  MessageId id;
  int64_t published_ns = 0;  // monotonic, when it got that id
  ChannelInfo channel;       // with this message in it; subscribers: when it was published
  bool repeated = false;     // by idempotency_key
  bool queued = false;       // it waited for room
  // With wait_ms:
  uint32_t delivered = 0;         // to how many
  int64_t last_delivery_ns = -1;  // how long after publication the last had it; -1: to nobody
  bool all_delivered = false;     // false: time was up
};

// Answers, on the thread of the shard that was asked, possibly from within the call that asks. Exactly one of
// them comes, unless the hub ends first; then they are destroyed.
class PublishCall {
 public:
  virtual ~PublishCall() = default;
  virtual void onPublished(const PublishResult& result) noexcept = 0;
};
class InfoCall {
 public:
  virtual ~InfoCall() = default;
  virtual void onInfo(const ChannelInfo& info) noexcept = 0;
};

class Broker;
class LocalChannel;
class Hub;

// The part of the hub that belongs to one loop: its subscribers, and the channels whose home it is. Owned by
// the Hub; its thread only.
class Shard {
 public:
  virtual ~Shard() = default;

  virtual void subscribe(std::string_view channel, const SubscribeOptions& options,
                         Subscriber& subscriber) noexcept = 0;
  // No call comes any more. Nothing where it is not subscribed.
  virtual void unsubscribe(Subscriber& subscriber) noexcept = 0;
  // After kBlocked: there is room again. Nothing where it is not blocked.
  virtual void resume(Subscriber& subscriber) noexcept = 0;

  // Messages of one caller to one channel are published in the order of its calls. Where the loops have not
  // yet delivered what was published before, the publication waits, and with it the answer: a publisher that
  // waits for its answers is slowed down to what can be delivered.
  virtual void publish(std::string_view channel, Publication publication,
                       std::unique_ptr<PublishCall> call) noexcept = 0;
  virtual void info(std::string_view channel, std::unique_ptr<InfoCall> call) noexcept = 0;
  // Deletes it: its subscribers get onEnd(kDeleted). The answer is what it was.
  virtual void remove(std::string_view channel, std::unique_ptr<InfoCall> call) noexcept = 0;

  // Four times a second: ages histories, lets go of what nobody uses, ends waiting publications.
  virtual void tick() noexcept = 0;
  // Ends all subscriptions (kShutdown) and answers nothing more. Before its loop ends.
  virtual void stop() noexcept = 0;
  virtual Host& host() const noexcept = 0;
};

// Publish and subscribe for the process. Made before the loops, outlives them. Any thread, unless it says
// otherwise.
class Hub {
 public:
  Hub(const HubOptions& options, uint32_t shards, Host& host);
  ~Hub();  // REQUIRES: all shards have been stopped, or never used
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  Shard& shard(uint32_t index) noexcept;  // for that loop's thread
  HubNumbers numbers() const noexcept;
  const HubOptions& options() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace roost::push
