#include "tables/catalog.h"

namespace roost::tables {

const Column* Table::find(std::string_view column) const noexcept {
  for (const Column& candidate : columns)
    if (candidate.name == column) return &candidate;
  return nullptr;
}

const Key* Table::primaryKey() const noexcept {
  return !keys.empty() && keys.front().primary ? &keys.front() : nullptr;
}

const Table* Catalog::find(std::string_view table) const noexcept {
  const auto found = tables.find(table);
  return found == tables.end() ? nullptr : &found->second;
}

}  // namespace roost::tables
