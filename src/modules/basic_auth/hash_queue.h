#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "event/task_pool.h"

namespace roost::modules::basic_auth {

// Verifications on their way to the task threads: a bounded queue of which only some are run at a time, so
// that who guesses passwords does not take the threads away from reading files. One per process; any thread.
class HashQueue {
 public:
  static constexpr size_t kMaxWaiting = 256;

  // `at_once`: how many are run at a time, at least 1.
  explicit HashQueue(size_t at_once) noexcept : at_once_(at_once) {}

  // False when there is no room, here or in the pool; the job is left with the caller. A job that was taken
  // is run, or destroyed without when the pool ends. REQUIRES: pool.hasThreads(); `pool` is always the same.
  bool submit(event::TaskPool& pool, std::unique_ptr<event::Task>& job);

 private:
  bool startWorker(event::TaskPool& pool);
  void work(event::TaskPool& pool);

  const size_t at_once_;
  std::mutex mutex_;
  size_t running_ = 0;
  std::deque<std::unique_ptr<event::Task>> waiting_;
};

}  // namespace roost::modules::basic_auth
