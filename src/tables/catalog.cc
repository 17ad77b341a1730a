#include "tables/catalog.h"

#include <array>
#include <charconv>

namespace roost::tables {

const Column* Table::find(std::string_view column) const noexcept {
  for (const Column& candidate : columns)
    if (candidate.name == column) return &candidate;
  return nullptr;
}

const Key* Table::primaryKey() const noexcept {
  return !keys.empty() && keys.front().primary ? &keys.front() : nullptr;
}

uint32_t versionNumber(std::string_view server_version) noexcept {
  constexpr std::string_view kOldPrefix = "5.5.5-";  // which MariaDB puts before its own, for old clients
  if (server_version.substr(0, kOldPrefix.size()) == kOldPrefix)
    server_version.remove_prefix(kOldPrefix.size());
  std::array<uint32_t, 3> parts{};
  for (uint32_t& part : parts) {
    const auto read =
        std::from_chars(server_version.data(), server_version.data() + server_version.size(), part);
    server_version.remove_prefix(static_cast<size_t>(read.ptr - server_version.data()));
    if (server_version.empty() || server_version.front() != '.') break;
    server_version.remove_prefix(1);
  }
  return parts[0] * 10'000 + parts[1] * 100 + parts[2];
}

const Table* Catalog::find(std::string_view table) const noexcept {
  const auto found = tables.find(table);
  return found == tables.end() ? nullptr : &found->second;
}

}  // namespace roost::tables
