#include "push/memory_broker.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "event/task.h"

namespace roost::push {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kMsNs = 1'000'000;
constexpr uint32_t kMostVisits = 1024;  // channels looked at in one go
constexpr size_t kMostWaits = 4096;     // publications of a home that wait for delivery
// So many channels gone, and the allocator is told to give back what they took: a million names leave 480 MB
// otherwise. It takes 17 ms for those.
constexpr uint32_t kMostDropped = 65536;
constexpr int64_t kLeavingNs = 50 * kMsNs;  // in which mirrors let go of what was evicted
constexpr uint64_t kRequestBytes = 256;     // what a publication under way counts beside its payload

}  // namespace

MemoryBroker::MemoryBroker(HubState& hub, uint32_t index, BrokerClient& client,
                           const std::vector<std::unique_ptr<MemoryBroker>>& parts) noexcept
    : hub_(hub),
      index_(index),
      client_(client),
      parts_(parts),
      wheel_(new WheelHook[kWheel]),
      wheel_s_(hub.host.nowNs() / kSecondNs),
      oldest_use_ns_(INT64_MAX),
      epoch_state_(hub.host.randomWord()) {}

MemoryBroker::~MemoryBroker() {
  stop();
}

void MemoryBroker::stop() noexcept {
  stopped_ = true;
  waits_.clear();
  while (HomeChannel* channel = channels_.any()) drop(*channel);
  oldest_use_ns_.store(INT64_MAX, std::memory_order_relaxed);
}

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

// --- mirrors --------------------------------------------------------------------------------------------

void MemoryBroker::attach(const ChannelKey& key) noexcept {
  at(hub_.homeOf(key.hash), [from = index_, key](MemoryBroker& home) { home.attachHere(from, key); });
}

