#include "tables/embed.h"

#include <algorithm>
#include <utility>

#include "tables/ordering.h"
#include "tables/select_list.h"

namespace roost::tables {
namespace {

constexpr uint32_t kRowsPerOuter = 10;  // embedded rows, of all outer ones together, on the average

// Makes one EmbedPlan.
class EmbedMaker {
 public:
  EmbedMaker(const SqlContext& outer, const SelectItem& item, const Relation& relation,
             EmbedPlan& plan) noexcept
      : item_(item),
        query_(*item.embedded),
        relation_(relation),
        plan_(plan),
        context_{*relation.target, outer.exposure, outer.problem},
        ordering_(context_) {}

  bool make() {
    const std::string& name = item_.alias.empty() ? item_.path.column : item_.alias;
    plan_.json_key = jsonKey(name);
    plan_.many = relation_.many;
    plan_.inner = item_.inner;
    plan_.max_rows = kRowsPerOuter * context_.exposure.config->limits.max_embed_rows;
    plan_.max_rows_each = relation_.many ? context_.table.config->max_rows : 0;
    if (!ordering_.read(query_, false)) return false;
    if (!relation_.many && (query_.offset.value_or(0) > 0 || query_.limit.value_or(1) == 0))
      return context_.refuse("unsupported", "limit and offset of what is one row");
    const bool numbered = relation_.many && (query_.limit || query_.offset);
    return numbered ? makeNumbered() : makePlain();
  }

 private:
  bool addColumns(db::Statement& head, bool named) {
    SelectList list(context_, plan_.columns, head, named);
    for (const Column* const column : relation_.inner) list.addHidden(*column);
    return list.add(query_);
  }

  // "... FROM order_lines WHERE order_id IN (".
  void appendKeys(db::SqlText& out) {
    out << " FROM " << context_.table.table->identifier << " WHERE ";
    const bool several = relation_.inner.size() > 1;
    if (several) out << "(";
    for (const Column* const column : relation_.inner) {
      if (column != relation_.inner.front()) out << ",";
      context_.append(*column, out);
    }
    if (several) out << ")";
    out << " IN (";
  }

  // ") AND ...", of the request's conditions and the fixed ones.
  bool appendConditionsBehind(db::Statement& tail) {
    tail.text << ")";
    if (!query_.where.empty()) {
      tail.text << " AND ";
      if (!appendConditions(context_, query_.where, tail)) return false;
    }
    if (context_.table.fixed.where.empty()) return true;
    tail.text << " AND ";
    SqlContext fixed = context_;
    fixed.fixed = true;
    return appendConditions(fixed, context_.table.fixed.where, tail);
  }

  bool makePlain() {
    db::Statement head{db::SqlText("SELECT "), {}};
    if (!addColumns(head, false)) return false;
    appendKeys(head.text);
    db::Statement tail;
    if (!appendConditionsBehind(tail)) return false;
    ordering_.appendOrderBy(tail);
    return finish(std::move(head), std::move(tail));
  }

  // limit and offset are those of each outer row: its rows are counted.
  bool makeNumbered() {
    db::Statement inner;
    if (!addColumns(inner, true)) return false;
    db::Statement head{db::SqlText("SELECT "), {}};
    for (size_t i = 0; i < plan_.columns.size(); ++i) {
      if (i > 0) head.text << ",";
      head.text << "c";
      appendNumber(i, head.text);
    }
    head.text << " FROM (SELECT " << inner.text << ",ROW_NUMBER() OVER (PARTITION BY ";
    std::move(inner.values.begin(), inner.values.end(), std::back_inserter(head.values));
    for (const Column* const column : relation_.inner) {
      if (column != relation_.inner.front()) head.text << ",";
      context_.append(*column, head.text);
    }
    ordering_.appendOrderBy(head);
    head.text << ") AS n";
    appendKeys(head.text);
    db::Statement tail;
    if (!appendConditionsBehind(tail)) return false;
    tail.text << ") AS r WHERE n > ? AND n <= ? ORDER BY n";
    const uint64_t first = query_.offset.value_or(0);
    uint64_t most = static_cast<uint64_t>(INT64_MAX) - first;
    if (plan_.max_rows_each != 0) most = std::min<uint64_t>(most, plan_.max_rows_each);
    tail.values.push_back(db::Value::ofUint(first));
    tail.values.push_back(db::Value::ofUint(first + std::min(query_.limit.value_or(most), most)));
    return finish(std::move(head), std::move(tail));
  }

  bool finish(db::Statement head, db::Statement tail) {
    tail.text << " LIMIT ?";
    tail.values.push_back(db::Value::ofUint(uint64_t{plan_.max_rows} + 1));
    plan_.head = std::move(head.text);
    plan_.head_values = std::move(head.values);
    plan_.tail = std::move(tail.text);
    plan_.tail_values = std::move(tail.values);
    return true;
  }

  const SelectItem& item_;
  const Query& query_;
  const Relation& relation_;
  EmbedPlan& plan_;
  const SqlContext context_;
  Ordering ordering_;
};

}  // namespace

bool planEmbed(const SqlContext& context, const SelectItem& item, const Relation& relation, EmbedPlan& plan) {
  return EmbedMaker(context, item, relation, plan).make();
}

db::Statement EmbedPlan::forKeys(const std::vector<db::Value>& keys) const {
  const size_t width = from.size();
  const size_t count = keys.size() / width;
  const size_t tuples = padded(count);
  db::Statement made;
  made.text.reserve(head.view().size() + tail.view().size() + tuples * (2 * width + 2));
  made.values.reserve(head_values.size() + tuples * width + tail_values.size());
  made.values = head_values;
  made.text << head;
  for (size_t i = 0; i < tuples; ++i) {
    if (i > 0) made.text << ",";
    if (width > 1) made.text << "(";
    made.text.marks(width);
    if (width > 1) made.text << ")";
    const size_t from_key = std::min(i, count - 1) * width;
    for (size_t j = 0; j < width; ++j) made.values.push_back(keys[from_key + j]);
  }
  made.text << tail;
  made.values.insert(made.values.end(), tail_values.begin(), tail_values.end());
  return made;
}

}  // namespace roost::tables
