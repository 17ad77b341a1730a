#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/list.h"
#include "event/task.h"
#include "push/broker.h"
#include "push/home_channel.h"
#include "push/hub_state.h"
#include "push/name_table.h"
#include "push/publish_queue.h"

namespace roost::push {

// The channels of one process, in its memory: the part of one shard, which is home to those whose name's hash
// says so. What concerns another part's channels is posted to it. Owned by the Hub; its shard's thread only,
// but for what it posts to itself.
class MemoryBroker final : public Broker {
 public:
  // `parts`, by shard, outlives it and is complete before anything is asked.
  MemoryBroker(HubState& hub, uint32_t index, BrokerClient& client,
               const std::vector<std::unique_ptr<MemoryBroker>>& parts) noexcept;
  ~MemoryBroker() override;

  void attach(const ChannelKey& key) noexcept override;
  void detach(const ChannelKey& key) noexcept override;
  void barrier(const ChannelKey& key, uint32_t number) noexcept override;
  void acknowledge(const ChannelKey& key, uint64_t ticket, uint32_t delivered, int64_t last_ns,
                   bool all) noexcept override;
  void processed(const ChannelKey& key, ChannelCounts& counts, uint32_t messages,
                 uint64_t bytes) noexcept override;
  void publish(const ChannelKey& key, Publication publication, CallId call) noexcept override;
  void info(const ChannelKey& key, CallId call) noexcept override;
  void remove(const ChannelKey& key, CallId call) noexcept override;
  void tick() noexcept override;
  void stop() noexcept override;

 private:
  // Who waits for a publication to be delivered.
  struct Wait {
    uint32_t origin;
    CallId call;
    PublishResult result;
    uint32_t awaited;  // shards that have yet to acknowledge
    int64_t until_ns;
  };

  MemoryBroker& part(uint32_t shard) const noexcept { return *parts_[shard]; }
  // Runs fn(part) on the thread of that shard: at once where it is this one, else posted.
  template <class Fn>
  void at(uint32_t shard, Fn&& fn);
  // Runs fn(client) on the thread of that shard, always posted.
  template <class Fn>
  void tell(uint32_t shard, Fn&& fn);

  // As home; `from` is the shard that asks.
  void attachHere(uint32_t from, const ChannelKey& key) noexcept;
  void detachHere(uint32_t from, const ChannelKey& key) noexcept;
  void acknowledgeHere(uint64_t ticket, uint32_t delivered, int64_t last_ns, bool all) noexcept;
  void publishHere(const ChannelKey& key, PublishRequest&& request) noexcept;
  bool answerKnownKey(HomeChannel* channel, const PublishRequest& request) noexcept;
  void publishNow(const ChannelKey& key, HomeChannel* channel, PublishRequest&& request) noexcept;
  bool fits(const Publication& publication) const noexcept;
  void refuse(const PublishRequest& request, PublishStatus status, const HomeChannel* channel) noexcept;
  void leaveQueue(const PublishRequest& request) noexcept;
  void refuseOverdue(int64_t now_ns) noexcept;

  // Waiting for room. A line that is not being advanced waits for something that will wake it: its channel's
  // share, a shard, or a task that has been posted.
  static constexpr uint32_t kRoom = UINT32_MAX;       // nothing is to be waited for
  static constexpr uint32_t kShare = UINT32_MAX - 1;  // the channel has as much waiting as one may have
  uint32_t fullFor(const HomeChannel* channel) const noexcept;
  void waitFor(uint32_t full, HomeChannel& channel, PublishLine& line) noexcept;
  void announceTo(uint32_t shard) noexcept;
  bool advance(PublishLine& line, uint32_t& budget) noexcept;
  void wakeLater(const ChannelKey& key) noexcept;
  void wake(const ChannelKey& key) noexcept;
  void wakeAll(uint32_t shard) noexcept;
  void deliver(HomeChannel& channel, const Message::Ref& message, uint64_t ticket) noexcept;
  void remember(HomeChannel& channel, std::string_view key, uint64_t content, int64_t now_ns,
                const PublishResult& result);
  void forgetKeys(HomeChannel& channel) noexcept;
  uint64_t makeWait(const PublishRequest& request, const HomeChannel& channel,
                    PublishResult& result) noexcept;
  void removeHere(uint32_t from, const ChannelKey& key, CallId call) noexcept;
  void answer(uint32_t to, CallId call, const PublishResult& result) noexcept;
  void answer(uint32_t to, CallId call, const ChannelInfo& info) noexcept;

  HomeChannel* findOrMake(const ChannelKey& key) noexcept;
  ChannelInfo infoOf(const HomeChannel& channel) const noexcept;
  void used(HomeChannel& channel) noexcept;
  // Sets when it is next looked at, or drops it where nothing holds it any more.
  void reconsider(HomeChannel& channel) noexcept;
  void drop(HomeChannel& channel) noexcept;
  // Lets go of what is too old, and tells the mirrors.
  void age(HomeChannel& channel) noexcept;
  void tellTrimmed(HomeChannel& channel) noexcept;
  void visitDue() noexcept;
  void endWaits(int64_t now_ns) noexcept;

  // Takes histories until all messages are within the cap again.
  void relieve() noexcept;
  int64_t excess() const noexcept;
  // What may stand above the cap for the moment that another loop takes to give its share.
  int64_t slack() const noexcept { return static_cast<int64_t>(hub_.options.max_history_bytes / 16); }
  HomeChannel& leastUsed() noexcept;        // REQUIRES: there is something to evict
  bool evictOldest(int64_t over) noexcept;  // false: there is nothing left to evict
  void publishOldestUse() noexcept;

  HubState& hub_;
  const uint32_t index_;
  BrokerClient& client_;
  const std::vector<std::unique_ptr<MemoryBroker>>& parts_;
  NameTable<HomeChannel> channels_;
  static constexpr uint32_t kWheel = 512;  // seconds; what is due later is looked at before
  std::unique_ptr<WheelHook[]> wheel_;     // by second modulo kWheel: channels to look at then
  // When channels were forgotten that had messages, the latest for each hash modulo kForgotten; at first all
  // those of before this hub.
  static constexpr uint32_t kForgotten = 4096;
  std::vector<int64_t> forgotten_s_;
  WheelHook due_;                       // channels to look at now
  int64_t wheel_s_;                     // seconds up to this one have been visited
  UseHook uses_;                        // channels with something to evict, the least recently used first
  std::atomic<int64_t> oldest_use_ns_;  // of those; INT64_MAX: none. Read by the others
  std::atomic<bool> asked_to_evict_{false};
  PublishQueue queue_;                              // publications that wait for room
  std::unique_ptr<std::atomic<bool>[]> announced_;  // by shard: it is to tell when it has room again
  std::unordered_map<uint64_t, Wait> waits_;
  uint64_t last_ticket_ = 0;
  uint64_t epoch_state_;
  bool visit_posted_ = false;
  bool stopped_ = false;
};

template <class Fn>
void MemoryBroker::at(uint32_t shard, Fn&& fn) {
  if (shard == index_) {
    fn(*this);
    return;
  }
  hub_.host.post(
      shard, event::makeTask([&target = part(shard), run = std::forward<Fn>(fn)]() mutable { run(target); }));
}

template <class Fn>
void MemoryBroker::tell(uint32_t shard, Fn&& fn) {
  hub_.host.post(shard, event::makeTask([&client = part(shard).client_,
                                         run = std::forward<Fn>(fn)]() mutable { run(client); }));
}

}  // namespace roost::push
