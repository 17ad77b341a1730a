#include "modules/basic_auth/hash_queue.h"

#include <algorithm>
#include <utility>

namespace roost::modules::basic_auth {

bool HashQueue::startWorker(event::TaskPool& pool) {
  std::unique_ptr<event::Task> worker = event::makeTask([this, &pool] { work(pool); });
  return pool.submit(worker);
}

bool HashQueue::submit(event::TaskPool& pool, std::unique_ptr<event::Task>& job, uint64_t client) {
  std::unique_ptr<event::Task> displaced;  // destroyed without the lock: it tells its loop
  const std::lock_guard<std::mutex> lock(mutex_);
  auto own = std::find_if(clients_.begin(), clients_.end(),
                          [client](const Client& each) { return each.id == client; });
  if (own != clients_.end() && own->jobs.size() >= kMaxOfOne) return false;
  if (running_ < at_once_) {
    if (startWorker(pool)) {
      ++running_;
    } else if (running_ == 0) {
      return false;
    }
  }
  if (waiting_ >= kMaxWaiting) {
    // Who has none waiting comes in place of the last of whoever has most.
    if (own != clients_.end()) return false;
    displaced = takeFromLongest();
    if (displaced == nullptr) return false;
  }
  if (own == clients_.end()) {
    clients_.emplace_back();
    own = std::prev(clients_.end());
    own->id = client;
  }
  own->jobs.push_back(std::move(job));
  ++waiting_;
  return true;
}

// The next job of the client whose turn it is; nullptr: nobody waits.
std::unique_ptr<event::Task> HashQueue::takeNext() {
  if (clients_.empty()) return nullptr;
  const auto next = clients_.begin();
  std::unique_ptr<event::Task> job = std::move(next->jobs.front());
  next->jobs.pop_front();
  --waiting_;
  if (next->jobs.empty()) {
    clients_.erase(next);
  } else {
    clients_.splice(clients_.end(), clients_, next);
  }
  return job;
}

// nullptr: nobody has more than one.
std::unique_ptr<event::Task> HashQueue::takeFromLongest() {
  const auto most = std::max_element(clients_.begin(), clients_.end(), [](const Client& a, const Client& b) {
    return a.jobs.size() < b.jobs.size();
  });
  if (most == clients_.end() || most->jobs.size() < 2) return nullptr;
  std::unique_ptr<event::Task> job = std::move(most->jobs.back());
  most->jobs.pop_back();
  --waiting_;
  return job;
}

// One job, and then to the end of the pool's queue again, behind what others want done.
void HashQueue::work(event::TaskPool& pool) {
  std::unique_ptr<event::Task> job;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    job = takeNext();
    if (job == nullptr) {
      --running_;
      return;
    }
  }
  job->run();
  job.reset();
  Clients dropped;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!clients_.empty() && startWorker(pool)) return;
    // The pool ends, or has no room for anything: whoever waits behind is better told so.
    if (--running_ > 0) return;
    dropped.swap(clients_);
    waiting_ = 0;
  }
}

}  // namespace roost::modules::basic_auth
