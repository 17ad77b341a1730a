#include "db/spare_sessions.h"

#include <algorithm>
#include <utility>

namespace roost::db {

void SpareSessions::add(const std::shared_ptr<SharedSession>& session) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto gone = [](const std::weak_ptr<SharedSession>& one) { return one.expired(); };
  sessions_.erase(std::remove_if(sessions_.begin(), sessions_.end(), gone), sessions_.end());
  sessions_.push_back(session);
}

std::vector<std::shared_ptr<SharedSession>> SpareSessions::all() {
  std::vector<std::shared_ptr<SharedSession>> found;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& one : sessions_) {
    if (std::shared_ptr<SharedSession> session = one.lock()) found.push_back(std::move(session));
  }
  return found;
}

}  // namespace roost::db
