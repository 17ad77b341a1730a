#include "db/pending_calls.h"

#include <algorithm>
#include <utility>

#include "event/loop.h"

namespace roost::db {

uint64_t PendingCalls::add(event::Loop& loop, std::unique_ptr<ConnectCall> call, Clock::time_point deadline) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Call& added = calls_[++last_id_];
  added.loop = &loop;
  added.connect = std::move(call);
  added.deadline = deadline;
  changed_.notify_one();
  return last_id_;
}

uint64_t PendingCalls::add(event::Loop& loop, std::unique_ptr<KillCall> call) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Call& added = calls_[++last_id_];
  added.loop = &loop;
  added.kill = std::move(call);
  return last_id_;
}

// REQUIRES: the lock.
bool PendingCalls::take(uint64_t id, Call& call) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return false;
  call = std::move(found->second);
  calls_.erase(found);
  return true;
}

bool PendingCalls::connected(uint64_t id, const PostConnected& post) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Call call;
  if (!take(id, call)) return false;
  post(*call.loop, std::move(call.connect));
  return true;
}

void PendingCalls::postFailure(Call call, const Error& error) {
  event::Loop& loop = *call.loop;
  loop.post(event::makeTask([connect = std::move(call.connect), error] { connect->onFailed(error); }));
}

bool PendingCalls::failed(uint64_t id, const Error& error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Call call;
  if (!take(id, call)) return false;
  postFailure(std::move(call), error);
  return true;
}

void PendingCalls::killed(uint64_t id, bool done) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Call call;
  if (!take(id, call)) return;
  event::Loop& loop = *call.loop;
  loop.post(event::makeTask([kill = std::move(call.kill), done] { kill->onDone(done); }));
}

void PendingCalls::forget(const event::Loop& loop) noexcept {
  std::map<uint64_t, Call> gone;  // destroyed without the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto at = calls_.begin(); at != calls_.end();) {
    const auto next = std::next(at);
    if (at->second.loop == &loop) gone.insert(calls_.extract(at));
    at = next;
  }
}

void PendingCalls::watch() {
  const Error overdue{ErrorKind::kUnavailable, 0, "HY000", "no connection within the time allowed"};
  std::unique_lock<std::mutex> lock(mutex_);
  while (!closed_) {
    auto earliest = Clock::time_point::max();
    for (const auto& [id, call] : calls_) earliest = std::min(earliest, call.deadline);
    if (earliest == Clock::time_point::max()) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, earliest);
    }
    const auto now = Clock::now();
    for (auto at = calls_.begin(); at != calls_.end();) {
      const auto next = std::next(at);
      if (at->second.deadline <= now) {
        Call call = std::move(at->second);
        calls_.erase(at);
        postFailure(std::move(call), overdue);
      }
      at = next;
    }
  }
}

void PendingCalls::close() noexcept {
  std::map<uint64_t, Call> gone;
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  gone.swap(calls_);
  changed_.notify_all();
}

}  // namespace roost::db
