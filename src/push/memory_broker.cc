#include "push/memory_broker.h"

#include <algorithm>
#include <utility>

#include "base/memory.h"

namespace roost::push {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kMsNs = 1'000'000;
constexpr size_t kMostWaits = 4096;  // publications of a home that wait for delivery

}  // namespace

MemoryBroker::MemoryBroker(HubState& hub, uint32_t index, BrokerClient& client,
                           const std::vector<std::unique_ptr<MemoryBroker>>& parts) noexcept
    : hub_(hub),
      index_(index),
      client_(client),
      parts_(parts),
      wheel_(new WheelHook[kWheel]),
      forgotten_s_(kForgotten, hub.host.unixSeconds()),
      wheel_s_(hub.host.nowNs() / kSecondNs),
      oldest_use_ns_(INT64_MAX),
      queue_(hub.shards),
      announced_(new std::atomic<bool>[hub.shards]()),
      epoch_state_(hub.host.randomWord()) {}

MemoryBroker::~MemoryBroker() {
  stop();
}

void MemoryBroker::stop() noexcept {
  stopped_ = true;
  waits_.clear();
  queue_.clear();
  while (HomeChannel* channel = channels_.any()) drop(*channel);
  oldest_use_ns_.store(INT64_MAX, std::memory_order_relaxed);
}

// --- mirrors --------------------------------------------------------------------------------------------

void MemoryBroker::attach(const ChannelKey& key) noexcept {
  at(hub_.homeOf(key.hash), [from = index_, key](MemoryBroker& home) { home.attachHere(from, key); });
}

void MemoryBroker::attachHere(uint32_t from, const ChannelKey& key) noexcept {
  if (stopped_) return;
  HomeChannel* channel = findOrMake(key);
  Snapshot snapshot;
  const bool has_room =
      channel != nullptr && memory::forPeer([&] { snapshot.messages.reserve(channel->history.size()); });
  if (!has_room) {
    if (channel != nullptr) reconsider(*channel);
    at(from, [key](MemoryBroker& part) { part.client_.onAttachRefused(key, EndReason::kTooManyChannels); });
    return;
  }
  age(*channel);
  channel->attach(from, key.serial);
  if (!channel->counts) channel->counts = ChannelCounts::Ref::adopt(new ChannelCounts);
  used(*channel);
  snapshot.last = channel->last;
  snapshot.first_seq = channel->history.first();
  snapshot.trimmed_time_s = channel->trimmed_time_s;
  snapshot.forgotten_s = channel->forgotten_s;
  snapshot.counts = channel->counts;
  for (uint64_t seq = channel->history.first(); seq < channel->history.next(); ++seq)
    snapshot.messages.push_back(channel->history.at(seq));
  at(from, [key, made = std::move(snapshot)](MemoryBroker& part) mutable {
    part.client_.onAttached(key, std::move(made));
  });
}

void MemoryBroker::detach(const ChannelKey& key) noexcept {
  at(hub_.homeOf(key.hash), [from = index_, key](MemoryBroker& home) { home.detachHere(from, key); });
}

void MemoryBroker::detachHere(uint32_t from, const ChannelKey& key) noexcept {
  HomeChannel* channel = channels_.find(key.name.view(), key.hash);
  if (channel == nullptr) return;
  channel->detach(from, key.serial);
  reconsider(*channel);
}

void MemoryBroker::barrier(const ChannelKey& key, uint32_t number) noexcept {
  at(hub_.homeOf(key.hash), [from = index_, key, number](MemoryBroker& home) {
    home.tell(from, [key, number](BrokerClient& client) { client.onBarrier(key, number); });
  });
}

// --- publishing -----------------------------------------------------------------------------------------

// A key that the channel knows is answered as the first time; with another message it is refused.
bool MemoryBroker::answerKnownKey(HomeChannel* channel, const PublishRequest& request) noexcept {
  const std::string& key = request.publication.idempotency_key;
  if (channel == nullptr || channel->keys == nullptr || key.empty()) return false;
  if (const IdempotencyKeys::Entry* known = channel->keys->find(hub_.key, key, hub_.host.nowNs())) {
    if (known->content != IdempotencyKeys::contentHash(hub_.key, request.publication)) {
      refuse(request, PublishStatus::kKeyReused, channel);
      return true;
    }
    PublishResult result = known->result;
    result.repeated = true;
    leaveQueue(request);
    answer(request.origin, request.call, result);
    return true;
  }
  if (channel->keys->empty()) forgetKeys(*channel);
  return false;
}

// Gives it an id, keeps it, and tells the mirrors. `channel` is the key's, nullptr where there is none yet.
void MemoryBroker::publishNow(const ChannelKey& key, HomeChannel* channel,
                              PublishRequest&& request) noexcept {
  Publication& publication = request.publication;
  if (!fits(publication)) return refuse(request, PublishStatus::kNoMemory, channel);
  if (channel == nullptr) channel = findOrMake(key);
  if (channel == nullptr) {
    const uint32_t most = hub_.options.max_channels;
    const bool too_many = most != 0 && hub_.channels.load(std::memory_order_relaxed) >= most;
    return refuse(request, too_many ? PublishStatus::kTooManyChannels : PublishStatus::kNoMemory, nullptr);
  }
  if (!memory::forPeer([&] { channel->history.makeRoom(); })) {
    if (!channel->needed()) drop(*std::exchange(channel, nullptr));
    return refuse(request, PublishStatus::kNoMemory, channel);
  }
  leaveQueue(request);
  const int64_t now_ns = hub_.host.nowNs();
  const std::string& key_text = publication.idempotency_key;
  const uint64_t content = key_text.empty() ? 0 : IdempotencyKeys::contentHash(hub_.key, publication);
  MessageId id = channel->last;
  id.time_s = std::max(id.time_s, hub_.host.unixSeconds());
  ++id.seq;
  const Message::Ref message =
      Message::make(id, now_ns, std::move(publication.payload), std::move(publication.content_type),
                    std::move(publication.event), &hub_.held_bytes);
  channel->add(message, publication.history_messages, publication.history_s);
  hub_.numbers[index_].published.add(1);
  PublishResult result;
  result.id = id;
  result.published_ns = now_ns;
  result.channel = infoOf(*channel);
  result.queued = request.queued;
  if (!key_text.empty()) remember(*channel, key_text, content, now_ns, result);
  const uint64_t ticket = publication.wait_ms == 0 ? 0 : makeWait(request, *channel, result);
  deliver(*channel, message, ticket);
  used(*channel);
  reconsider(*channel);
  relieve();
  if (ticket == 0) answer(request.origin, request.call, result);
}

