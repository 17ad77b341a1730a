#include "push/loop_shard.h"

#include <utility>

#include "event/task.h"

namespace roost::push {
namespace {

constexpr uint32_t kSliceDeliveries = 256;
constexpr int64_t kSliceNs = 1'000'000;
constexpr uint32_t kTurn = 32;  // deliveries before another channel has its turn, and the clock is asked

// A channel that nobody uses stays attached for so long: long-polls come back at once, others that poll a
// little later, and would be told of a gap if it were forgotten. The shorter time where channels are scarce.
constexpr int64_t kLingerNs = 120'000'000'000;
constexpr int64_t kScarceLingerNs = 5'000'000'000;
// A burst of channels that nobody uses any more may not keep its memory for as long: of all loops together
// only so many stay, some 3 MB; the others go sooner, so many at each tick, which takes half a millisecond.
constexpr uint32_t kFewLingering = 4096;
constexpr int64_t kManyLingerNs = 3'000'000'000;
constexpr uint32_t kMostDetached = 512;
constexpr uint32_t kMostLingering = 8192;

}  // namespace

LoopShard::~LoopShard() {
  while (LocalChannel* channel = channels_.any()) takeOut(*channel);
}

// --- subscribing ----------------------------------------------------------------------------------------

ChannelKey LoopShard::keyOf(std::string_view channel) const {
  return {BufferRef::copyOf(channel), hub_.hashOf(channel), 0};
}

// Whether all but a part (1 of `parts`) of the channels that there may be are there.
bool LoopShard::channelsScarce(uint32_t parts) const noexcept {
  const uint64_t most = hub_.options.max_channels;
  return most != 0 && hub_.channels.load(std::memory_order_relaxed) >= most - most / parts;
}

// How long a channel that nobody uses stays.
int64_t LoopShard::lingerNs() const noexcept {
  if (lingering_count_ > kFewLingering / hub_.shards) return kManyLingerNs;
  return channelsScarce(2) ? kScarceLingerNs : kLingerNs;
}

LocalChannel* LoopShard::find(const ChannelKey& key) noexcept {
  LocalChannel* channel = channels_.find(key.name.view(), key.hash);
  return channel != nullptr && channel->serial() == key.serial ? channel : nullptr;
}

void LoopShard::subscribe(std::string_view channel, const SubscribeOptions& options,
                          Subscriber& subscriber) noexcept {
  if (stopped_) {
    subscriber.onEnd(EndReason::kShutdown);
    return;
  }
  const Entry entry(*this);
  findOrAttach(channel).add(subscriber, options);
}

LocalChannel& LoopShard::findOrAttach(std::string_view channel) {
  const uint64_t hash = hub_.hashOf(channel);
  LocalChannel* known = channels_.find(channel, hash);
  if (known != nullptr) {
    if (known->idle.linked()) {
      known->idle.unlink();
      --lingering_count_;
    }
    return *known;
  }
  for (int gone = 0; gone < 2 && lingering_.linked() && channelsScarce(8); ++gone)
    detach(LocalChannel::firstOf(lingering_));
  auto made = std::make_unique<LocalChannel>(*this, BufferRef::copyOf(channel), hash, ++last_serial_);
  LocalChannel& added = *made.release();
  channels_.insert(added);
  broker_->attach(added.key());
  // A refusal has taken it out again: whoever comes is told so.
  return added;
}

void LoopShard::unsubscribe(Subscriber& subscriber) noexcept {
  LocalChannel* channel = LocalChannel::of(subscriber);
  if (channel == nullptr) return;
  const Entry entry(*this);
  channel->remove(subscriber);
}

void LoopShard::resume(Subscriber& subscriber) noexcept {
  LocalChannel* channel = LocalChannel::of(subscriber);
  if (channel == nullptr) return;
  const Entry entry(*this);
  channel->resume(subscriber);
}

void LoopShard::forget(const Subscriber& subscriber) noexcept {
  for (Guard* guard = guards_; guard != nullptr; guard = guard->outer_) {
    if (guard->subscriber_ == &subscriber) guard->subscriber_ = nullptr;
  }
}

bool LoopShard::countIn(ChannelCounts& counts) noexcept {
  const auto within = [](std::atomic<uint32_t>& count, uint32_t limit) {
    uint32_t before = count.load(std::memory_order_relaxed);
    do {
      if (limit != 0 && before >= limit) return false;  // never one too many, not even for a moment
    } while (!count.compare_exchange_weak(before, before + 1, std::memory_order_relaxed));
    return true;
  };
  const HubOptions& limits = hub_.options;
  if (limits.max_subscribers != 0 && !within(hub_.subscribers, limits.max_subscribers)) return false;
  if (!within(counts.subscribers, limits.max_subscribers_per_channel)) {
    if (limits.max_subscribers != 0) hub_.subscribers.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  counts.requested_ns.store(hub_.host.nowNs(), std::memory_order_relaxed);
  numbers().subscribed.add(1);
  return true;
}

void LoopShard::countOut(ChannelCounts& counts) noexcept {
  if (hub_.options.max_subscribers != 0) hub_.subscribers.fetch_sub(1, std::memory_order_relaxed);
  counts.subscribers.fetch_sub(1, std::memory_order_relaxed);
  numbers().unsubscribed.add(1);
}

// --- channels -------------------------------------------------------------------------------------------

std::unique_ptr<LocalChannel> LoopShard::takeOut(LocalChannel& channel) noexcept {
  channels_.erase(channel);
  if (channel.idle.linked()) {
    channel.idle.unlink();
    --lingering_count_;
  }
  return std::unique_ptr<LocalChannel>(&channel);
}

void LoopShard::detach(LocalChannel& channel) noexcept {
  const std::unique_ptr<LocalChannel> owned = takeOut(channel);
  broker_->detach(owned->key());
}

void LoopShard::wantTidy(LocalChannel& channel) noexcept {
  if (!channel.untidy.linked()) untidy_.insertBefore(channel.untidy);
}

void LoopShard::tidyAll() noexcept {
  while (untidy_.linked()) {
    LocalChannel& channel = LocalChannel::firstOf(untidy_);
    channel.untidy.unlink();
    channel.tidy();
    if (!channel.unused() || channel.untidy.linked()) continue;
    if (channel.ended()) {
      delete &channel;
    } else if (!channel.idle.linked()) {
      channel.unused_since_ns = hub_.host.nowNs();
      lingering_.insertBefore(channel.idle);
      ++lingering_count_;
    }
  }
  while (lingering_count_ > kMostLingering) detach(LocalChannel::firstOf(lingering_));
}

void LoopShard::wantSweep(LocalChannel& channel) noexcept {
  if (!channel.turn.linked()) turns_.insertBefore(channel.turn);
  if (sweep_posted_) return;
  sweep_posted_ = true;
  hub_.host.post(index_, event::makeTask([this] { runSweep(); }));
}

void LoopShard::runSweep() noexcept {
  const Entry entry(*this);
  sweep_posted_ = false;
  const int64_t until_ns = hub_.host.nowNs() + kSliceNs;
  for (uint32_t left = kSliceDeliveries; left > 0 && turns_.linked();) {
    LocalChannel& channel = LocalChannel::firstOf(turns_);
    channel.turn.unlink();
    uint32_t budget = kTurn;
    channel.sweep(budget);
    if (channel.toSweep() && !channel.turn.linked()) turns_.insertBefore(channel.turn);
    left -= std::min(left, kTurn - budget + 1);
    if (hub_.host.nowNs() >= until_ns) break;
  }
  if (turns_.linked()) wantSweep(LocalChannel::firstOf(turns_));
}

void LoopShard::tick() noexcept {
  if (stopped_) return;
  const Entry entry(*this);
  const int64_t now_ns = hub_.host.nowNs();
  for (uint32_t gone = 0; lingering_.linked() && gone < kMostDetached; ++gone) {
    LocalChannel& channel = LocalChannel::firstOf(lingering_);
    if (now_ns - channel.unused_since_ns < lingerNs()) break;
    detach(channel);
  }
  broker_->tick();
}

void LoopShard::stop() noexcept {
  if (stopped_) return;
  stopped_ = true;
  publish_calls_.clear();
  info_calls_.clear();
  ++depth_;  // nothing is tidied: it all goes
  while (LocalChannel* channel = channels_.any()) {
    const std::unique_ptr<LocalChannel> owned = takeOut(*channel);
    owned->endAll(EndReason::kShutdown);
  }
  while (ended_.linked()) {
    const std::unique_ptr<LocalChannel> owned(&LocalChannel::firstOf(ended_));
    owned->endAll(EndReason::kShutdown);
  }
  --depth_;
  broker_->stop();
}

// --- what the broker tells ------------------------------------------------------------------------------

void LoopShard::onAttached(const ChannelKey& key, Snapshot snapshot) noexcept {
  const Entry entry(*this);
  if (LocalChannel* channel = find(key)) channel->onAttached(std::move(snapshot));
}

void LoopShard::onAttachRefused(const ChannelKey& key, EndReason reason) noexcept {
  const Entry entry(*this);
  LocalChannel* channel = find(key);
  if (channel == nullptr) return;
  setAside(*channel);
  channel->onRefused(reason);
}

void LoopShard::onMessage(const ChannelKey& key, const BrokerMessage& told) noexcept {
  const Entry entry(*this);
  if (LocalChannel* channel = find(key)) {
    channel->onMessage(told);
    return;
  }
  broker_->processed(key, *told.counts, 1, told.message->bytes());
  if (told.ticket != 0 && !stopped_) broker_->acknowledge(key, told.ticket, 0, -1, true);
}

void LoopShard::onTrim(const ChannelKey& key, uint64_t first_seq) noexcept {
  const Entry entry(*this);
  if (LocalChannel* channel = find(key)) channel->onTrim(first_seq);
}

void LoopShard::onDeleted(const ChannelKey& key) noexcept {
  const Entry entry(*this);
  LocalChannel* channel = find(key);
  if (channel == nullptr) return;
  setAside(*channel);
  channel->onDeleted();
  // Those that have not begun do so with the next of that name.
  LocalChannel::Unbegun unbegun{};
  while (channel->takeUnbegun(unbegun))
    findOrAttach(channel->name.view()).add(*unbegun.subscriber, unbegun.options);
}

void LoopShard::setAside(LocalChannel& channel) noexcept {
  takeOut(channel).release();
  ended_.insertBefore(channel.idle);
  wantTidy(channel);
}

void LoopShard::onBarrier(const ChannelKey& key, uint32_t number) noexcept {
  const Entry entry(*this);
  if (LocalChannel* channel = find(key)) channel->onBarrier(number);
}

// --- publishing -----------------------------------------------------------------------------------------

void LoopShard::publish(std::string_view channel, Publication publication,
                        std::unique_ptr<PublishCall> call) noexcept {
  if (stopped_) return;
  const CallId id = ++last_call_;
  publish_calls_.emplace(id, std::move(call));
  broker_->publish(keyOf(channel), std::move(publication), id);
}

void LoopShard::info(std::string_view channel, std::unique_ptr<InfoCall> call) noexcept {
  if (stopped_) return;
  const CallId id = ++last_call_;
  info_calls_.emplace(id, std::move(call));
  broker_->info(keyOf(channel), id);
}

void LoopShard::remove(std::string_view channel, std::unique_ptr<InfoCall> call) noexcept {
  if (stopped_) return;
  const CallId id = ++last_call_;
  info_calls_.emplace(id, std::move(call));
  broker_->remove(keyOf(channel), id);
}

void LoopShard::onPublished(CallId call, const PublishResult& result) noexcept {
  const auto found = publish_calls_.find(call);
  if (found == publish_calls_.end()) return;
  const std::unique_ptr<PublishCall> answered = std::move(found->second);
  publish_calls_.erase(found);
  answered->onPublished(result);
}

void LoopShard::onInfo(CallId call, const ChannelInfo& info) noexcept {
  const auto found = info_calls_.find(call);
  if (found == info_calls_.end()) return;
  const std::unique_ptr<InfoCall> answered = std::move(found->second);
  info_calls_.erase(found);
  answered->onInfo(info);
}

}  // namespace roost::push
