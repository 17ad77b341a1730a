#include "tables/exposure.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tables/read.h"

namespace roost::tables {
namespace {

bool isIn(const std::vector<std::string>& names, std::string_view name) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Binds one table; what it has to complain of begins with the table's label.
class Binder {
 public:
  Binder(const RestConfig& rest, const TableConfig& config, std::vector<std::string>& complaints)
      : rest_(rest), config_(config), complaints_(complaints) {}

  // False: it cannot be served.
  bool bind(const Table& table, ExposedTable& bound) {
    bound.table = &table;
    bound.name = config_.alias.empty() ? config_.name : config_.alias;
    bound.config = &config_;
    bound.rest = &rest_;
    bindColumns(table, bound);
    if (bound.shown.empty()) return complain("none of its columns is there: it is not served");
    bindMethods(table, bound);
    bindVersion(table, bound);
    return bindFixed(table, bound);
  }

 private:
  bool complain(const std::string& what) {
    complaints_.push_back(fmt::format("{}: {}", labelOf(config_), what));
    return false;
  }

  void bindColumns(const Table& table, ExposedTable& bound) {
    for (const auto* const names : {&config_.columns, &config_.read_only}) {
      for (const std::string& name : *names)
        if (table.find(name) == nullptr) complain(fmt::format("there is no column \"{}\"", name));
    }
    bound.writable.resize(table.columns.size());
    for (size_t at = 0; at < table.columns.size(); ++at) {
      const Column& column = table.columns[at];
      if (config_.columns.empty() ? column.invisible : !isIn(config_.columns, column.name)) continue;
      bound.shown.push_back(static_cast<uint16_t>(at));
      const bool is_made = column.generated || (column.auto_increment && !config_.client_ids);
      bound.writable[at] = !is_made && !isIn(config_.read_only, column.name);
    }
  }

  // A view has no keys, by which rows are replaced.
  void bindMethods(const Table& table, ExposedTable& bound) {
    bound.methods = config_.methods;
    if (!table.is_view) return;
    bound.methods &= table.updatable ? kAllMethods & ~kUpsert : kRead;
    if (bound.methods == config_.methods) return;
    complain(table.updatable ? "a view, for which there is no PUT" : "a view that can only be read");
  }

  void bindVersion(const Table& table, ExposedTable& bound) {
    if (config_.version.empty()) return;
    const Column* const column = table.find(config_.version);
    if (column == nullptr) {
      complain(fmt::format("there is no column \"{}\" for \"version\"", config_.version));
    } else {
      bound.version = static_cast<int>(column - table.columns.data());
    }
  }

  // Without its fixed condition a table would show what it is not to show.
  bool bindFixed(const Table& table, ExposedTable& bound) {
    if (config_.where.empty()) return true;
    Problem problem;
    if (!parseFixed(config_.where, rest_.limits, bound.fixed, problem))
      return complain(fmt::format("\"where\" cannot be read, it is not served: {}", problem.detail));
    std::string missing;
    if (!know(table, bound.fixed.where, missing))
      return complain(fmt::format("there is no column \"{}\" for \"where\": it is not served", missing));
    return true;
  }

  static bool know(const Table& table, const std::vector<Condition>& conditions, std::string& missing) {
    return std::all_of(conditions.begin(), conditions.end(), [&](const Condition& condition) {
      if (condition.kind != Condition::Kind::kLeaf) return know(table, condition.parts, missing);
      if (table.find(condition.path.column) != nullptr) return true;
      missing = condition.path.column;
      return false;
    });
  }

  const RestConfig& rest_;
  const TableConfig& config_;
  std::vector<std::string>& complaints_;
};

}  // namespace

namespace {

// A fixed condition that no statement can be made of, as where its value is none of the column's, would make
// every request fail.
void dropUnusable(Exposure& exposure, std::vector<std::string>& complaints) {
  for (auto each = exposure.tables.begin(); each != exposure.tables.end();) {
    db::Statement statement;
    Problem problem;
    if (appendWhere(each->second, exposure, Query(), statement, problem)) {
      ++each;
      continue;
    }
    complaints.push_back(fmt::format("{}: \"where\" cannot be used, it is not served: {}",
                                     labelOf(*each->second.config), problem.detail));
    each = exposure.tables.erase(each);
  }
}

}  // namespace

std::string labelOf(const TableConfig& table) {
  return table.alias.empty() ? table.name : fmt::format("{} as \"{}\"", table.name, table.alias);
}

const Column* ExposedTable::find(std::string_view column) const noexcept {
  for (const uint16_t at : shown)
    if (table->columns[at].name == column) return &table->columns[at];
  return nullptr;
}

bool ExposedTable::mayWrite(const Column& column) const noexcept {
  return writable[static_cast<size_t>(&column - table->columns.data())];
}

bool ExposedTable::mayName(const Column& column) const noexcept {
  const Key* const primary = key();
  const auto at = static_cast<uint16_t>(&column - table->columns.data());
  return primary != nullptr && column.auto_increment && !mayWrite(column) &&
         std::find(primary->columns.begin(), primary->columns.end(), at) != primary->columns.end();
}

const Key* ExposedTable::key() const noexcept {
  const Key* const primary = table->primaryKey();
  if (primary == nullptr || primary->partial) return nullptr;
  const bool all_shown = std::all_of(primary->columns.begin(), primary->columns.end(), [this](uint16_t at) {
    return std::binary_search(shown.begin(), shown.end(), at);
  });
  return all_shown ? primary : nullptr;
}

const ExposedTable* Exposure::find(std::string_view name) const noexcept {
  const auto found = tables.find(name);
  return found == tables.end() ? nullptr : &found->second;
}

std::shared_ptr<const Exposure> expose(std::shared_ptr<const Catalog> catalog,
                                       std::shared_ptr<const RestConfig> config,
                                       std::vector<std::string>& complaints) {
  auto exposure = std::make_shared<Exposure>();
  for (const TableConfig& each : config->tables) {
    const Table* const table = catalog->find(each.name);
    if (table == nullptr) {
      complaints.push_back(fmt::format("{}: there is no such table or view", labelOf(each)));
      continue;
    }
    ExposedTable bound;
    if (!Binder(*config, each, complaints).bind(*table, bound)) continue;
    exposure->tables.emplace(bound.name, std::move(bound));
  }
  exposure->catalog = std::move(catalog);
  exposure->config = std::move(config);
  dropUnusable(*exposure, complaints);
  return exposure;
}

}  // namespace roost::tables
