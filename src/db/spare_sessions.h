#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "db/client.h"

namespace roost::db {

// A session that a thread works with; between two of its statements another thread may end one with it.
struct SharedSession {
  std::mutex busy;  // of the session
  Session session;
};

// Sessions that do nothing for most of their time: by these a statement is ended where the server takes no
// further one. Any thread.
class SpareSessions {
 public:
  void add(const std::shared_ptr<SharedSession>& session);  // for as long as it is there
  std::vector<std::shared_ptr<SharedSession>> all();

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<SharedSession>> sessions_;
};

}  // namespace roost::db
