// A shop's schema, made by hand, and routes over it: what the tests of the grammar plan statements for.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tables/exposure.h"

namespace roost::test {

inline tables::Column sampleColumn(const std::string& name, db::Type type, const std::string& declared,
                                   bool nullable = false) {
  tables::Column made;
  made.name = name;
  made.identifier = db::Identifier::ofSchema(name);
  made.type = type;
  made.declared = declared;
  made.nullable = nullable;
  return made;
}

inline tables::Column intColumn(const std::string& name, uint8_t bytes = 4, bool nullable = false) {
  tables::Column made = sampleColumn(name, db::Type::kInt, "int(11)", nullable);
  made.int_bytes = bytes;
  return made;
}

inline tables::Column textColumn(const std::string& name, bool nullable = false) {
  tables::Column made = sampleColumn(name, db::Type::kText, "varchar(80)", nullable);
  made.max_chars = 80;
  return made;
}

inline tables::Column boolColumn(const std::string& name, bool nullable = false) {
  tables::Column made = intColumn(name, 1, nullable);
  made.declared = "tinyint(1)";
  made.is_bool = true;
  return made;
}

inline tables::Column decimalColumn(const std::string& name) {
  tables::Column made = sampleColumn(name, db::Type::kDecimal, "decimal(12,2)");
  made.precision = 12;
  made.scale = 2;
  return made;
}

inline tables::Column enumColumn(const std::string& name) {
  tables::Column made = sampleColumn(name, db::Type::kText, "enum('open','paid','hidden')");
  made.members = {"open", "paid", "hidden"};
  return made;
}

inline tables::Column jsonColumn(const std::string& name) {
  tables::Column made = sampleColumn(name, db::Type::kJson, "longtext", true);
  made.is_json = true;
  return made;
}

inline tables::Table sampleTable(const std::string& name, std::vector<tables::Column> columns,
                                 std::vector<tables::Key> keys = {},
                                 std::vector<tables::ForeignKey> foreign_keys = {}) {
  tables::Table made;
  made.name = name;
  made.identifier = db::Identifier::ofSchema(name);
  made.columns = std::move(columns);
  made.keys = std::move(keys);
  made.foreign_keys = std::move(foreign_keys);
  return made;
}

inline tables::Key primaryKey(std::vector<uint16_t> columns) {
  tables::Key made;
  made.name = "PRIMARY";
  made.columns = std::move(columns);
  made.unique = true;
  made.primary = true;
  return made;
}

inline tables::Key fullTextKey(const std::string& name, std::vector<uint16_t> columns) {
  tables::Key made;
  made.name = name;
  made.columns = std::move(columns);
  made.fulltext = true;
  return made;
}

inline tables::Column with(tables::Column column, bool tables::Column::*flag) {
  column.*flag = true;
  return column;
}

inline std::vector<tables::Column> everyType() {
  using db::Type;
  std::vector<tables::Column> columns = {intColumn("id"),
                                         intColumn("tiny", 1),
                                         intColumn("big", 8),
                                         sampleColumn("ubig", Type::kUint, "bigint(20) unsigned"),
                                         sampleColumn("year", Type::kUint, "year(4)"),
                                         boolColumn("flag", true),
                                         sampleColumn("single", Type::kFloat, "float"),
                                         sampleColumn("real", Type::kDouble, "double"),
                                         decimalColumn("price"),
                                         textColumn("name", true),
                                         with(textColumn("exact"), &tables::Column::case_sensitive),
                                         sampleColumn("blob", Type::kBytes, "blob", true),
                                         sampleColumn("bits", Type::kBit, "bit(10)"),
                                         sampleColumn("day", Type::kDate, "date", true),
                                         sampleColumn("clock", Type::kTime, "time"),
                                         sampleColumn("at", Type::kDateTime, "datetime"),
                                         sampleColumn("stamp", Type::kTimestamp, "timestamp(3)"),
                                         enumColumn("state"),
                                         sampleColumn("flags", Type::kText, "set('a','b')"),
                                         jsonColumn("data"),
                                         sampleColumn("place", Type::kGeometry, "point"),
                                         textColumn("quo`te \"d")};
  columns[3].int_bytes = 8;
  columns[4].int_bytes = 2;
  columns[4].is_year = true;
  columns[12].bits = 10;
  columns[18].members = {"a", "b"};
  return columns;
}

inline std::shared_ptr<const tables::Catalog> sampleCatalog(bool is_mariadb = true) {
  auto catalog = std::make_shared<tables::Catalog>();
  catalog->database = "shop";
  catalog->time_zone = "+00:00";
  catalog->is_mariadb = is_mariadb;
  const auto add = [&catalog](tables::Table table) { catalog->tables.emplace(table.name, std::move(table)); };
  add(sampleTable("customers",
                  {intColumn("id"), textColumn("name"), textColumn("city", true), boolColumn("vip")},
                  {primaryKey({0})}));
  add(sampleTable(
      "orders",
      {intColumn("id", 8), intColumn("customer_id"), intColumn("payer_id", 4, true), enumColumn("status"),
       decimalColumn("total"), sampleColumn("placed_at", db::Type::kDateTime, "datetime"),
       textColumn("note", true), intColumn("tenant")},
      {primaryKey({0})},
      {{"orders_customer", {1}, "customers", {"id"}}, {"orders_payer", {2}, "customers", {"id"}}}));
  add(sampleTable(
      "order_lines",
      {intColumn("order_id", 8), intColumn("line", 2), intColumn("product_id"), decimalColumn("price")},
      {primaryKey({0, 1})},
      {{"line_order", {0}, "orders", {"id"}}, {"line_product", {2}, "products", {"id"}}}));
  add(sampleTable("line_notes", {intColumn("order_id", 8), intColumn("line", 2), textColumn("text")},
                  {primaryKey({0, 1})}, {{"note_line", {0, 1}, "order_lines", {"order_id", "line"}}}));
  add(sampleTable("products", {intColumn("id"), textColumn("name"), jsonColumn("tags"), intColumn("secret")},
                  {primaryKey({0})}));
  add(sampleTable("employees", {intColumn("id"), textColumn("name"), intColumn("boss_id", 4, true)},
                  {primaryKey({0})}, {{"employee_boss", {2}, "employees", {"id"}}}));
  add(sampleTable("articles", {intColumn("id"), textColumn("title"), textColumn("body")},
                  {primaryKey({0}), fullTextKey("title_body", {1, 2}), fullTextKey("body_alone", {2})}));
  add(sampleTable("every_type", everyType(), {primaryKey({0})}));
  add(sampleTable("keyless", {textColumn("a"), textColumn("b")}));
  return catalog;
}

inline std::shared_ptr<tables::RestConfig> sampleRoutes() {
  auto rest = std::make_shared<tables::RestConfig>();
  rest->regex = true;
  for (const char* const name : {"customers", "orders", "order_lines", "line_notes", "products", "employees",
                                 "articles", "every_type", "keyless"}) {
    rest->tables.emplace_back();
    rest->tables.back().name = name;
    rest->tables.back().methods = tables::kAllMethods;
  }
  rest->tables[1].where = "tenant=eq.7";
  rest->tables[1].columns = {"id", "customer_id", "payer_id", "status", "total", "placed_at", "note"};
  rest->tables[4].columns = {"id", "name", "tags"};
  return rest;
}

inline std::shared_ptr<const tables::Exposure> sampleExposure(bool is_mariadb = true) {
  std::vector<std::string> complaints;
  return tables::expose(sampleCatalog(is_mariadb), sampleRoutes(), complaints);
}

}  // namespace roost::test
