#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/sip_hash.h"
#include "metrics/counter.h"
#include "push/hub.h"

namespace roost::push {

struct alignas(64) ShardNumbers {
  metrics::Counter subscribed, unsubscribed;  // subscriptions that began and that ended
  metrics::Counter published, refused, queued, delivered, gaps, slow, evictions;
};

// What all shards of a hub share. Owned by the Hub; any thread.
struct HubState {
  // What waits for one shard to take it. A home that finds it full announces itself in `homes` and then looks
  // again; the shard takes something and then looks who is announced. All of that is sequentially consistent,
  // so one of the two sees the other and no home waits for ever.
  struct alignas(64) Backlog {
    std::atomic<uint32_t> messages{0};
    std::atomic<uint64_t> bytes{0};
    std::atomic<uint32_t> homes{0};         // that hold publications until there is room
    std::atomic<uint64_t> queued_bytes{0};  // of publications that came by this shard and are not yet made

    void add(uint64_t message_bytes) noexcept {
      messages.fetch_add(1, std::memory_order_relaxed);
      bytes.fetch_add(message_bytes, std::memory_order_relaxed);
    }
    void take(uint32_t taken, uint64_t taken_bytes) noexcept {
      messages.fetch_sub(taken);
      bytes.fetch_sub(taken_bytes);
    }
  };

  HubState(const HubOptions& hub_options, uint32_t shard_count, Host& hub_host)
      : options(hub_options),
        shards(shard_count),
        host(hub_host),
        key{hub_host.randomWord(), hub_host.randomWord()},
        backlogs(new Backlog[shard_count]),
        numbers(new ShardNumbers[shard_count]) {}

  uint64_t hashOf(std::string_view name) const noexcept { return sipHash13(key, name); }
  uint32_t homeOf(uint64_t hash) const noexcept { return static_cast<uint32_t>((hash >> 32) % shards); }
  // Whether so much waits for that shard that no more is taken for it.
  bool backlogFull(uint32_t shard) const noexcept {
    return reached(backlogs[shard].messages.load(), options.max_backlog_messages) ||
           reached(backlogs[shard].bytes.load(), options.max_backlog_bytes);
  }
  // Whether one channel has as much waiting in a shard as is one's share, a quarter of what the shard takes:
  // who floods one channel leaves room for the others.
  bool shareFull(uint64_t messages, uint64_t bytes) const noexcept {
    return reached(messages, (options.max_backlog_messages + 3) / 4) ||
           reached(bytes, (options.max_backlog_bytes + 3) / 4);
  }
  static bool reached(uint64_t waiting, uint64_t limit) noexcept { return limit != 0 && waiting >= limit; }

  const HubOptions options;
  const uint32_t shards;
  Host& host;
  const SipKey key;
  std::unique_ptr<Backlog[]> backlogs;      // by shard
  std::unique_ptr<ShardNumbers[]> numbers;  // by shard
  // Of all messages that are alive, and of what else the cap on memory counts.
  std::atomic<int64_t> held_bytes{0};
  // Evicted, but still with mirrors that have yet to be told: it counts as gone until that time.
  std::atomic<int64_t> leaving_bytes{0};
  std::atomic<int64_t> leaving_until_ns{0};
  std::atomic<uint32_t> channels{0};
  std::atomic<uint32_t> subscribers{0};  // kept only where max_subscribers is set
};

}  // namespace roost::push
