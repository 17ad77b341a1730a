#include "modules/basic_auth/hash_queue.h"

#include <utility>

namespace roost::modules::basic_auth {

bool HashQueue::startWorker(event::TaskPool& pool) {
  std::unique_ptr<event::Task> worker = event::makeTask([this, &pool] { work(pool); });
  return pool.submit(worker);
}

bool HashQueue::submit(event::TaskPool& pool, std::unique_ptr<event::Task>& job) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (waiting_.size() >= kMaxWaiting) return false;
  if (running_ < at_once_) {
    if (startWorker(pool)) {
      ++running_;
    } else if (running_ == 0) {
      return false;
    }
  }
  waiting_.push_back(std::move(job));
  return true;
}

// One job, and then to the end of the pool's queue again, behind what others want done.
void HashQueue::work(event::TaskPool& pool) {
  std::unique_ptr<event::Task> job;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (waiting_.empty()) {
      --running_;
      return;
    }
    job = std::move(waiting_.front());
    waiting_.pop_front();
  }
  job->run();
  job.reset();
  std::deque<std::unique_ptr<event::Task>> dropped;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!waiting_.empty() && startWorker(pool)) return;
    // The pool ends, or has no room for anything: whoever waits behind is better told so.
    if (--running_ == 0) dropped.swap(waiting_);
  }
}

}  // namespace roost::modules::basic_auth
