#include "db/statement_cache.h"

#include <algorithm>
#include <utility>

namespace roost::db {

namespace {

constexpr size_t kBytesPerStatement = 4096;
constexpr size_t kBytesPerMark = 256;  // the library's description of a parameter, and ours

}  // namespace

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
  const auto marks = static_cast<size_t>(std::count(text.begin(), text.end(), '?'));
  entry->bytes = kBytesPerStatement + text.size() + marks * kBytesPerMark;
  bytes_ += entry->bytes;
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
  bytes_ -= entry->bytes;
  return std::move(entry->prepared);
}

void StatementCache::clear() noexcept {
  while (takeOldest() != nullptr) {
  }
}

}  // namespace roost::db
