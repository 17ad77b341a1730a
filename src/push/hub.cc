#include "push/hub.h"

#include "push/hub_state.h"
#include "push/loop_shard.h"
#include "push/memory_broker.h"

namespace roost::push {

struct Hub::Impl {
  Impl(const HubOptions& options, uint32_t count, Host& host) : state(options, count, host) {
    for (uint32_t index = 0; index < count; ++index)
      shards.push_back(std::make_unique<LoopShard>(state, index));
    for (uint32_t index = 0; index < count; ++index) {
      brokers.push_back(std::make_unique<MemoryBroker>(state, index, *shards[index], brokers));
      shards[index]->setBroker(*brokers[index]);
    }
  }
  ~Impl() { shards.clear(); }  // before what they speak to

  HubState state;
  std::vector<std::unique_ptr<MemoryBroker>> brokers;
  std::vector<std::unique_ptr<LoopShard>> shards;
};

Hub::Hub(const HubOptions& options, uint32_t shards, Host& host)
    : impl_(std::make_unique<Impl>(options, shards, host)) {}

Hub::~Hub() = default;

Shard& Hub::shard(uint32_t index) noexcept {
  return *impl_->shards[index];
}

const HubOptions& Hub::options() const noexcept {
  return impl_->state.options;
}

HubNumbers Hub::numbers() const noexcept {
  const HubState& state = impl_->state;
  HubNumbers sum;
  sum.channels = state.channels.load(std::memory_order_relaxed);
  sum.history_bytes = state.held_bytes.load(std::memory_order_relaxed);
  uint64_t ended = 0;
  for (uint32_t shard = 0; shard < state.shards; ++shard) ended += state.numbers[shard].unsubscribed.value();
  for (uint32_t shard = 0; shard < state.shards; ++shard) {
    const ShardNumbers& numbers = state.numbers[shard];
    sum.subscribers += numbers.subscribed.value();
    sum.published += numbers.published.value();
    sum.delivered += numbers.delivered.value();
    sum.gaps += numbers.gaps.value();
    sum.evictions += numbers.evictions.value();
    sum.slow += numbers.slow.value();
    sum.refused += numbers.refused.value();
    sum.queued += numbers.queued.value();
    sum.queued_bytes += state.backlogs[shard].queued_bytes.load(std::memory_order_relaxed);
  }
  sum.subscribers -= ended;
  return sum;
}

}  // namespace roost::push
