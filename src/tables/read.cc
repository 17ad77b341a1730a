#include "tables/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tables/embed.h"
#include "tables/ordering.h"
#include "tables/query_parser.h"
#include "tables/select_list.h"

namespace roost::tables {
namespace {

// Begins a condition of its own behind those that are there.
void conjoin(bool& first, db::SqlText& out) {
  if (first) {
    out << " WHERE ";
  } else {
    out << " AND ";
  }
  first = false;
}

// The table's fixed conditions behind those of the request. `first`: there are none yet.
bool appendOwnConditions(const SqlContext& context, const Query& query, bool& first, db::Statement& out) {
  if (!query.where.empty()) {
    conjoin(first, out.text);
    if (!appendConditions(context, query.where, out)) return false;
  }
  if (context.table.fixed.where.empty()) return true;
  conjoin(first, out.text);
  SqlContext fixed{context.table, context.exposure, context.problem, context.scope};
  fixed.fixed = true;
  return appendConditions(fixed, context.table.fixed.where, out);
}

class Planner {
 public:
  Planner(const ExposedTable& table, const Exposure& exposure, const Query& query, const ReadOptions& options,
          ReadPlan& plan, Problem& problem) noexcept
      : query_(query),
        options_(options),
        plan_(plan),
        context_{table, exposure, problem, Scope::kPlain, false, &query},
        list_(context_, plan.columns, plan.rows),
        ordering_(context_) {}

  bool plan() {
    if (!checkWords() || !findRows()) return false;
    plan_.one_by_key = isOneByKey();
    plan_.rows.text.reserve(512);
    plan_.rows.text << "SELECT ";
    if (query_.distinct) plan_.rows.text << "DISTINCT ";
    if (!ordering_.read(query_, !plan_.one_by_key && plan_.limit.has_value())) return false;
    if (!list_.add(query_) || !addEmbeds() || !addOrder()) return false;
    if (plan_.columns.empty()) list_.addHidden(firstColumn());
    if (!checkDistinct()) return false;
    if (!appendFrom(plan_.rows, true)) return false;
    ordering_.appendOrderBy(plan_.rows);
    appendLimit();
    return addCounts();
  }

 private:
  const Column& firstColumn() const { return context_.table.table->columns[context_.table.shown.front()]; }

  bool checkWords() {
    if (!query_.columns.empty()) return context_.refuse("bad_query", "columns: this is for what is written");
    if (!query_.on_conflict.empty())
      return context_.refuse("bad_query", "on_conflict: this is for what is written");
    return true;
  }

  // limit, offset, Range and the route's own bounds.
  bool findRows() {
    const TableConfig& config = *context_.table.config;
    plan_.offset = query_.offset.value_or(0);
    plan_.limit = query_.limit;
    if (options_.range && !(query_.limit && *query_.limit == 0)) {
      const RowRange& range = *options_.range;
      const uint64_t first = std::max(plan_.offset, range.first);
      std::optional<uint64_t> end;  // behind the last
      if (range.last && *range.last < UINT64_MAX) end = *range.last + 1;
      if (query_.limit) end = std::min(end.value_or(UINT64_MAX), plan_.offset + *query_.limit);
      if (end && *end <= first) {
        context_.refuse("range_not_satisfiable",
                        "Range: no row is both within it and within limit and offset");
        context_.problem.status = 416;
        return false;
      }
      plan_.offset = first;
      plan_.limit = end ? std::optional<uint64_t>(*end - first) : std::nullopt;
    }
    if (!plan_.limit && config.default_rows > 0) plan_.limit = config.default_rows;
    uint64_t most = config.max_rows == 0 ? UINT64_MAX : config.max_rows;
    const bool embeds = std::any_of(query_.select.begin(), query_.select.end(),
                                    [](const SelectItem& item) { return item.embedded != nullptr; });
    if (embeds) most = std::min<uint64_t>(most, context_.exposure.config->limits.max_embed_rows);
    if (most != UINT64_MAX) plan_.limit = std::min(plan_.limit.value_or(most), most);
    return true;
  }

  // Whether each column of the primary key is compared with one value.
  bool isOneByKey() const {
    const Key* const key = context_.table.key();
    if (key == nullptr || plan_.offset > 0 || plan_.limit == uint64_t{0}) return false;
    return std::all_of(key->columns.begin(), key->columns.end(), [this](uint16_t at) {
      const std::string& name = context_.table.table->columns[at].name;
      return std::any_of(query_.where.begin(), query_.where.end(), [&name](const Condition& condition) {
        return condition.kind == Condition::Kind::kLeaf && !condition.negated &&
               condition.op == Operator::kEq && condition.quantifier == Quantifier::kNone &&
               condition.path.steps.empty() && condition.path.column == name;
      });
    });
  }

  bool addEmbeds() {
    for (const SelectItem& item : query_.select) {
      if (item.embedded == nullptr) continue;
      if (++embeds_ > kMaxEmbeds)
        return context_.refuse("too_complex",
                               fmt::format("select: more than {} tables embedded", kMaxEmbeds));
      Relation relation;
      if (!findRelation(context_, item, relation)) return false;
      if (item.embedded->select_nothing) continue;
      EmbedPlan embed;
      if (!planEmbed(context_, item, relation, embed))
        return context_.within(item.alias.empty() ? item.path.column : item.alias);
      if (!checkName(embed.json_key)) return false;
      for (const Column* const column : relation.outer) embed.from.push_back(list_.positionOf(*column));
      plan_.embeds.push_back(std::move(embed));
    }
    return true;
  }

