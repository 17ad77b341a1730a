#include "modules/static_files/root_news.h"

#include <algorithm>

namespace roost::modules::static_files {

void RootNews::join(const void* owner, event::Loop& loop, Hear hear) {
  const std::lock_guard<std::mutex> lock(mutex_);
  members_.push_back({owner, &loop, std::make_shared<Hear>(std::move(hear))});
}

void RootNews::leave(const void* owner) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto member = std::find_if(members_.begin(), members_.end(),
                                   [owner](const Member& each) { return each.owner == owner; });
  if (member == members_.end()) return;
  *member->hear = nullptr;
  members_.erase(member);
}

void RootNews::tell(const void* owner, uint32_t root_id, std::pair<dev_t, ino_t> folder) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [known, fresh] = told_.try_emplace(root_id, folder);
  if (!fresh && known->second == folder) return;
  known->second = folder;
  for (const Member& member : members_) {
    if (member.owner == owner) continue;
    member.loop->post(event::makeTask([hear = member.hear, root_id] {
      if (*hear) (*hear)(root_id);
    }));
  }
}

}  // namespace roost::modules::static_files
