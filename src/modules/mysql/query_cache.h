#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/buffer.h"
#include "db/value.h"

namespace roost::modules::mysql {

// Answers of one route that are good for a while, on one loop. Bounded in number and bytes: the least
// recently used go.
class QueryCache {
 public:
  static constexpr size_t kMostEntries = 1024;
  static constexpr size_t kMostBytes = 4u << 20;

  struct Kept {
    BufferRef body;      // an empty one: there is none, or it is too old
    uint32_t age_s = 0;  // begun ones count (RFC 9111 section 5.1: Age)
  };

  // What an answer depends on, each part with its length before it.
  static std::string keyOf(std::string_view content_type, const std::vector<db::Value>& values);
  Kept find(std::string_view key, int64_t now_ns) noexcept;
  // Good for `for_ns`. What alone would fill the cache is not kept.
  void put(std::string key, BufferRef body, int64_t now_ns, int64_t for_ns);

 private:
  struct Entry {
    std::string key;
    BufferRef body;
    int64_t since_ns = 0;
    int64_t until_ns = 0;
    size_t bytes() const noexcept { return key.size() + body.size(); }
  };
  using Entries = std::list<Entry>;
  void drop(Entries::iterator entry) noexcept;

  Entries entries_;  // the one used last first
  std::unordered_map<std::string_view, Entries::iterator> by_key_;
  size_t bytes_ = 0;
};

}  // namespace roost::modules::mysql
