#include "db/statement_cache.h"

#include <utility>

namespace roost::db {

Prepared* StatementCache::find(std::string_view text) noexcept {
  const auto found = by_text_.find(text);
  if (found == by_text_.end()) return nullptr;
  Entry& entry = *found->second;
  entry.unlink();
  used_.insertBefore(entry);
  return entry.prepared.get();
}

Prepared& StatementCache::keep(std::string_view text, std::unique_ptr<Prepared> prepared) {
  auto entry = std::make_unique<Entry>();
  entry->text = text;
  entry->prepared = std::move(prepared);
  Prepared& kept = *entry->prepared;
  used_.insertBefore(*entry);
  const std::string_view key = entry->text;
  by_text_.emplace(key, std::move(entry));
  return kept;
}

std::unique_ptr<Prepared> StatementCache::takeOldest() noexcept {
  if (!used_.linked()) return nullptr;
  return take(static_cast<Entry*>(used_.next)->text);
}

std::unique_ptr<Prepared> StatementCache::take(std::string_view text) noexcept {
  const auto found = by_text_.find(text);
  if (found == by_text_.end()) return nullptr;
  const std::unique_ptr<Entry> entry = std::move(found->second);
  by_text_.erase(found);
  entry->unlink();
  return std::move(entry->prepared);
}

void StatementCache::clear() noexcept {
  while (takeOldest() != nullptr) {
  }
}

}  // namespace roost::db
