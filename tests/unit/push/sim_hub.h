#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "event/task.h"
#include "push/hub.h"

namespace roost::push::test {

// A world for a hub: a clock that stands still, and queues that are run when the test says so. A task keeps
// its place behind those of the same sender for the same receiver, and no other.
class SimHost final : public Host {
 public:
  explicit SimHost(uint32_t shards) : shards_(shards), queues_((shards + 1) * shards) {}

  void post(uint32_t shard, std::unique_ptr<event::Task> task) noexcept override {
    queues_[current_ * shards_ + shard].push_back(std::move(task));
    ++waiting_;
  }
  int64_t nowNs() const noexcept override { return counts ? ++now_ns : now_ns; }
  int64_t unixSeconds() const noexcept override { return unix_s; }
  uint64_t randomWord() noexcept override { return scrambled(word += 0x9e3779b97f4a7c15); }

  // What `fn` posts comes from that shard.
  template <class Fn>
  void as(uint32_t shard, Fn&& fn) {
    const uint32_t outer = std::exchange(current_, shard);
    fn();
    current_ = outer;
  }
  // Runs the first task of one of the queues that hold any; `choice` says which.
  bool runOne(uint64_t choice) {
    if (waiting_ == 0) return false;
    size_t queue = choice % queues_.size();
    while (queues_[queue].empty()) queue = (queue + 1) % queues_.size();
    std::unique_ptr<event::Task> task = std::move(queues_[queue].front());
    queues_[queue].pop_front();
    --waiting_;
    as(static_cast<uint32_t>(queue % shards_), [&] { task->run(); });
    return true;
  }
  void runAll() {
    while (runOne(next_++)) {
    }
  }
  size_t waiting() const noexcept { return waiting_; }

  bool counts = false;  // whether the clock goes on by 1 ns whenever it is asked: no two things at one time
  mutable int64_t now_ns = 1'000'000'000'000;
  int64_t unix_s = 1'700'000'000;
  uint64_t word = 0;

 private:
  uint32_t shards_;
  uint32_t current_ = shards_;  // whose thread runs; shards_: the test's own
  std::vector<std::deque<std::unique_ptr<event::Task>>> queues_;  // by sender and receiver
  size_t waiting_ = 0;
  uint64_t next_ = 0;
};

// Publishes with what `fill` changes, and gives the answer to `done`.
class Published final : public PublishCall {
 public:
  explicit Published(std::function<void(const PublishResult&)> done) : done_(std::move(done)) {}
  void onPublished(const PublishResult& result) noexcept override { done_(result); }

 private:
  std::function<void(const PublishResult&)> done_;
};

class Informed final : public InfoCall {
 public:
  explicit Informed(std::function<void(const ChannelInfo&)> done) : done_(std::move(done)) {}
  void onInfo(const ChannelInfo& info) noexcept override { done_(info); }

 private:
  std::function<void(const ChannelInfo&)> done_;
};

}  // namespace roost::push::test
