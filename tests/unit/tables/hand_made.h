#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tables/exposure.h"

namespace roost::tables {

inline Column handMadeColumn(const char* name, db::Type type, const char* declared) {
  Column column;
  column.name = name;
  column.identifier = db::Identifier::ofSchema(name);
  column.type = type;
  column.declared = declared;
  if (type == db::Type::kInt || type == db::Type::kUint) column.int_bytes = 4;
  return column;
}

inline Key handMadeKey(const char* name, std::vector<uint16_t> columns, bool primary = true) {
  Key key;
  key.name = name;
  key.columns = std::move(columns);
  key.unique = true;
  key.primary = primary;
  return key;
}

// orders(id, customer, status, tenant, total, secret, sum); customers(id, name); totals, a view.
inline std::shared_ptr<Catalog> handMadeCatalog() {
  auto catalog = std::make_shared<Catalog>();
  Table orders;
  orders.name = "orders";
  orders.comment = "what was bought";
  orders.columns = {handMadeColumn("id", db::Type::kUint, "bigint(20) unsigned"),
                    handMadeColumn("customer", db::Type::kInt, "int(11)"),
                    handMadeColumn("status", db::Type::kText, "enum('open','it''s')"),
                    handMadeColumn("tenant", db::Type::kInt, "int(11)"),
                    handMadeColumn("total", db::Type::kDecimal, "decimal(10,2)"),
                    handMadeColumn("secret", db::Type::kText, "varchar(20)"),
                    handMadeColumn("sum", db::Type::kInt, "int(11)")};
  orders.columns[0].int_bytes = 8;
  orders.columns[0].auto_increment = orders.columns[0].has_default = true;
  orders.columns[2].members = {"open", "it's"};
  orders.columns[2].has_default = orders.columns[2].nullable = true;
  orders.columns[4].precision = 10;
  orders.columns[4].scale = 2;
  orders.columns[4].comment = "with tax";
  orders.columns[5].invisible = orders.columns[5].has_default = true;
  orders.columns[5].max_chars = 20;
  orders.columns[6].generated = orders.columns[6].has_default = true;
  orders.keys = {handMadeKey("PRIMARY", {0})};
  orders.foreign_keys = {{"to_customer", {1}, "customers", {"id"}}};
  Table customers;
  customers.name = "customers";
  customers.columns = {handMadeColumn("id", db::Type::kInt, "int(11)"),
                       handMadeColumn("name", db::Type::kText, "varchar(80)")};
  customers.columns[1].max_chars = 80;
  customers.keys = {handMadeKey("PRIMARY", {0})};
  Table totals;
  totals.name = "totals";
  totals.is_view = true;
  totals.updatable = false;
  totals.columns = {handMadeColumn("n", db::Type::kInt, "bigint(20)")};
  for (Table* const table : {&orders, &customers, &totals}) {
    table->identifier = db::Identifier::ofSchema(table->name);
    catalog->tables.emplace(table->name, std::move(*table));
  }
  return catalog;
}

inline TableConfig shownTable(std::string name, uint8_t methods = kRead) {
  TableConfig table;
  table.name = std::move(name);
  table.methods = methods;
  return table;
}

}  // namespace roost::tables
