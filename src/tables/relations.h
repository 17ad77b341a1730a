// Which table is meant by an embedding, and along which foreign key. Within tables/ only.
#pragma once

#include <vector>

#include "tables/sql_context.h"

namespace roost::tables {

// target.inner[i] = this.outer[i].
struct Relation {
  const ExposedTable* target = nullptr;
  bool many = false;  // several rows of the target may belong to one
  std::vector<const Column*> outer;
  std::vector<const Column*> inner;
};

// The one foreign key between the context's table and what `item` names, in either direction. All its columns
// and the target table are shown. None: 400; several: 300, and the hint says how each is spelt.
bool findRelation(const SqlContext& context, const SelectItem& item, Relation& out);

// "customers=is.null" where customers is embedded and no column; nullptr otherwise.
const SelectItem* findEmbedded(const SqlContext& context, const Condition& condition) noexcept;
// The embedded table of that name or alias; nullptr: none.
const SelectItem* findEmbedded(const Query& root, std::string_view name) noexcept;

// "EXISTS (SELECT 1 FROM customers AS e WHERE e.id = t.customer_id AND ...)": that there is a row which the
// embedding's own conditions let through.
bool appendExists(const SqlContext& context, const SelectItem& item, db::Statement& out);
// The same for "customers=is.null" (there is none) and "customers=is.not_null".
bool appendExistence(const SqlContext& context, const SelectItem& item, const Condition& condition,
                     db::Statement& out);
// " FROM customers AS e WHERE e.id = t.customer_id AND ...", of the second table's fixed conditions, and of
// `conditions`.
bool appendJoin(const SqlContext& context, const Relation& relation, const std::vector<Condition>& conditions,
                db::Statement& out);

}  // namespace roost::tables