// Histories give way, but what slow clients hold does not.
bool MemoryBroker::fits(const Publication& publication) const noexcept {
  const HubOptions& limits = hub_.options;
  if (limits.max_history_bytes == 0) return true;
  const auto held = static_cast<uint64_t>(hub_.held_bytes.load(std::memory_order_relaxed));
  return held + publication.payload.size() <= 2 * limits.max_history_bytes + limits.max_backlog_bytes;
}

void MemoryBroker::deliver(HomeChannel& channel, const Message::Ref& message, uint64_t ticket) noexcept {
  for (const HomeChannel::Attachment& attachment : channel.attachments) {
    hub_.backlogs[attachment.shard].add(message->bytes());
    channel.counts->backlog_messages.fetch_add(1, std::memory_order_relaxed);
    channel.counts->backlog_bytes.fetch_add(message->bytes(), std::memory_order_relaxed);
    tell(attachment.shard, [key = ChannelKey{channel.name, channel.hash, attachment.serial},
                            told = BrokerMessage{message, channel.history.first(), ticket, channel.counts}](
                               BrokerClient& client) { client.onMessage(key, told); });
  }
}

void MemoryBroker::remember(HomeChannel& channel, std::string_view key, uint64_t content, int64_t now_ns,
                            const PublishResult& result) {
  if (hub_.options.max_idempotency_keys == 0) return;
  if (channel.keys == nullptr) channel.keys = std::make_unique<IdempotencyKeys>();
  const size_t before = channel.keys->bytes();
  channel.keys->remember(hub_.key, key, content, now_ns, result, hub_.options.max_idempotency_keys);
  hub_.held_bytes.fetch_add(static_cast<int64_t>(channel.keys->bytes() - before), std::memory_order_relaxed);
}

void MemoryBroker::forgetKeys(HomeChannel& channel) noexcept {
  if (channel.keys == nullptr) return;
  hub_.held_bytes.fetch_sub(static_cast<int64_t>(channel.keys->bytes()), std::memory_order_relaxed);
  channel.keys.reset();
}

// 0: it is answered at once, since all have it, or as one whose time is up.
uint64_t MemoryBroker::makeWait(const PublishRequest& request, const HomeChannel& channel,
                                PublishResult& result) noexcept {
  result.all_delivered = channel.attachments.empty();
  if (result.all_delivered || waits_.size() >= kMostWaits) return 0;
  const uint64_t ticket = ++last_ticket_;
  Wait wait{request.origin, request.call, result, static_cast<uint32_t>(channel.attachments.size()),
            hub_.host.nowNs() + request.publication.wait_ms * kMsNs};
  wait.result.all_delivered = true;  // until somebody says otherwise
  waits_.emplace(ticket, wait);
  return ticket;
}

void MemoryBroker::acknowledge(const ChannelKey& key, uint64_t ticket, uint32_t delivered, int64_t last_ns,
                               bool all) noexcept {
  at(hub_.homeOf(key.hash), [ticket, delivered, last_ns, all](MemoryBroker& home) {
    home.acknowledgeHere(ticket, delivered, last_ns, all);
  });
}

void MemoryBroker::acknowledgeHere(uint64_t ticket, uint32_t delivered, int64_t last_ns, bool all) noexcept {
  const auto found = waits_.find(ticket);
  if (found == waits_.end()) return;
  Wait& wait = found->second;
  wait.result.delivered += delivered;
  wait.result.last_delivery_ns = std::max(wait.result.last_delivery_ns, last_ns);
  wait.result.all_delivered = wait.result.all_delivered && all;
  if (--wait.awaited > 0) return;
  const Wait done = wait;
  waits_.erase(found);
  answer(done.origin, done.call, done.result);
}

void MemoryBroker::endWaits(int64_t now_ns) noexcept {
  std::vector<Wait> ended;
  for (auto at = waits_.begin(); at != waits_.end();) {
    if (at->second.until_ns > now_ns) {
      ++at;
      continue;
    }
    ended.push_back(at->second);
    at = waits_.erase(at);
  }
  for (Wait& wait : ended) {
    wait.result.all_delivered = false;
    answer(wait.origin, wait.call, wait.result);
  }
}

void MemoryBroker::answer(uint32_t to, CallId call, const PublishResult& result) noexcept {
  at(to, [call, result](MemoryBroker& part) { part.client_.onPublished(call, result); });
}

void MemoryBroker::answer(uint32_t to, CallId call, const ChannelInfo& info) noexcept {
  at(to, [call, info](MemoryBroker& part) { part.client_.onInfo(call, info); });
}

}  // namespace roost::push
