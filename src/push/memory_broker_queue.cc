// Publications on their way to their home, and those that wait there until the loops have room.
#include <algorithm>
#include <utility>

#include "push/memory_broker.h"

namespace roost::push {
namespace {

constexpr int64_t kMsNs = 1'000'000;
constexpr uint64_t kRequestBytes = 256;  // what a publication under way counts beside its content
constexpr uint32_t kMostAtOnce = 256;    // publications made in one go of those that waited
constexpr uint32_t kTurn = 8;            // of one channel before another has its turn

uint64_t bytesOf(const Publication& publication) noexcept {
  return kRequestBytes + publication.payload.size() + publication.content_type.size() +
         publication.event.size() + publication.idempotency_key.size();
}

}  // namespace

void MemoryBroker::publish(const ChannelKey& key, Publication publication, CallId call) noexcept {
  PublishRequest request{index_, call, bytesOf(publication), std::move(publication), 0};
  std::atomic<uint64_t>& queued = hub_.backlogs[index_].queued_bytes;
  const bool full = HubState::reached(queued.load(std::memory_order_relaxed), hub_.options.max_queued_bytes);
  queued.fetch_add(request.bytes, std::memory_order_relaxed);
  if (full) return refuse(request, PublishStatus::kOverloaded, nullptr);
  at(hub_.homeOf(key.hash), [key, asked = std::move(request)](MemoryBroker& home) mutable {
    home.publishHere(key, std::move(asked));
  });
}

void MemoryBroker::publishHere(const ChannelKey& key, PublishRequest&& request) noexcept {
  if (stopped_) return;
  HomeChannel* channel = channels_.find(key.name.view(), key.hash);
  if (answerKnownKey(channel, request)) return;
  PublishLine* line = queue_.find(key);
  if (line == nullptr && fullFor(channel) == kRoom) return publishNow(key, channel, std::move(request));
  const HubOptions& limits = hub_.options;
  // Who floods one channel leaves room for the publishers of others.
  const uint64_t share = (limits.max_queued_bytes * hub_.shards + 1) / 2;
  if (limits.queue_ms == 0 || (line != nullptr && HubState::reached(line->bytes(), share)))
    return refuse(request, PublishStatus::kOverloaded, channel);
  hub_.numbers[index_].queued.add(1);
  request.until_ns = hub_.host.nowNs() + limits.queue_ms * kMsNs;
  if (line != nullptr) return queue_.add(*line, std::move(request));
  PublishLine& opened = queue_.open(key);
  queue_.add(opened, std::move(request));
  uint32_t budget = kTurn;
  if (advance(opened, budget)) wakeLater(key);
}

// --- room -----------------------------------------------------------------------------------------------

// What has to be waited for before the channel takes another message: kRoom, kShare, or a shard.
uint32_t MemoryBroker::fullFor(const HomeChannel* channel) const noexcept {
  const auto mirrors = static_cast<uint32_t>(channel == nullptr ? 0 : channel->attachments.size());
  if (mirrors == 0) return kRoom;
  if (hub_.shareFull(channel->counts->backlog_messages.load() / mirrors,
                     channel->counts->backlog_bytes.load() / mirrors))
    return kShare;
  for (const HomeChannel::Attachment& attachment : channel->attachments) {
    if (hub_.backlogFull(attachment.shard)) return attachment.shard;
  }
  return kRoom;
}

// Has this home told when there is room again: then the line goes on.
void MemoryBroker::waitFor(uint32_t full, HomeChannel& channel, PublishLine& line) noexcept {
  line.turn().unlink();
  if (full == kShare) {
    channel.counts->home_waits.store(true);
    return;
  }
  queue_.turns(full).insertBefore(line.turn());
  announceTo(full);
}

void MemoryBroker::announceTo(uint32_t shard) noexcept {
  if (!announced_[shard].exchange(true)) hub_.backlogs[shard].homes.fetch_add(1);
}

// Makes the publications of a line until there is no room, none is left (and the line neither), or the budget
// is spent. True: there is more, and room for it. Answers may bring the next publication of the same line.
bool MemoryBroker::advance(PublishLine& line, uint32_t& budget) noexcept {
  line.turn().unlink();
  for (uint32_t waits_for = kRoom; !line.empty();) {
    HomeChannel* channel = channels_.find(line.name.view(), line.hash);
    const uint32_t full = fullFor(channel);
    if (full != kRoom) {
      if (full == waits_for) return false;
      waitFor(full, *channel, line);
      waits_for = full;
      continue;  // what was told of just before is not told of again
    }
    line.turn().unlink();
    if (budget == 0) return true;
    --budget;
    waits_for = kRoom;
    PublishRequest request = queue_.pop(line);
    request.queued = true;
    if (!answerKnownKey(channel, request)) publishNow(line.key(), channel, std::move(request));
  }
  queue_.close(line);
  return false;
}

void MemoryBroker::wakeLater(const ChannelKey& key) noexcept {
  hub_.host.post(index_, event::makeTask([this, key] { wake(key); }));
}

void MemoryBroker::wake(const ChannelKey& key) noexcept {
  PublishLine* line = queue_.find(key);
  uint32_t budget = kMostAtOnce;
  if (line != nullptr && advance(*line, budget)) wakeLater(key);
}

// There is room in that shard: those who wait for it have turns, a few publications each.
void MemoryBroker::wakeAll(uint32_t shard) noexcept {
  ListHook& turns = queue_.turns(shard);
  for (uint32_t left = kMostAtOnce; turns.linked();) {
    if (hub_.backlogFull(shard)) {
      announceTo(shard);
      if (hub_.backlogFull(shard)) return;
    }
    if (left == 0) {
      hub_.host.post(index_, event::makeTask([this, shard] { wakeAll(shard); }));
      return;
    }
    PublishLine& line = PublishLine::ofTurn(*turns.next);
    uint32_t budget = std::min(left, kTurn);
    left -= budget;
    if (advance(line, budget)) turns.insertBefore(line.turn());
  }
}

void MemoryBroker::processed(const ChannelKey& key, ChannelCounts& counts, uint32_t messages,
                             uint64_t bytes) noexcept {
  counts.backlog_messages.fetch_sub(messages);
  counts.backlog_bytes.fetch_sub(bytes);
  HubState::Backlog& backlog = hub_.backlogs[index_];
  backlog.take(messages, bytes);
  if (counts.home_waits.load() && counts.home_waits.exchange(false)) {
    const uint32_t home = hub_.homeOf(key.hash);
    hub_.host.post(home, event::makeTask([&target = part(home), key] { target.wake(key); }));
  }
  if (backlog.homes.load() == 0 || hub_.backlogFull(index_)) return;
  for (uint32_t home = 0; home < hub_.shards; ++home) {
    if (!part(home).announced_[index_].exchange(false)) continue;
    backlog.homes.fetch_sub(1);
    hub_.host.post(home, event::makeTask([&target = part(home), at = index_] { target.wakeAll(at); }));
  }
}

// --- refusals -------------------------------------------------------------------------------------------

void MemoryBroker::refuse(const PublishRequest& request, PublishStatus status,
                          const HomeChannel* channel) noexcept {
  leaveQueue(request);
  hub_.numbers[index_].refused.add(1);
  PublishResult result;
  result.status = status;
  if (channel != nullptr) result.channel = infoOf(*channel);
  answer(request.origin, request.call, result);
}

void MemoryBroker::leaveQueue(const PublishRequest& request) noexcept {
  hub_.backlogs[request.origin].queued_bytes.fetch_sub(request.bytes, std::memory_order_relaxed);
}

void MemoryBroker::refuseOverdue(int64_t now_ns) noexcept {
  while (PublishLine* line = queue_.overdue(now_ns)) {
    const PublishRequest request = queue_.pop(*line);
    const HomeChannel* channel = channels_.find(line->name.view(), line->hash);
    refuse(request, PublishStatus::kOverloaded, channel);
    if (line->empty()) queue_.close(*line);
  }
}

}  // namespace roost::push
