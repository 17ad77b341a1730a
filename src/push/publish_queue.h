#pragma once

#include <cstdint>
#include <memory>

#include "base/list.h"
#include "push/broker.h"
#include "push/name_table.h"

namespace roost::push {

// A publication that a shard has asked for and its home has not made yet.
struct PublishRequest {
  uint32_t origin = 0;  // the shard
  CallId call = 0;      // of that shard
  uint64_t bytes = 0;   // what it counts in that shard's HubState::Backlog::queued_bytes
  Publication publication;
  int64_t until_ns = 0;  // once it waits: when it is refused
  bool queued = false;   // it has waited
};

// Links of a queue's lists.
struct TurnHook : ListHook {};
struct LineHook : ListHook {};
struct AgeHook : ListHook {};

// The publications of one channel that wait for room, first come first served.
class PublishLine : public Named<PublishLine>, public TurnHook {
 public:
  using Named::Named;
  ~PublishLine() { turn().unlink(); }
  PublishLine(const PublishLine&) = delete;
  PublishLine& operator=(const PublishLine&) = delete;

  ChannelKey key() const { return {name, hash, 0}; }
  bool empty() const noexcept { return !requests_.linked(); }
  uint64_t bytes() const noexcept { return bytes_; }
  // Its place among the lines that wait for one shard.
  TurnHook& turn() noexcept { return *this; }
  static PublishLine& ofTurn(ListHook& hook) noexcept {
    return static_cast<PublishLine&>(static_cast<TurnHook&>(hook));
  }

 private:
  friend class PublishQueue;
  ListHook requests_;
  uint64_t bytes_ = 0;
};

// The publications that wait at one home, a line for each channel. Owned by a MemoryBroker, which decides
// when there is room; its thread only. Takes no memory while nothing waits.
class PublishQueue {
 public:
  explicit PublishQueue(uint32_t shards) : turns_(new ListHook[shards]) {}
  ~PublishQueue() { clear(); }
  PublishQueue(const PublishQueue&) = delete;
  PublishQueue& operator=(const PublishQueue&) = delete;

  PublishLine* find(const ChannelKey& key) const noexcept {
    return lines_.size() == 0 ? nullptr : lines_.find(key.name.view(), key.hash);
  }
  // REQUIRES: find(key) is nullptr.
  PublishLine& open(const ChannelKey& key);
  // REQUIRES: the line is empty.
  void close(PublishLine& line) noexcept;
  // REQUIRES: its until_ns is not before that of those that were added earlier.
  void add(PublishLine& line, PublishRequest request);
  // Takes the first of the line. REQUIRES: it is not empty.
  PublishRequest pop(PublishLine& line) noexcept;
  // The line whose first request has to be refused by now; nullptr: there is none.
  PublishLine* overdue(int64_t now_ns) noexcept;
  // The lines that wait for room in that shard.
  ListHook& turns(uint32_t shard) noexcept { return turns_[shard]; }
  void clear() noexcept;

 private:
  struct Waiting;
  NameTable<PublishLine> lines_;
  ListHook by_age_;
  std::unique_ptr<ListHook[]> turns_;  // by shard
};

}  // namespace roost::push
