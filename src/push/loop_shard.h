#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "push/broker.h"
#include "push/hub_state.h"
#include "push/local_channel.h"
#include "push/name_table.h"

namespace roost::push {

// A loop's part of the hub: the mirrors of the channels that somebody listens to here, the sweep that takes
// turns among them, and the calls that wait for an answer. Owned by the Hub; its loop's thread only.
class LoopShard final : public Shard, public BrokerClient {
 public:
  LoopShard(HubState& hub, uint32_t index) noexcept : hub_(hub), index_(index) {}
  ~LoopShard() override;

  void setBroker(Broker& broker) noexcept { broker_ = &broker; }
  Broker& broker() noexcept { return *broker_; }
  const HubOptions& options() const noexcept { return hub_.options; }
  ShardNumbers& numbers() noexcept { return hub_.numbers[index_]; }

  void subscribe(std::string_view channel, const SubscribeOptions& options,
                 Subscriber& subscriber) noexcept override;
  void unsubscribe(Subscriber& subscriber) noexcept override;
  void resume(Subscriber& subscriber) noexcept override;
  void publish(std::string_view channel, Publication publication,
               std::unique_ptr<PublishCall> call) noexcept override;
  void info(std::string_view channel, std::unique_ptr<InfoCall> call) noexcept override;
  void remove(std::string_view channel, std::unique_ptr<InfoCall> call) noexcept override;
  void tick() noexcept override;
  void stop() noexcept override;
  Host& host() const noexcept override { return hub_.host; }

  void onAttached(const ChannelKey& key, Snapshot snapshot) noexcept override;
  void onAttachRefused(const ChannelKey& key, EndReason reason) noexcept override;
  void onMessage(const ChannelKey& key, const BrokerMessage& told) noexcept override;
  void onTrim(const ChannelKey& key, uint64_t first_seq) noexcept override;
  void onDeleted(const ChannelKey& key) noexcept override;
  void onBarrier(const ChannelKey& key, uint32_t number) noexcept override;
  void onPublished(CallId call, const PublishResult& result) noexcept override;
  void onInfo(CallId call, const ChannelInfo& info) noexcept override;

  // Watches a subscriber during its call: gone() once it has been unsubscribed, by whomever.
  class Guard {
   public:
    Guard(LoopShard& shard, Subscriber& subscriber) noexcept
        : shard_(shard), subscriber_(&subscriber), outer_(shard.guards_) {
      shard.guards_ = this;
    }
    ~Guard() { shard_.guards_ = outer_; }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    bool gone() const noexcept { return subscriber_ == nullptr; }

   private:
    friend class LoopShard;
    LoopShard& shard_;
    Subscriber* subscriber_;
    Guard* outer_;
  };
  void forget(const Subscriber& subscriber) noexcept;

  // Counts one more subscriber; false: a limit does not allow it.
  bool countIn(ChannelCounts& counts) noexcept;
  void countOut(ChannelCounts& counts) noexcept;
  void wantTidy(LocalChannel& channel) noexcept;
  void wantSweep(LocalChannel& channel) noexcept;

 private:
  // While one is on the stack nothing is tidied; the last one to go does it.
  class Entry {
   public:
    explicit Entry(LoopShard& shard) noexcept : shard_(shard) { ++shard_.depth_; }
    ~Entry() {
      if (shard_.depth_ == 1) shard_.tidyAll();
      --shard_.depth_;
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    LoopShard& shard_;
  };

  ChannelKey keyOf(std::string_view channel) const;
  bool channelsScarce(uint32_t parts) const noexcept;
  LocalChannel* find(const ChannelKey& key) noexcept;
  int64_t lingerNs() const noexcept;
  LocalChannel& findOrAttach(std::string_view channel);
  std::unique_ptr<LocalChannel> takeOut(LocalChannel& channel) noexcept;
  void detach(LocalChannel& channel) noexcept;
  // It is no longer the one of its name, and goes when its last subscriber has been told.
  void setAside(LocalChannel& channel) noexcept;
  void tidyAll() noexcept;
  void runSweep() noexcept;

  HubState& hub_;
  const uint32_t index_;
  Broker* broker_ = nullptr;
  NameTable<LocalChannel> channels_;
  ListHook turns_;      // channels with somebody to give messages to
  ListHook untidy_;     // channels
  ListHook lingering_;  // channels that nobody uses, the longest unused first
  ListHook ended_;      // channels that were deleted or refused
  uint32_t lingering_count_ = 0;
  uint32_t last_serial_ = 0;
  uint32_t depth_ = 0;
  Guard* guards_ = nullptr;
  CallId last_call_ = 0;
  std::unordered_map<CallId, std::unique_ptr<PublishCall>> publish_calls_;
  std::unordered_map<CallId, std::unique_ptr<InfoCall>> info_calls_;
  bool sweep_posted_ = false;
  bool stopped_ = false;
};

}  // namespace roost::push
