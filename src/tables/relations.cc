#include "tables/relations.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace roost::tables {
namespace {

bool isShown(const ExposedTable& table, uint16_t position) noexcept {
  return std::binary_search(table.shown.begin(), table.shown.end(), position);
}

// The columns of `key` in `from`, which has it, and those it points at in `to`. False: one is not shown.
bool bindColumns(const ExposedTable& from, const ForeignKey& key, const ExposedTable& to,
                 std::vector<const Column*>& own, std::vector<const Column*>& theirs) {
  for (size_t i = 0; i < key.columns.size(); ++i) {
    const Column* const target = to.find(key.targets[i]);
    if (target == nullptr || !isShown(from, key.columns[i])) return false;
    own.push_back(&from.table->columns[key.columns[i]]);
    theirs.push_back(target);
  }
  return true;
}

bool isOnlyColumn(const ExposedTable& table, const ForeignKey& key, std::string_view name) noexcept {
  return key.columns.size() == 1 && table.table->columns[key.columns[0]].name == name;
}

// Whether no two rows of `table` have the same values in the key's columns.
bool isUnique(const ExposedTable& table, const ForeignKey& foreign) noexcept {
  return std::any_of(table.table->keys.begin(), table.table->keys.end(), [&foreign](const Key& key) {
    return key.unique && !key.partial &&
           std::all_of(key.columns.begin(), key.columns.end(), [&foreign](uint16_t column) {
             return std::find(foreign.columns.begin(), foreign.columns.end(), column) !=
                    foreign.columns.end();
           });
  });
}

struct Candidate {
  Relation relation;
  std::string spelling;  // that means it alone
};

class Search {
 public:
  Search(const SqlContext& context, const SelectItem& item) noexcept
      : context_(context), from_(context.table), item_(item) {}

  std::vector<Candidate> run() {
    for (const auto& [name, target] : context_.exposure.tables) {
      if (!target.allows(kRead)) continue;
      for (const ForeignKey& key : from_.table->foreign_keys) toOne(target, key);
      for (const ForeignKey& key : target.table->foreign_keys) toMany(target, key);
    }
    return std::move(found_);
  }

 private:
  void toOne(const ExposedTable& target, const ForeignKey& key) {
    if (key.table != target.table->name) return;
    const std::string& name = item_.path.column;
    if (name != target.name && name != key.name && !isOnlyColumn(from_, key, name)) return;
    if (!item_.hint.empty() && item_.hint != key.name && !isOnlyColumn(from_, key, item_.hint)) {
      const bool self = target.table == from_.table;
      if (self || key.targets.size() != 1 || key.targets[0] != item_.hint) return;
    }
    Candidate made;
    made.relation.target = &target;
    if (!bindColumns(from_, key, target, made.relation.outer, made.relation.inner)) return;
    made.spelling = target.name + '!' + (key.columns.size() == 1 ? made.relation.outer[0]->name : key.name);
    found_.push_back(std::move(made));
  }

  void toMany(const ExposedTable& target, const ForeignKey& key) {
    if (key.table != from_.table->name || item_.path.column != target.name) return;
    const bool self = target.table == from_.table;
    const bool by_own = !self && isOnlyColumn(target, key, item_.hint);
    const bool by_target = key.targets.size() == 1 && key.targets[0] == item_.hint;
    if (!item_.hint.empty() && item_.hint != key.name && !by_own && !by_target) return;
    Candidate made;
    made.relation.target = &target;
    made.relation.many = !isUnique(target, key);
    if (!bindColumns(target, key, from_, made.relation.inner, made.relation.outer)) return;
    made.spelling = target.name + '!' + (self && key.targets.size() == 1 ? key.targets[0] : key.name);
    found_.push_back(std::move(made));
  }

  const SqlContext& context_;
  const ExposedTable& from_;
  const SelectItem& item_;
  std::vector<Candidate> found_;
};

bool refuseMany(const SqlContext& context, const SelectItem& item, const std::vector<Candidate>& found) {
  std::string hint = "one of: ";
  for (const Candidate& candidate : found) {
    if (&candidate != &found.front()) hint += ", ";
    hint += candidate.spelling;
  }
  context.refuse("ambiguous_relationship",
                 fmt::format("select: more than one foreign key joins {} and {}", context.table.name,
                             inQuotes(item.path.column)),
                 std::move(hint));
  return false;
}

}  // namespace

bool findRelation(const SqlContext& context, const SelectItem& item, Relation& out) {
  std::vector<Candidate> found = Search(context, item).run();
  if (found.size() > 1) return refuseMany(context, item, found);
  if (found.empty()) {
    return context.refuse("no_relationship", fmt::format("select: no foreign key joins {} and {}{}",
                                                         context.table.name, inQuotes(item.path.column),
                                                         item.hint.empty() ? "" : " as the hint says"));
  }
  out = std::move(found.front().relation);
  return true;
}

const SelectItem* findEmbedded(const Query& root, std::string_view name) noexcept {
  for (const SelectItem& item : root.select) {
    if (item.embedded != nullptr && (item.alias.empty() ? item.path.column : item.alias) == name)
      return &item;
  }
  return nullptr;
}

const SelectItem* findEmbedded(const SqlContext& context, const Condition& condition) noexcept {
  if (context.root == nullptr || condition.op != Operator::kIs || !condition.path.steps.empty())
    return nullptr;
  if (condition.values.front() != "null" && condition.values.front() != "not_null") return nullptr;
  if (context.table.find(condition.path.column) != nullptr) return nullptr;
  return findEmbedded(*context.root, condition.path.column);
}

bool appendJoin(const SqlContext& context, const Relation& relation, const std::vector<Condition>& conditions,
                db::Statement& out) {
  SqlContext outer{context.table, context.exposure, context.problem, Scope::kOuter};
  SqlContext inner{*relation.target, context.exposure, context.problem, Scope::kInner};
  out.text << " FROM " << relation.target->table->identifier << " AS e WHERE ";
  for (size_t i = 0; i < relation.inner.size(); ++i) {
    if (i > 0) out.text << " AND ";
    inner.append(*relation.inner[i], out.text);
    out.text << " = ";
    outer.append(*relation.outer[i], out.text);
  }
  if (!conditions.empty()) {
    out.text << " AND ";
    if (!appendConditions(inner, conditions, out)) return false;
  }
  if (relation.target->fixed.where.empty()) return true;
  out.text << " AND ";
  inner.fixed = true;
  return appendConditions(inner, relation.target->fixed.where, out);
}

bool appendExists(const SqlContext& context, const SelectItem& item, db::Statement& out) {
  Relation relation;
  if (!findRelation(context, item, relation)) return false;
  out.text << "EXISTS (SELECT 1";
  if (!appendJoin(context, relation, item.embedded->where, out)) return false;
  out.text << ")";
  return true;
}

bool appendExistence(const SqlContext& context, const SelectItem& item, const Condition& condition,
                     db::Statement& out) {
  if (condition.values.front() == "null") out.text << "NOT ";
  return appendExists(context, item, out);
}

}  // namespace roost::tables
