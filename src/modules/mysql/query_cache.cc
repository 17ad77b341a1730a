#include "modules/mysql/query_cache.h"

#include <iterator>
#include <utility>

namespace roost::modules::mysql {
namespace {

constexpr int64_t kNsPerS = 1'000'000'000;

}  // namespace

std::string QueryCache::keyOf(std::string_view content_type, const std::vector<db::Value>& values) {
  std::string key(content_type);
  for (const db::Value& value : values) {
    key += static_cast<char>(value.kind());
    switch (value.kind()) {
      case db::Value::Kind::kNull:
        break;
      case db::Value::Kind::kText:
      case db::Value::Kind::kBytes:
        key += std::to_string(value.bytes().size()) + ':' + value.bytes();
        break;
      default:
        key.append(static_cast<const char*>(value.number()), sizeof(uint64_t));
    }
  }
  return key;
}

QueryCache::Kept QueryCache::find(std::string_view key, int64_t now_ns) noexcept {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return {};
  const Entries::iterator entry = found->second;
  if (entry->until_ns <= now_ns) {
    drop(entry);
    return {};
  }
  entries_.splice(entries_.begin(), entries_, entry);
  // Rounded up: whoever keeps it on must not have it for longer than it is good.
  return {entry->body, static_cast<uint32_t>((now_ns - entry->since_ns + kNsPerS - 1) / kNsPerS)};
}

void QueryCache::put(std::string key, BufferRef body, int64_t now_ns, int64_t for_ns) {
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) drop(found->second);
  if (key.size() + body.size() > kMostBytes / 4) return;
  entries_.push_front({std::move(key), std::move(body), now_ns, now_ns + for_ns});
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
