// The channels of a home: their making and their end, their ages, and the cap on memory.
#include <algorithm>
#include <memory>

#include "base/memory.h"
#include "base/random.h"
#include "push/memory_broker.h"

namespace roost::push {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr uint32_t kMostGiven = 32;       // histories, at a time, while the system gives no more memory
constexpr int64_t kGivenBytes = 1 << 20;  // of each
constexpr uint32_t kMostPassed = 64;      // channels that were subscribed to lately, before one has to give
constexpr uint32_t kMostVisits = 1024;    // channels looked at in one go
constexpr int64_t kLeavingNs = 10 * int64_t{1'000'000};  // in which mirrors let go of what was evicted

}  // namespace

// --- channels -------------------------------------------------------------------------------------------

void MemoryBroker::info(const ChannelKey& key, CallId call) noexcept {
  at(hub_.homeOf(key.hash), [from = index_, key, call](MemoryBroker& home) {
    HomeChannel* channel = home.channels_.find(key.name.view(), key.hash);
    if (channel != nullptr) home.age(*channel);
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
    if (queue_.find(key) != nullptr) wakeLater(key);
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
  std::unique_ptr<HomeChannel> made;
  const bool has_room = memory::forPeer([&] {
    made = std::make_unique<HomeChannel>(key.name, key.hash, epoch, hub_.host.unixSeconds(),
                                         forgotten_s_[key.hash % kForgotten]);
    channels_.insert(*made);
  });
  if (has_room) return made.release();
  hub_.channels.fetch_sub(1, std::memory_order_relaxed);
  return nullptr;
}

void MemoryBroker::drop(HomeChannel& channel) noexcept {
  channels_.erase(channel);
  channel.wheelHook().unlink();
  channel.useHook().unlink();
  forgetKeys(channel);
  if (channel.last.seq != 0) {
    int64_t& forgotten_s = forgotten_s_[channel.hash % kForgotten];
    forgotten_s = std::max({forgotten_s, channel.last.time_s, hub_.host.unixSeconds()});
  }
  hub_.channels.fetch_sub(1, std::memory_order_relaxed);
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
  if (!channel.evictable()) channel.useHook().unlink();
  if (!channel.needed()) {
    drop(channel);
    return;
  }
  int64_t due_ns = channel.dueNs();
  if (channel.keys != nullptr) due_ns = std::min(due_ns, channel.keys->oldestNs() + IdempotencyKeys::kAgeNs);
  if (due_ns == INT64_MAX) return;
  const int64_t look_s = std::clamp(due_ns / kSecondNs + 1, wheel_s_ + 1, wheel_s_ + kWheel - 1);
  if (channel.wheelHook().linked() && channel.look_s <= look_s) return;  // looked at before, anyway
  channel.wheelHook().unlink();
  channel.look_s = look_s;
  wheel_[look_s % kWheel].insertBefore(channel.wheelHook());
}

void MemoryBroker::age(HomeChannel& channel) noexcept {
  const uint64_t first = channel.history.first();
  channel.age(hub_.host.nowNs());
  if (channel.history.first() != first) tellTrimmed(channel);
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
  refuseOverdue(now_ns);
  relieve();
  // Histories give way before everybody is refused.
  for (uint32_t given = 0; memory::reserveInUse() && given < kMostGiven && evictOldest(kGivenBytes);) ++given;
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
    age(channel);
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
  if (hub_.options.max_history_bytes == 0) return;
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
      if (over <= slack()) return;  // it will; beyond that one gives what one has
    }
    if (!evictOldest(over)) return;
  }
}

// Home does not hear of subscriptions to a mirror; it sees them when the channel's turn comes, and passes
// over it.
HomeChannel& MemoryBroker::leastUsed() noexcept {
  for (uint32_t passed = 0; passed < kMostPassed; ++passed) {
    HomeChannel& channel = HomeChannel::ofUse(*uses_.next);
    const int64_t requested_ns =
        channel.counts ? channel.counts->requested_ns.load(std::memory_order_relaxed) : -1;
    if (requested_ns <= channel.used_ns) return channel;
    channel.used_ns = requested_ns;
    channel.useHook().unlink();
    uses_.insertBefore(channel.useHook());
  }
  return HomeChannel::ofUse(*uses_.next);
}

bool MemoryBroker::evictOldest(int64_t over) noexcept {
  if (!uses_.linked()) return false;
  HomeChannel& channel = leastUsed();
  // A little more than it must, so that not every message that comes takes another.
  const int64_t enough = over + slack() / 4;
  int64_t taken = 0, leaving = 0;
  while (!channel.history.empty() && taken < enough) {
    const Message::Ref message = channel.history.at(channel.history.first());
    channel.popOldest();
    const auto bytes = static_cast<int64_t>(message->bytes());
    taken += bytes;
    if (message.shared()) leaving += bytes;
  }
  if (channel.history.empty()) forgetKeys(channel);
  if (leaving > 0) {
    // Until the first of them must have gone: later ones do not put that off.
    if (hub_.leaving_bytes.fetch_add(leaving, std::memory_order_relaxed) == 0)
      hub_.leaving_until_ns.store(hub_.host.nowNs() + kLeavingNs, std::memory_order_relaxed);
  }
  hub_.numbers[index_].evictions.add(1);
  tellTrimmed(channel);
  reconsider(channel);
  publishOldestUse();
  return true;
}

}  // namespace roost::push