  bool checkName(const std::string& json_key) {
    const auto same = [&json_key](const auto& other) { return other.json_key == json_key; };
    const bool column = std::any_of(plan_.columns.begin(), plan_.columns.end(),
                                    [&](const OutputColumn& other) { return !other.hidden && same(other); });
    if (!column && std::none_of(plan_.embeds.begin(), plan_.embeds.end(), same)) return true;
    return context_.refuse(
        "bad_query",
        fmt::format("select: two things of the name {}", json_key.substr(0, json_key.size() - 1)),
        "an alias gives one another name: other:table(*)");
  }

  // Where the next page begins is told by the order's cells.
  bool addOrder() {
    if (query_.distinct || plan_.one_by_key) return true;
    for (const Column* const column : ordering_.columns())
      plan_.order_columns.push_back(list_.positionOf(*column));
    return true;
  }

  // With DISTINCT, what rows are joined or ordered by has to be selected.
  bool checkDistinct() {
    if (!query_.distinct) return true;
    if (!query_.after.empty()) return context_.refuse("unsupported", "after: not together with distinct");
    const bool hidden = std::any_of(plan_.columns.begin(), plan_.columns.end(),
                                    [](const OutputColumn& column) { return column.hidden; });
    const bool ordered = std::all_of(query_.order.begin(), query_.order.end(), [this](const OrderTerm& term) {
      const Column* const column = context_.table.find(term.path.column);
      return term.relation.empty() && term.path.steps.empty() && column != nullptr &&
             list_.contains(*column) && !isJson(*column);
    });
    if (!hidden && ordered) return true;
    return context_.refuse(
        "unsupported", "distinct: the columns that rows are ordered or joined by have to be selected, too");
  }

  // " FROM orders AS t WHERE ...".
  bool appendFrom(db::Statement& out, bool with_after) {
    out.text << " FROM " << context_.table.table->identifier << " AS t";
    bool first = true;
    if (!appendOwnConditions(context_, query_, first, out)) return false;
    for (const SelectItem& item : query_.select) {
      if (item.embedded == nullptr || !item.inner) continue;
      conjoin(first, out.text);
      if (!appendExists(context_, item, out)) return false;
    }
    if (!with_after || query_.after.empty()) return true;
    conjoin(first, out.text);
    return ordering_.appendAfter(query_, out);
  }

  void appendLimit() {
    if (plan_.one_by_key) return;
    std::optional<uint64_t> limit = plan_.limit;
    if (options_.single) limit = std::min<uint64_t>(limit.value_or(2), 2);
    if (!limit && plan_.offset == 0) return;
    plan_.rows.text << " LIMIT ?";
    plan_.rows.values.push_back(db::Value::ofUint(std::min<uint64_t>(limit.value_or(INT64_MAX), INT64_MAX)));
    if (plan_.offset == 0) return;
    plan_.rows.text << " OFFSET ?";
    plan_.rows.values.push_back(db::Value::ofUint(plan_.offset));
  }

  bool addCounts() {
    using Count = Preferences::Count;
    const Count count = options_.preferences.count;
    if (count == Count::kExact || count == Count::kEstimated) {
      plan_.count.emplace();
      if (!appendCount(*plan_.count)) return false;
    }
    if (count != Count::kPlanned && count != Count::kEstimated) return true;
    plan_.explain.emplace();
    plan_.explain->text << "EXPLAIN FORMAT=TRADITIONAL SELECT 1";
    return appendFrom(*plan_.explain, false);
  }

  bool appendCount(db::Statement& out) {
    out.text << "SELECT COUNT(*)";
    if (!query_.distinct) return appendFrom(out, false);
    out.text << " FROM (SELECT DISTINCT ";
    std::vector<OutputColumn> ignored;
    if (!SelectList(context_, ignored, out, true).add(query_) || !appendFrom(out, false)) return false;
    out.text << ") AS r";
    return true;
  }

  const Query& query_;
  const ReadOptions& options_;
  ReadPlan& plan_;
  const SqlContext context_;
  SelectList list_;
  Ordering ordering_;
  uint32_t embeds_ = 0;
};

}  // namespace

bool planRead(const ExposedTable& table, const Exposure& exposure, const Query& query,
              const ReadOptions& options, ReadPlan& plan, Problem& problem) {
  plan = ReadPlan{};
  problem = Problem{};
  return Planner(table, exposure, query, options, plan, problem).plan();
}

bool appendWhere(const ExposedTable& table, const Exposure& exposure, const Query& query, db::Statement& out,
                 Problem& problem) {
  const SqlContext context{table, exposure, problem};
  if (!query.after.empty()) return context.refuse("unsupported", "after: this is for reading");
  bool first = true;
  return appendOwnConditions(context, query, first, out);
}

}  // namespace roost::tables
