#include "event/task_pool.h"

#include <pthread.h>

#include <utility>

namespace roost::event {

TaskPool::TaskPool(size_t threads, size_t queue_limit) : queue_limit_(queue_limit) {
  threads_.reserve(threads);
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

TaskPool::~TaskPool() {
  stop();
}

bool TaskPool::submit(std::unique_ptr<Task>& task) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (threads_.empty() || stopping_ || queue_.size() >= queue_limit_) return false;
    queue_.push_back(std::move(task));
  }
  ready_.notify_one();
  return true;
}

void TaskPool::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void TaskPool::work() {
  ::pthread_setname_np(::pthread_self(), "roost-task");
  for (;;) {
    std::unique_ptr<Task> task;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      ready_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    task->run();
  }
}

}  // namespace roost::event
