#include "tables/ordering.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tables/read.h"
#include "tables/relations.h"

namespace roost::tables {
namespace {

const Path kNoPath;

// Whether the key's columns are all among `columns`, and none can be NULL, which several rows may have.
bool covers(const Table& table, const Key& key, const std::vector<const Column*>& columns) {
  return key.unique && !key.partial && !key.columns.empty() &&
         std::all_of(key.columns.begin(), key.columns.end(), [&](uint16_t at) {
           const Column* const column = &table.columns[at];
           return !column->nullable && std::find(columns.begin(), columns.end(), column) != columns.end();
         });
}

// Whether the database orders and compares its values in the same way.
bool isComparable(const Column& column) noexcept {
  return !isJson(column) && !isSet(column);
}

void appendDirection(bool descending, db::SqlText& out) {
  if (descending) out << " DESC";
}

}  // namespace

bool Ordering::isOwnColumn(const Term& term) const noexcept {
  return term.relation == nullptr && term.operand.isColumn();
}

bool Ordering::coversKey() const {
  std::vector<const Column*> own;
  for (const Term& term : terms_) {
    if (isOwnColumn(term)) own.push_back(term.operand.column);
  }
  const Table& table = *context_.table.table;
  return std::any_of(table.keys.begin(), table.keys.end(),
                     [&](const Key& key) { return covers(table, key, own); });
}

bool Ordering::readRelation(const OrderTerm& asked, const Query& query, Term& term) {
  term.relation = context_.root == nullptr ? nullptr : findEmbedded(query, asked.relation);
  if (term.relation == nullptr)
    return context_.refuse(
        "unknown_embedding",
        fmt::format("order: {} is not embedded by this request's select", inQuotes(asked.relation)));
  Relation relation;
  if (!findRelation(context_, *term.relation, relation)) return false;
  if (relation.many)
    return context_.refuse("bad_query",
                           fmt::format("order: there may be many {} for each row", asked.relation));
  db::Statement trial;  // appendOrderBy has no way to fail
  if (!appendJoin(context_, relation, {}, trial)) return false;
  term.nullable = true;
  return resolve({*relation.target, context_.exposure, context_.problem}, asked.path, term.operand) ||
         context_.within("order");
}

bool Ordering::readTerm(const OrderTerm& asked, const Query& query) {
  Term term;
  term.descending = asked.descending;
  if (!asked.relation.empty()) {
    if (!readRelation(asked, query, term)) return false;
  } else {
    if (!resolve(context_, asked.path, term.operand)) return context_.within("order");
    term.nullable = term.operand.column->nullable || !term.operand.isColumn();
  }
  if (term.operand.column->type == db::Type::kGeometry)
    return context_.refuse("unsupported", fmt::format("order: {} has no order", asked.path.column));
  term.nulls_first = asked.nulls == OrderTerm::Nulls::kDefault ? !asked.descending  // the databases' own way
                                                               : asked.nulls == OrderTerm::Nulls::kFirst;
  terms_.push_back(term);
  return true;
}

// The rest of the primary key, in the direction of the last term, so that an index on the others can still be
// read from one end to the other.
void Ordering::complete(const Query& query) {
  const Key* const key = context_.table.key();
  total_ = coversKey();
  if (total_ || key == nullptr || query.distinct) return;
  const bool descending = !terms_.empty() && terms_.back().descending;
  for (const uint16_t at : key->columns) {
    const Column* const column = &context_.table.table->columns[at];
    const bool there = std::any_of(terms_.begin(), terms_.end(), [&](const Term& term) {
      return isOwnColumn(term) && term.operand.column == column;
    });
    if (there) continue;
    Term term;
    term.operand.column = column;
    term.operand.path = &kNoPath;
    term.descending = descending;
    term.nulls_first = !descending;
    terms_.push_back(term);
  }
  total_ = true;
}

bool Ordering::read(const Query& query, bool total) {
  for (const OrderTerm& asked : query.order)
    if (!readTerm(asked, query)) return false;
  if (total && !terms_.empty()) complete(query);
  const bool plain = std::all_of(terms_.begin(), terms_.end(), [this](const Term& term) {
    return isOwnColumn(term) && isComparable(*term.operand.column);
  });
  for (const Term& term : terms_)
    if (plain) columns_.push_back(term.operand.column);
  return true;
}

void Ordering::appendExpression(const Term& term, db::Statement& out) const {
  if (term.relation == nullptr) return appendOperand(context_, term.operand, out);
  Relation relation;
  Problem ignored;
  const SqlContext context{context_.table, context_.exposure, ignored, context_.scope, false, context_.root};
  if (!findRelation(context, *term.relation, relation)) return;  // it was found when the term was read
  const SqlContext inner{*relation.target, context_.exposure, ignored, Scope::kInner};
  out.text << "(SELECT ";
  appendOperand(inner, term.operand, out);
  appendJoin(context, relation, {}, out);
  out.text << ")";
}

// PostgreSQL's order of JSON: null, text, numbers, booleans, arrays, objects; numbers by their value.
void Ordering::appendJsonKeys(const Term& term, db::Statement& out) const {
  out.text << "CASE JSON_TYPE(";
  appendExpression(term, out);
  out.text << ") WHEN 'NULL' THEN 1 WHEN 'STRING' THEN 2 WHEN 'BOOLEAN' THEN 4 WHEN 'ARRAY' THEN 5"
              " WHEN 'OBJECT' THEN 6 ELSE 3 END";
  appendDirection(term.descending, out.text);
  out.text << ",CASE WHEN JSON_TYPE(";
  appendExpression(term, out);
  out.text << ") IN ('INTEGER','DOUBLE','DECIMAL','UNSIGNED INTEGER') THEN ";
  appendExpression(term, out);
  out.text << "+0e0 END";
  appendDirection(term.descending, out.text);
  out.text << ",JSON_UNQUOTE(";
  appendExpression(term, out);
  out.text << ")";
  appendDirection(term.descending, out.text);
}

void Ordering::appendTerm(const Term& term, db::Statement& out) const {
  const bool json = term.operand.isJsonValue() || (term.operand.isColumn() && isJson(*term.operand.column));
  if (json || (term.nullable && term.nulls_first == term.descending)) {
    appendExpression(term, out);
    out.text << " IS NULL";
    appendDirection(term.nulls_first, out.text);
    out.text << ",";
  }
  if (json) return appendJsonKeys(term, out);
  appendExpression(term, out);
  appendDirection(term.descending, out.text);
}

void Ordering::appendOrderBy(db::Statement& out) const {
  for (const Term& term : terms_) {
    if (&term == &terms_.front()) {
      out.text << " ORDER BY ";
    } else {
      out.text << ",";
    }
    appendTerm(term, out);
  }
}

// ENUMs are ordered by their position and compared as text: they are compared by position here.
bool Ordering::valueOf(const Term& term, const std::string& text, db::Value& value) const {
  const Column& column = *term.operand.column;
  const bool good = isEnum(column) ? convertMember(context_, column, text, value)
                                   : convertText(column, text, context_.timeZone(), value, context_.problem);
  return good || context_.within("after");
}

// Behind a row that has NULL in the term's column.
bool Ordering::appendBehindNull(const Query& query, size_t index, db::Statement& out) const {
  const Term& term = terms_[index];
  const bool last = index + 1 == terms_.size();
  appendOperand(context_, term.operand, out);
  if (term.nulls_first) {
    out.text << " IS NOT NULL";
    if (!last) out.text << " OR ";
  } else {
    out.text << " IS NULL AND ";
    if (last) out.text << "FALSE";
  }
  return last || appendBehind(query, index + 1, out);
}

// (a >= ? AND (a > ? OR (b ...))): the first comparison is what an index needs.
bool Ordering::appendBehind(const Query& query, size_t index, db::Statement& out) const {
  const Term& term = terms_[index];
  const bool last = index + 1 == terms_.size();
  const std::optional<std::string>& after = query.after[index];
  out.text << "(";
  if (!after && term.nullable) {
    if (!appendBehindNull(query, index, out)) return false;
    out.text << ")";
    return true;
  }
  db::Value value;
  if (!valueOf(term, after ? *after : "null", value)) return false;
  const auto compare = [&](bool or_equal) {
    appendOperand(context_, term.operand, out);
    if (term.descending) {
      out.text << " <";
    } else {
      out.text << " >";
    }
    if (or_equal) out.text << "=";
    out.text << " ";
    appendMark(*term.operand.column, out.text);
    out.values.push_back(value);
  };
  const bool nulls_behind = term.nullable && !term.nulls_first;
  if (nulls_behind) {
    appendOperand(context_, term.operand, out);
    out.text << " IS NULL OR (";
  }
  if (!last) {
    compare(true);
    out.text << " AND (";
  }
  compare(false);
  if (!last) {
    out.text << " OR ";
    if (!appendBehind(query, index + 1, out)) return false;
    out.text << ")";
  }
  if (nulls_behind) out.text << ")";
  out.text << ")";
  return true;
}

bool Ordering::appendAfter(const Query& query, db::Statement& out) const {
  if (terms_.empty())
    return context_.refuse("bad_query", "after: there is no order to go on in",
                           "order by a unique key: order=id");
  if (!total_)
    return context_.refuse("bad_query", "after: the order does not tell every row from every other",
                           "order by a unique key at last, of columns that cannot be null");
  if (columns_.empty()) return context_.refuse("unsupported", "after: the order is not one of plain columns");
  if (query.after.size() == terms_.size()) return appendBehind(query, 0, out);
  std::string names;
  for (const Column* const column : columns_) names += (names.empty() ? "" : ", ") + column->name;
  return context_.refuse("bad_value", fmt::format("after: {} values for an order by {} ({})",
                                                  query.after.size(), columns_.size(), names));
}

}  // namespace roost::tables
