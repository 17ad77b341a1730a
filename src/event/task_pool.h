#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "event/task.h"

namespace roost::event {

// Threads for work that may block (cold disk, hashing). A task that has something to tell its loop posts
// there itself. Owned by the server; submit() from any thread.
class TaskPool {
 public:
  // `threads` may be 0: then submit() always refuses, and callers do without.
  TaskPool(size_t threads, size_t queue_limit);
  ~TaskPool();  // stop()
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  // False when the queue is full, or there are no threads, or the pool is stopping; the task is left with the
  // caller.
  bool submit(std::unique_ptr<Task>& task);
  // Whether there is a thread at all: where not, waiting for room is in vain.
  bool hasThreads() const noexcept { return !threads_.empty(); }
  size_t threads() const noexcept { return threads_.size(); }
  // stop() has been called: a task whose result nobody waits for any more may leave its work undone. Any
  // thread.
  bool stopping() const noexcept { return stopping_.load(std::memory_order_relaxed); }
  // Runs what is queued, then ends the threads. Idempotent; not from a task.
  void stop();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::unique_ptr<Task>> queue_;
  const size_t queue_limit_;
  std::atomic<bool> stopping_{false};  // changed under the lock
  std::vector<std::thread> threads_;
};

}  // namespace roost::event
