#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/list.h"
#include "db/prepared.h"

namespace roost::db {

// The prepared statements of one connection by their text; beyond a bound in number or in memory the least
// recently used has to go. Tells the server nothing: what is taken out is the caller's to close. One thread
// at a time.
class StatementCache {
 public:
  explicit StatementCache(size_t limit) noexcept : limit_(limit != 0 ? limit : 1) {}
  ~StatementCache() { clear(); }
  StatementCache(const StatementCache&) = delete;
  StatementCache& operator=(const StatementCache&) = delete;

  Prepared* find(std::string_view text) noexcept;  // now the most recently used; nullptr: none
  Prepared& keep(std::string_view text, std::unique_ptr<Prepared> prepared);
  bool full() const noexcept { return by_text_.size() >= limit_ || bytes_ >= kMostBytes; }
  std::unique_ptr<Prepared> takeOldest() noexcept;  // nullptr: there is none
  std::unique_ptr<Prepared> take(std::string_view text) noexcept;
  size_t size() const noexcept { return by_text_.size(); }
  void clear() noexcept;

 private:
  struct Entry : ListHook {
    std::string text;
    std::unique_ptr<Prepared> prepared;
    size_t bytes = 0;  // about what it takes
  };
  static constexpr size_t kMostBytes = 4u << 20;
  const size_t limit_;
  size_t bytes_ = 0;
  std::unordered_map<std::string_view, std::unique_ptr<Entry>> by_text_;
  ListHook used_;  // the most recently used at the end
};

}  // namespace roost::db