void MemoryBroker::attachHere(uint32_t from, const ChannelKey& key) noexcept {
  if (stopped_) return;
  HomeChannel* channel = findOrMake(key);
  if (channel == nullptr) {
    at(from, [key](MemoryBroker& part) { part.client_.onAttachRefused(key, EndReason::kTooManyChannels); });
    return;
  }
  channel->age(hub_.host.nowNs());
  channel->attach(from, key.serial);
  if (!channel->counts) channel->counts = ChannelCounts::Ref::make();
  used(*channel);
  Snapshot snapshot;
  snapshot.last = channel->last;
  snapshot.first_seq = channel->history.first();
  snapshot.trimmed_time_s = channel->trimmed_time_s;
  snapshot.counts = channel->counts;
  snapshot.messages.reserve(channel->history.size());
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

void MemoryBroker::processed(ChannelCounts& counts, uint32_t messages, uint64_t bytes) noexcept {
  counts.backlog_messages.fetch_sub(messages, std::memory_order_relaxed);
  counts.backlog_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  hub_.backlogs[index_].take(messages, bytes);
}

// --- publishing -----------------------------------------------------------------------------------------

void MemoryBroker::publish(const ChannelKey& key, Publication publication, CallId call) noexcept {
  const uint32_t home_index = hub_.homeOf(key.hash);
  if (home_index == index_) {
    publishHere(index_, key, std::move(publication), call);
    return;
  }
  // What is under way to its home waits there as a delivery does.
  HubState::Backlog& backlog = hub_.backlogs[home_index];
  const uint64_t bytes = kRequestBytes + publication.payload.size();
  if (hub_.backlogFull(home_index)) {
    hub_.numbers[index_].refused.add(1);
    PublishResult result;
    result.status = PublishStatus::kOverloaded;
    client_.onPublished(call, result);
    return;
  }
  backlog.add(bytes);
  at(home_index,
     [from = index_, key, taken = std::move(publication), call, bytes](MemoryBroker& home) mutable {
       home.hub_.backlogs[home.index_].take(1, bytes);
       home.publishHere(from, key, std::move(taken), call);
     });
}

void MemoryBroker::publishHere(uint32_t from, const ChannelKey& key, Publication&& publication,
                               CallId call) noexcept {
  if (stopped_) return;
  const int64_t now_ns = hub_.host.nowNs();
  HomeChannel* channel = channels_.find(key.name.view(), key.hash);
  PublishResult result;
  if (channel != nullptr && channel->keys != nullptr && !publication.idempotency_key.empty()) {
    const PublishResult* known = channel->keys->find(hub_.key, publication.idempotency_key, now_ns);
    if (known != nullptr) {
      result = *known;
      result.repeated = true;
      answer(from, call, result);
      return;
    }
  }
  result.status = refusal(channel, publication);
  if (result.status == PublishStatus::kPublished && channel == nullptr) {
    channel = findOrMake(key);
    if (channel == nullptr) result.status = PublishStatus::kTooManyChannels;
  }
  if (result.status == PublishStatus::kPublished && !channel->admit(publication.max_per_second, now_ns))
    result.status = PublishStatus::kRateLimited;
  if (result.status != PublishStatus::kPublished) {
    hub_.numbers[index_].refused.add(1);
    if (channel != nullptr) result.channel = infoOf(*channel);
    answer(from, call, result);
    return;
  }

  MessageId id = channel->last;
  id.time_s = std::max(id.time_s, hub_.host.unixSeconds());
  ++id.seq;
  const Message::Ref message =
      Message::make(id, now_ns, std::move(publication.payload), std::move(publication.content_type),
                    std::move(publication.event), &hub_.held_bytes);
  channel->add(message, publication.history_messages, publication.history_s);
  hub_.numbers[index_].published.add(1);
  result.id = id;
  result.published_ns = now_ns;
  result.channel = infoOf(*channel);
  if (!publication.idempotency_key.empty()) remember(*channel, publication.idempotency_key, now_ns, result);
  uint64_t ticket = 0;
  if (publication.wait_ms > 0) {
    result.all_delivered = channel->attachments.empty();
    if (!result.all_delivered) ticket = makeWait(from, call, *channel, result, publication.wait_ms);
  }
  deliver(*channel, message, ticket);
  used(*channel);
  reconsider(*channel);
  relieve();
  if (ticket == 0) answer(from, call, result);
}

PublishStatus MemoryBroker::refusal(const HomeChannel* channel,
                                    const Publication& publication) const noexcept {
  const HubOptions& limits = hub_.options;
  if (limits.max_history_bytes != 0) {
    // Histories give way, but what slow clients hold does not.
    const uint64_t held = static_cast<uint64_t>(hub_.held_bytes.load(std::memory_order_relaxed));
    if (held + publication.payload.size() > 2 * limits.max_history_bytes + limits.max_backlog_bytes)
      return PublishStatus::kNoMemory;
  }
  if (channel == nullptr) return PublishStatus::kPublished;
  const auto mirrors = static_cast<uint32_t>(channel->attachments.size());
  if (mirrors > 0 &&
      hub_.shareFull(channel->counts->backlog_messages.load(std::memory_order_relaxed) / mirrors,
                     channel->counts->backlog_bytes.load(std::memory_order_relaxed) / mirrors))
    return PublishStatus::kOverloaded;
  for (const HomeChannel::Attachment& attachment : channel->attachments) {
    if (hub_.backlogFull(attachment.shard)) return PublishStatus::kOverloaded;
  }
  return PublishStatus::kPublished;
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

void MemoryBroker::remember(HomeChannel& channel, std::string_view key, int64_t now_ns,
                            const PublishResult& result) {
  if (hub_.options.max_idempotency_keys == 0) return;
  if (channel.keys == nullptr) channel.keys = std::make_unique<IdempotencyKeys>();
  const size_t before = channel.keys->bytes();
  channel.keys->remember(hub_.key, key, now_ns, result, hub_.options.max_idempotency_keys);
  hub_.held_bytes.fetch_add(static_cast<int64_t>(channel.keys->bytes() - before), std::memory_order_relaxed);
}

void MemoryBroker::forgetKeys(HomeChannel& channel) noexcept {
  if (channel.keys == nullptr) return;
  hub_.held_bytes.fetch_sub(static_cast<int64_t>(channel.keys->bytes()), std::memory_order_relaxed);
  channel.keys.reset();
}

uint64_t MemoryBroker::makeWait(uint32_t from, CallId call, const HomeChannel& channel,
                                const PublishResult& result, uint32_t wait_ms) noexcept {
  if (waits_.size() >= kMostWaits) return 0;  // answered at once, as one whose time is up
  const uint64_t ticket = ++last_ticket_;
  Wait wait{from, call, result, static_cast<uint32_t>(channel.attachments.size()),
            hub_.host.nowNs() + wait_ms * kMsNs};
  wait.result.all_delivered = true;  // until somebody says otherwise
  waits_.emplace(ticket, std::move(wait));
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
  const Wait done = std::move(wait);
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
    ended.push_back(std::move(at->second));
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

// --- channels -------------------------------------------------------------------------------------------

void MemoryBroker::info(const ChannelKey& key, CallId call) noexcept {
  at(hub_.homeOf(key.hash), [from = index_, key, call](MemoryBroker& home) {
    HomeChannel* channel = home.channels_.find(key.name.view(), key.hash);
    if (channel != nullptr) channel->age(home.hub_.host.nowNs());
    home.answer(from, call, channel == nullptr ? ChannelInfo{} : home.infoOf(*channel));
  });
}

void MemoryBroker::remove(const ChannelKey& key, CallId call) noexcept {
  at(hub_.homeOf(key.hash),
     [from = index_, key, call](MemoryBroker& home) { home.removeHere(from, key, call); });
}

void MemoryBroker::removeHere(uint32_t from, const ChannelKey& key, CallId call) noexcept {
  HomeChannel* channel = channels_.find(key.name.view(), key.hash);
  ChannelInfo info;
  if (channel != nullptr) {
    info = infoOf(*channel);
    for (const HomeChannel::Attachment& attachment : channel->attachments) {
      tell(attachment.shard, [mirror = ChannelKey{channel->name, channel->hash, attachment.serial}](
                                 BrokerClient& client) { client.onDeleted(mirror); });
    }
    drop(*channel);
  }
  answer(from, call, info);
}

ChannelInfo MemoryBroker::infoOf(const HomeChannel& channel) const noexcept {
  ChannelInfo info;
  info.exists = true;
  info.messages = channel.history.size();
  info.last_id = channel.last;
  if (!channel.counts) return info;
  info.subscribers = channel.counts->subscribers.load(std::memory_order_relaxed);
  const int64_t requested_ns = channel.counts->requested_ns.load(std::memory_order_relaxed);
  if (requested_ns >= 0) info.requested_ago_s = (hub_.host.nowNs() - requested_ns) / kSecondNs;
  return info;
}

HomeChannel* MemoryBroker::findOrMake(const ChannelKey& key) noexcept {
  HomeChannel* known = channels_.find(key.name.view(), key.hash);
  if (known != nullptr) return known;
  const uint32_t before = hub_.channels.fetch_add(1, std::memory_order_relaxed);
  if (hub_.options.max_channels != 0 && before >= hub_.options.max_channels) {
    hub_.channels.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }
  uint32_t epoch = 0;
  while (epoch == 0) epoch = static_cast<uint32_t>(scrambled(epoch_state_++) >> 32);
  auto* made = new HomeChannel(key.name, key.hash, epoch);
  channels_.insert(*made);
  return made;
}

void MemoryBroker::drop(HomeChannel& channel) noexcept {
  channels_.erase(channel);
  channel.wheelHook().unlink();
  channel.useHook().unlink();
  forgetKeys(channel);
  hub_.channels.fetch_sub(1, std::memory_order_relaxed);
  ++dropped_;
  delete &channel;
}

void MemoryBroker::used(HomeChannel& channel) noexcept {
  channel.used_ns = hub_.host.nowNs();
  channel.useHook().unlink();
  if (channel.evictable()) uses_.insertBefore(channel.useHook());
  publishOldestUse();
}

void MemoryBroker::publishOldestUse() noexcept {
  const int64_t oldest = uses_.linked() ? HomeChannel::ofUse(*uses_.next).used_ns : INT64_MAX;
  if (oldest_use_ns_.load(std::memory_order_relaxed) != oldest)
    oldest_use_ns_.store(oldest, std::memory_order_relaxed);
}

void MemoryBroker::reconsider(HomeChannel& channel) noexcept {
  const int64_t now_ns = hub_.host.nowNs();
  if (!channel.evictable()) channel.useHook().unlink();
  if (!channel.needed(now_ns)) {
    drop(channel);
    return;
  }
  int64_t due_ns = channel.dueNs();
  if (channel.keys != nullptr) due_ns = std::min(due_ns, channel.keys->oldestNs() + IdempotencyKeys::kAgeNs);
  if (!channel.evictable() && channel.attachments.empty()) due_ns = std::min(due_ns, channel.paid_ns);
  if (due_ns == INT64_MAX) return;
  const int64_t look_s = std::clamp(due_ns / kSecondNs + 1, wheel_s_ + 1, wheel_s_ + kWheel - 1);
  if (channel.wheelHook().linked() && channel.look_s <= look_s) return;  // looked at before, anyway
  channel.wheelHook().unlink();
  channel.look_s = look_s;
  wheel_[look_s % kWheel].insertBefore(channel.wheelHook());
}

void MemoryBroker::tellTrimmed(HomeChannel& channel) noexcept {
  for (const HomeChannel::Attachment& attachment : channel.attachments) {
    tell(attachment.shard,
         [key = ChannelKey{channel.name, channel.hash, attachment.serial},
          first = channel.history.first()](BrokerClient& client) { client.onTrim(key, first); });
  }
}

void MemoryBroker::tick() noexcept {
  if (stopped_) return;
  const int64_t now_ns = hub_.host.nowNs();
  const int64_t now_s = now_ns / kSecondNs;
  for (int64_t second = std::max(wheel_s_ + 1, now_s - kWheel + 1); second <= now_s; ++second)
    due_.takeAll(wheel_[second % kWheel]);
  wheel_s_ = std::max(wheel_s_, now_s);
  visitDue();
  endWaits(now_ns);
  relieve();
  if (dropped_ >= kMostDropped && !due_.linked()) {
    dropped_ = 0;
    ::malloc_trim(0);
  }
}

void MemoryBroker::visitDue() noexcept {
  const int64_t now_ns = hub_.host.nowNs();
  for (uint32_t visits = 0; due_.linked(); ++visits) {
    if (visits == kMostVisits) {
      if (visit_posted_) return;
      visit_posted_ = true;
      hub_.host.post(index_, event::makeTask([this] {
                       visit_posted_ = false;
                       visitDue();
                     }));
      return;
    }
    HomeChannel& channel = HomeChannel::ofWheel(*due_.next);
    channel.wheelHook().unlink();
    const uint64_t first = channel.history.first();
    channel.age(now_ns);
    if (channel.history.first() != first) tellTrimmed(channel);
    if (channel.keys != nullptr) {
      channel.keys->age(now_ns);
      if (channel.keys->empty()) forgetKeys(channel);
    }
    reconsider(channel);
  }
  publishOldestUse();
}

// --- the cap on memory ----------------------------------------------------------------------------------

int64_t MemoryBroker::excess() const noexcept {
  const int64_t over =
      hub_.held_bytes.load(std::memory_order_relaxed) - static_cast<int64_t>(hub_.options.max_history_bytes);
  if (over <= 0) return over;
  if (hub_.host.nowNs() >= hub_.leaving_until_ns.load(std::memory_order_relaxed))
    hub_.leaving_bytes.store(0, std::memory_order_relaxed);
  return over - hub_.leaving_bytes.load(std::memory_order_relaxed);
}

void MemoryBroker::relieve() noexcept {
  const uint64_t cap = hub_.options.max_history_bytes;
  if (cap == 0) return;
  for (int64_t over = excess(); over > 0; over = excess()) {
    uint32_t whose = index_;
    int64_t oldest = oldest_use_ns_.load(std::memory_order_relaxed);
    for (uint32_t other = 0; other < hub_.shards; ++other) {
      const int64_t use = part(other).oldest_use_ns_.load(std::memory_order_relaxed);
      if (use < oldest) {
        oldest = use;
        whose = other;
      }
    }
    if (whose != index_) {
      if (!part(whose).asked_to_evict_.exchange(true, std::memory_order_relaxed)) {
        at(whose, [](MemoryBroker& asked) {
          asked.asked_to_evict_.store(false, std::memory_order_relaxed);
          asked.relieve();
        });
      }
      if (over <= static_cast<int64_t>(cap / 16)) return;  // it will; beyond that one gives what one has
    }
    if (!evictOldest(over)) return;
  }
}

bool MemoryBroker::evictOldest(int64_t over) noexcept {
  if (!uses_.linked()) return false;
  HomeChannel& channel = HomeChannel::ofUse(*uses_.next);
  // The only one left gives no more than it must.
  const bool only = uses_.next == uses_.prev;
  int64_t taken = 0, leaving = 0;
  while (!channel.history.empty() && !(only && taken >= over)) {
    const Message::Ref message = channel.history.at(channel.history.first());
    channel.popOldest();
    const auto bytes = static_cast<int64_t>(message->bytes());
    taken += bytes;
    if (message.shared()) leaving += bytes;
  }
  if (channel.history.empty()) forgetKeys(channel);
  if (leaving > 0) {
    hub_.leaving_bytes.fetch_add(leaving, std::memory_order_relaxed);
    hub_.leaving_until_ns.store(hub_.host.nowNs() + kLeavingNs, std::memory_order_relaxed);
  }
  hub_.numbers[index_].evictions.add(1);
  tellTrimmed(channel);
  reconsider(channel);
  publishOldestUse();
  return true;
}

}  // namespace roost::push
