#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>

#include "event/task_pool.h"

namespace roost::modules::basic_auth {

// HashQueue holds passwords on their way to the task threads that verify them. Each client has a queue of its
// own and the clients take turns, so a client that guesses waits for itself: another's password is behind at
// most one guess per thread and client. Only some threads verify at a time, so that files are still read. One
// per process; any thread. The lock is taken per verification, which costs a hundred thousand times as much.
class HashQueue {
 public:
  static constexpr size_t kMaxWaiting = 256;  // of all clients
  static constexpr size_t kMaxOfOne = 32;

  // `at_once`: how many are run at a time, at least 1.
  explicit HashQueue(size_t at_once) noexcept : at_once_(at_once) {}

  // False when there is no room, for this client or in the pool; the job is left with the caller. A job that
  // was taken is run; or it is destroyed without, when the pool ends or when a client with fewer needs its
  // place. `client` tells clients apart. REQUIRES: pool.hasThreads(); `pool` is always the same.
  bool submit(event::TaskPool& pool, std::unique_ptr<event::Task>& job, uint64_t client);

 private:
  struct Client {
    uint64_t id = 0;
    std::deque<std::unique_ptr<event::Task>> jobs;  // at least one
  };
  using Clients = std::list<Client>;

  bool startWorker(event::TaskPool& pool);
  void work(event::TaskPool& pool);
  std::unique_ptr<event::Task> takeNext();
  std::unique_ptr<event::Task> takeFromLongest();

  const size_t at_once_;
  std::mutex mutex_;
  size_t running_ = 0;
  size_t waiting_ = 0;
  Clients clients_;  // in the order of their turns
};

}  // namespace roost::modules::basic_auth
