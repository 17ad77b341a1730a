#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/list.h"
#include "base/sip_hash.h"
#include "push/broker.h"
#include "push/message_ring.h"
#include "push/name_table.h"

namespace roost::push {

// Which keys publications of a channel came with, and how they were answered: the last `most` of them, none
// older than an hour. Keeps hashes of 128 bits, so that a key's length costs nothing.
class IdempotencyKeys {
 public:
  static constexpr int64_t kAgeNs = 3600 * int64_t{1'000'000'000};
  struct Entry {
    uint64_t low, high;
    uint64_t content;  // a hash of the message
    int64_t since_ns;
    PublishResult result;
  };
  const Entry* find(const SipKey& secret, std::string_view key, int64_t now_ns) noexcept;
  // `content`: contentHash() of the publication.
  void remember(const SipKey& secret, std::string_view key, uint64_t content, int64_t now_ns,
                const PublishResult& result, uint32_t most);
  // Of what makes a publication the same message: payload, type and event.
  static uint64_t contentHash(const SipKey& secret, const Publication& publication) noexcept;
  void age(int64_t now_ns) noexcept;
  bool empty() const noexcept { return entries_.empty(); }
  size_t bytes() const noexcept { return entries_.capacity() * sizeof(Entry); }
  int64_t oldestNs() const noexcept { return entries_.front().since_ns; }  // REQUIRES: !empty()

 private:
  std::vector<Entry> entries_;  // the oldest first
};

// Links of a broker's lists.
struct WheelHook : ListHook {};
struct UseHook : ListHook {};

// A channel at its home: its ids, its history, and which shards mirror it. Owned by a MemoryBroker; its
// thread only.
class HomeChannel : public Named<HomeChannel>, public WheelHook, public UseHook {
 public:
  struct Attachment {
    uint32_t shard;
    uint32_t serial;
  };

  HomeChannel(BufferRef name_bytes, uint64_t name_hash, uint32_t epoch, int64_t now_s,
              int64_t forgotten_before_s) noexcept
      : Named(std::move(name_bytes), name_hash), forgotten_s(forgotten_before_s) {
    last.epoch = epoch;
    last.time_s = now_s;
  }

  // Adds a message, and lets go of what the policy does not keep.
  void add(const Message::Ref& message, uint32_t most, uint32_t seconds);
  void age(int64_t now_ns) noexcept;  // lets go of what is too old
  void popOldest() noexcept;          // REQUIRES: !history.empty()
  // When age() has something to do; INT64_MAX: never.
  int64_t dueNs() const noexcept;
  // Whether anything would be forgotten with it.
  bool needed() const noexcept { return !history.empty() || !attachments.empty() || keys != nullptr; }

  bool evictable() const noexcept { return !history.empty() || keys != nullptr; }

  Attachment* attachmentOf(uint32_t shard) noexcept;
  void attach(uint32_t shard, uint32_t serial);
  void detach(uint32_t shard, uint32_t serial) noexcept;

  MessageRing history;
  MessageId last;
  int64_t trimmed_time_s = 0;  // of the message before the history's first
  const int64_t forgotten_s;   // see Snapshot
  int64_t used_ns = 0;
  uint32_t most_messages = 0;  // the policy of the latest publication
  uint32_t most_s = 0;
  std::vector<Attachment> attachments;
  ChannelCounts::Ref counts;              // once a shard has attached
  std::unique_ptr<IdempotencyKeys> keys;  // never empty
  int64_t look_s = INT64_MAX;             // where it stands on the wheel

  WheelHook& wheelHook() noexcept { return *this; }
  UseHook& useHook() noexcept { return *this; }
  static HomeChannel& ofWheel(ListHook& hook) noexcept {
    return static_cast<HomeChannel&>(static_cast<WheelHook&>(hook));
  }
  static HomeChannel& ofUse(ListHook& hook) noexcept {
    return static_cast<HomeChannel&>(static_cast<UseHook&>(hook));
  }
};

}  // namespace roost::push
