#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "event/loop.h"

namespace roost::modules::static_files {

// RootNews tells every loop that one of them has found a root's name to lead to another folder, so that all
// serve the same release whoever noticed first, and before whoever noticed has answered from it. Shared by
// all loops; any thread. The lock is taken when a loop starts or ends and when a root moves.
class RootNews {
 public:
  // What a loop does when it is told, on its own thread.
  using Hear = std::function<void(uint32_t root_id)>;

  // `owner` names the loop's place in the list until leave(), which its own thread calls before the loop
  // ends.
  void join(const void* owner, event::Loop& loop, Hear hear);
  void leave(const void* owner);
  // The root leads to this folder now. The others are told of it, once whichever loops say so.
  void tell(const void* owner, uint32_t root_id, std::pair<dev_t, ino_t> folder);

 private:
  // Tasks that were posted look here for who is still there: shared with them.
  struct Member {
    const void* owner;
    event::Loop* loop;
    std::shared_ptr<Hear> hear;  // empty function: has left. Only its own loop looks inside
  };
  std::mutex mutex_;
  std::vector<Member> members_;
  std::map<uint32_t, std::pair<dev_t, ino_t>> told_;
};

}  // namespace roost::modules::static_files
