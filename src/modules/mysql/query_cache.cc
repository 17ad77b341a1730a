#include "modules/mysql/query_cache.h"

#include <iterator>
#include <utility>

namespace roost::modules::mysql {

BufferRef QueryCache::find(std::string_view key, int64_t now_ns) noexcept {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return {};
  const Entries::iterator entry = found->second;
  if (entry->until_ns <= now_ns) {
    drop(entry);
    return {};
  }
  entries_.splice(entries_.begin(), entries_, entry);
  return entry->body;
}

void QueryCache::put(std::string key, BufferRef body, int64_t until_ns) {
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) drop(found->second);
  if (key.size() + body.size() > kMostBytes / 4) return;
  entries_.push_front({std::move(key), std::move(body), until_ns});
  by_key_.emplace(entries_.front().key, entries_.begin());
  bytes_ += entries_.front().bytes();
  while (entries_.size() > kMostEntries || bytes_ > kMostBytes) drop(std::prev(entries_.end()));
}

void QueryCache::drop(Entries::iterator entry) noexcept {
  bytes_ -= entry->bytes();
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

}  // namespace roost::modules::mysql
