// Whole requests, from the query to the statements that answer it.
#include <catch2/catch.hpp>

#include "tables/read.h"
#include "unit/tables/plan_text.h"
#include "unit/tables/sample_schema.h"

namespace {

using namespace roost;          // NOLINT
using namespace roost::tables;  // NOLINT

struct Planned {
  ReadPlan plan;
  std::string rows;  // or the problem
  Problem problem;
};

Planned planOf(const std::string& request, const ReadOptions& options = {}) {
  static const auto exposure = test::sampleExposure();
  const size_t mark = std::min(request.find('?'), request.size());
  const ExposedTable* const table = exposure->find(request.substr(0, mark));
  const std::string text = mark < request.size() ? request.substr(mark + 1) : "";
  Planned out;
  Query query;
  if (parseQuery(text, exposure->config->limits, query, out.problem) &&
      planRead(*table, *exposure, query, options, out.plan, out.problem)) {
    out.rows = test::statementText(out.plan.rows);
  } else {
    out.rows = fmt::format("{} {}: {}", out.problem.status, out.problem.code, out.problem.detail);
  }
  return out;
}

struct Case {
  const char* request;
  const char* rows;
};

void check(std::initializer_list<Case> cases) {
  for (const Case& one : cases) {
    INFO(one.request);
    CHECK(planOf(one.request).rows == one.rows);
  }
}

std::string keysOf(const EmbedPlan& embed, int count) {
  std::vector<db::Value> keys;
  for (int i = 0; i < count; ++i) {
    for (size_t j = 0; j < embed.from.size(); ++j) keys.push_back(db::Value::ofInt(i + 1));
  }
  return test::statementText(embed.forKeys(keys));
}

TEST_CASE("what is selected") {
  check({{"customers", "SELECT `id`,`name`,`city`,`vip` FROM `customers` AS t LIMIT ? | 1000u"},
         {"customers?select=name,id", "SELECT `name`,`id` FROM `customers` AS t LIMIT ? | 1000u"},
         {"customers?select=id,*", "SELECT `id`,`name`,`city`,`vip` FROM `customers` AS t LIMIT ? | 1000u"},
         {"customers?select=id,id", "SELECT `id` FROM `customers` AS t LIMIT ? | 1000u"},
         {"customers?select=a:id,b:id", "SELECT `id`,`id` FROM `customers` AS t LIMIT ? | 1000u"},
         {"customers?select=id,id:name", "400 bad_query: select: two columns of the name \"id\""},
         {"customers?select=nothing", "400 unknown_column: select: customers has no column \"nothing\""},
         {"orders?select=tenant", "400 unknown_column: select: orders has no column \"tenant\""},
         {"every_type?select=data->a->>b",
          "SELECT JSON_UNQUOTE(NULLIF(JSON_EXTRACT(`data`,?),'null')) FROM "
          "`every_type` AS t LIMIT ? | '$.\"a\".\"b\"', 1000u"},
         {"every_type?select=data->a",
          "SELECT JSON_EXTRACT(`data`,?) FROM `every_type` AS t LIMIT ? | '$.\"a\"', 1000u"},
         {"every_type?select=name->a", "400 bad_path: select: name->a: name is no JSON"},
         {"customers?columns=id", "400 bad_query: columns: this is for what is written"}});
  const Planned some = planOf("every_type?select=who:name,data->a->>b,data->list->0,flag,data&limit=1");
  REQUIRE(some.plan.columns.size() == 5);
  CHECK(some.plan.columns[0].name == "who");
  CHECK(some.plan.columns[0].json_key == "\"who\":");
  CHECK(some.plan.columns[1].name == "b");
  CHECK(some.plan.columns[1].as_text);
  CHECK(some.plan.columns[2].name == "list");
  CHECK(some.plan.columns[2].is_json);
  CHECK(some.plan.columns[3].is_bool);
  CHECK(some.plan.columns[4].is_json);
  CHECK(planOf("every_type?select=%22quo%60te%20%5C%22d%22").plan.columns[0].json_key == "\"quo`te \\\"d\":");
}

TEST_CASE("casts that mean the same to both") {
  const auto cast = [](const std::string& item) {
    const std::string rows = planOf("every_type?id=eq.1&select=" + item).rows;
    const size_t end = rows.find(" FROM");
    return rows.substr(0, 7) == "SELECT " ? rows.substr(7, end - 7) : rows;
  };
  const Case cases[] = {
      {"id::text", "CAST(`id` AS CHAR)"},
      {"price::text", "CAST(`price` AS CHAR)"},
      {"at::varchar", "CAST(`at` AS CHAR)"},
      {"name::text", "`name`"},
      {"flag::text", "CASE WHEN `flag` <> 0 THEN 'true' WHEN `flag` = 0 THEN 'false' END"},
      {"flag::int", "CAST(`flag` AS SIGNED)"},
      {"price::integer", "CAST(`price` AS SIGNED)"},
      {"id::int8", "`id`"},
      {"price::float8", "`price`+0e0"},
      {"id::double precision", "`id`+0e0"},
      {"price::numeric", "`price`"},
      {"at::date", "CAST(`at` AS DATE)"},
      {"stamp::time", "CAST(`stamp` AS TIME(6))"},
      {"day::timestamp", "CAST(`day` AS DATETIME)"},
      {"id::bool", "`id` <> 0"},
      {"data::jsonb", "`data`"},
      {"data::text", "CAST(`data` AS CHAR)"},
      {"data->>a::text", "JSON_UNQUOTE(NULLIF(JSON_EXTRACT(`data`,?),'null'))"},
      {"name::int", "400 unsupported: select: name (varchar(80)) cannot be cast to int"},
      {"blob::text", "400 unsupported: select: blob (blob) cannot be cast to text"},
      {"data->>a::int", "400 unsupported: select: data->>a cannot be cast to int, only to text"},
      {"id::money", "400 unsupported: select: there is no cast to \"money\""},
  };
  for (const Case& one : cases) {
    INFO(one.request);
    CHECK(cast(one.request) == one.rows);
  }
}

TEST_CASE("order, limit and offset") {
  check({{"customers?order=nothing", "400 unknown_column: order: customers has no column \"nothing\""},
         {"customers?select=id&order=id", "SELECT `id` FROM `customers` AS t ORDER BY `id` LIMIT ? | 1000u"},
         {"customers?select=id&order=id.desc&limit=5&offset=10",
          "SELECT `id` FROM `customers` AS t ORDER BY `id` DESC LIMIT ? OFFSET ? | 5u, 10u"},
         {"customers?select=id,name&order=name.desc",
          "SELECT `id`,`name` FROM `customers` AS t ORDER BY `name` DESC,`id` DESC LIMIT ? | 1000u"},
         {"customers?select=id,city&order=city.nullsfirst",
          "SELECT `id`,`city` FROM `customers` AS t ORDER BY `city`,`id` LIMIT ? | 1000u"},
         {"customers?select=id,city&order=city.asc.nullslast",
          "SELECT `id`,`city` FROM `customers` AS t ORDER BY `city` IS NULL,`city`,`id` LIMIT ? | 1000u"},
         {"customers?select=id,city&order=city.desc.nullsfirst",
          "SELECT `id`,`city` FROM `customers` AS t ORDER BY `city` IS NULL DESC,`city` DESC,`id` DESC LIMIT "
          "? | 1000u"},
         {"customers?select=id,name&order=name.nullslast",
          "SELECT `id`,`name` FROM `customers` AS t ORDER BY `name`,`id` LIMIT ? | 1000u"},
         {"customers?select=id&limit=0", "SELECT `id` FROM `customers` AS t LIMIT ? | 0u"},
         {"customers?select=id&limit=5000", "SELECT `id` FROM `customers` AS t LIMIT ? | 1000u"},
         {"keyless?select=a&order=a", "SELECT `a` FROM `keyless` AS t ORDER BY `a` LIMIT ? | 1000u"},
         {"customers?id=eq.1&select=id", "SELECT `id` FROM `customers` AS t WHERE `id` = ? | 1"},
         {"customers?id=eq.1&select=id&offset=1",
          "SELECT `id` FROM `customers` AS t WHERE `id` = ? LIMIT ? OFFSET ? | 1, 1000u, 1u"},
         {"every_type?order=place", "400 unsupported: order: place has no order"},
         {"every_type?select=id&order=data->>a",
          "SELECT `id` FROM `every_type` AS t ORDER BY "
          "JSON_UNQUOTE(NULLIF(JSON_EXTRACT(`data`,?),'null')),`id` LIMIT ? "
          "| '$.\"a\"', 1000u"}});
  const Planned hidden = planOf("customers?select=vip&order=name");
  CHECK(hidden.rows == "SELECT `vip`,`name`,`id` FROM `customers` AS t ORDER BY `name`,`id` LIMIT ? | 1000u");
  CHECK(hidden.plan.order_columns == std::vector<uint16_t>{1, 2});
  CHECK(hidden.plan.columns[1].hidden);
  CHECK(hidden.plan.columns[2].hidden);
}

TEST_CASE("JSON is ordered by kind, and numbers by value") {
  const auto keys = [](const std::string& place, const std::string& way) {
    return place + " IS NULL" + (way.empty() ? " DESC" : "") + ",CASE JSON_TYPE(" + place +
           ") WHEN 'NULL' THEN 1 WHEN 'STRING' THEN 2 WHEN 'BOOLEAN' THEN 4 WHEN 'ARRAY' THEN 5 WHEN "
           "'OBJECT' THEN 6 "
           "ELSE 3 END" +
           way + ",CASE WHEN JSON_TYPE(" + place +
           ") IN ('INTEGER','DOUBLE','DECIMAL','UNSIGNED INTEGER') THEN " + place + "+0e0 END" + way +
           ",JSON_UNQUOTE(" + place + ")" + way;
  };
  const Planned whole = planOf("every_type?select=id&order=data.desc");
  CHECK(whole.plan.rows.text.view() ==
        "SELECT `id` FROM `every_type` AS t ORDER BY " + keys("`data`", " DESC") + ",`id` DESC LIMIT ?");
  CHECK(whole.plan.order_columns.empty());
  const Planned place = planOf("every_type?select=id&order=data->a");
  CHECK(place.plan.rows.text.view() == "SELECT `id` FROM `every_type` AS t ORDER BY " +
                                           keys("JSON_EXTRACT(`data`,?)", "") + ",`id` LIMIT ?");
  CHECK(place.plan.rows.values.size() == 6);
}

TEST_CASE("one row by its key") {
  for (const char* const request :
       {"customers?id=eq.1", "customers?id=eq.1&limit=1", "customers?name=eq.x&id=eq.1",
        "order_lines?order_id=eq.1&line=eq.2", "customers?id=eq.1&id=eq.2"}) {
    INFO(request);
    CHECK(planOf(request).plan.one_by_key);
  }
  for (const char* const request :
       {"customers?name=eq.1", "customers?id=gt.1", "customers?id=not.eq.1", "customers?id=eq(any).{1}",
        "customers?id=in.(1)", "customers?or=(id.eq.1)", "customers?id=eq.1&offset=1",
        "customers?id=eq.1&limit=0", "order_lines?order_id=eq.1", "order_lines?line=eq.1&price=eq.1",
        "keyless?a=eq.1"}) {
    INFO(request);
    const Planned planned = planOf(request);
    CHECK_FALSE(planned.plan.one_by_key);
    CHECK(planned.rows.find(" LIMIT ?") != std::string::npos);
  }
}

TEST_CASE("Range, single objects and counts") {
  ReadOptions options;
  options.range = RowRange{10, 19};
  CHECK(planOf("customers?select=id", options).rows ==
        "SELECT `id` FROM `customers` AS t LIMIT ? OFFSET ? | 10u, 10u");
  CHECK(planOf("customers?select=id&limit=5&offset=12", options).rows ==
        "SELECT `id` FROM `customers` AS t LIMIT ? OFFSET ? | 5u, 12u");
  CHECK(planOf("customers?select=id&limit=5", options).rows.compare(0, 3, "416") == 0);
  options.range = RowRange{10, std::nullopt};
  CHECK(planOf("customers?select=id", options).rows ==
        "SELECT `id` FROM `customers` AS t LIMIT ? OFFSET ? | 1000u, 10u");
  options.range = RowRange{0, UINT64_MAX};
  CHECK(planOf("customers?select=id", options).rows == "SELECT `id` FROM `customers` AS t LIMIT ? | 1000u");
  options = ReadOptions{};
  options.single = true;
  CHECK(planOf("customers?select=id", options).rows == "SELECT `id` FROM `customers` AS t LIMIT ? | 2u");
  options = ReadOptions{};
  options.preferences.count = Preferences::Count::kEstimated;
  const Planned counted = planOf("customers?select=id&vip=is.true&limit=1&order=name", options);
  REQUIRE(counted.plan.count);
  REQUIRE(counted.plan.explain);
  CHECK(test::statementText(*counted.plan.count) == "SELECT COUNT(*) FROM `customers` AS t WHERE `vip` <> 0");
  CHECK(test::statementText(*counted.plan.explain) ==
        "EXPLAIN FORMAT=TRADITIONAL SELECT 1 FROM `customers` AS t WHERE `vip` <> 0");
  options.preferences.count = Preferences::Count::kExact;
  CHECK(test::statementText(*planOf("customers?distinct&select=city,vip", options).plan.count) ==
        "SELECT COUNT(*) FROM (SELECT DISTINCT `city` AS c0,`vip` AS c1 FROM `customers` AS t) AS r");
}

TEST_CASE("distinct") {
  check({{"customers?distinct&select=city", "SELECT DISTINCT `city` FROM `customers` AS t LIMIT ? | 1000u"},
         {"customers?distinct=true&select=city&order=city.desc",
          "SELECT DISTINCT `city` FROM `customers` AS t ORDER BY `city` DESC LIMIT ? | 1000u"},
         {"customers?distinct=false&select=city", "SELECT `city` FROM `customers` AS t LIMIT ? | 1000u"},
         {"customers?distinct&select=city&order=name",
          "400 unsupported: distinct: the columns that rows are ordered or joined by have to be selected, "
          "too"}});
}

TEST_CASE("keyset paging") {
  check({{"customers?select=id&order=id&after=17",
          "SELECT `id` FROM `customers` AS t WHERE (`id` > ?) ORDER BY `id` LIMIT ? | 17, 1000u"},
         {"customers?select=id&order=id.desc&after=17&limit=3",
          "SELECT `id` FROM `customers` AS t WHERE (`id` < ?) ORDER BY `id` DESC LIMIT ? | 17, 3u"},
         {"customers?select=id,name&order=name&after=\"a,b\",17",
          "SELECT `id`,`name` FROM `customers` AS t WHERE (`name` >= ? AND (`name` > ? OR (`id` > ?))) ORDER "
          "BY "
          "`name`,`id` LIMIT ? | 'a,b', 'a,b', 17, 1000u"},
         {"customers?select=id,city&order=city,id&after=null,17",
          "SELECT `id`,`city` FROM `customers` AS t WHERE (`city` IS NOT NULL OR (`id` > ?)) ORDER BY "
          "`city`,`id` LIMIT "
          "? | 17, 1000u"},
         {"customers?select=id,city&order=city.desc,id&after=null,17",
          "SELECT `id`,`city` FROM `customers` AS t WHERE (`city` IS NULL AND (`id` > ?)) ORDER BY `city` "
          "DESC,`id` "
          "LIMIT ? | 17, 1000u"},
         {"customers?select=id,city&order=city.desc,id&after=Bonn,17",
          "SELECT `id`,`city` FROM `customers` AS t WHERE (`city` IS NULL OR (`city` <= ? AND (`city` < ? OR "
          "(`id` > "
          "?)))) ORDER BY `city` DESC,`id` LIMIT ? | 'Bonn', 'Bonn', 17, 1000u"},
         {"customers?select=id,name&order=name,id&after=null,1",
          "SELECT `id`,`name` FROM `customers` AS t WHERE (`name` >= ? AND (`name` > ? OR (`id` > ?))) ORDER "
          "BY "
          "`name`,`id` LIMIT ? | 'null', 'null', 1, 1000u"},
         {"every_type?select=id&order=state&after=paid,1",
          "SELECT `id`,`state` FROM `every_type` AS t WHERE (`state` >= ? AND (`state` > ? OR (`id` > ?))) "
          "ORDER BY "
          "`state`,`id` LIMIT ? | 2u, 2u, 1, 1000u"},
         {"order_lines?select=line&order=order_id&after=1,2",
          "SELECT `line`,`order_id` FROM `order_lines` AS t WHERE (`order_id` >= ? AND (`order_id` > ? OR "
          "(`line` > "
          "?))) ORDER BY `order_id`,`line` LIMIT ? | 1, 1, 2, 1000u"},
         {"customers?order=name&after=x", "400 bad_value: after: 1 values for an order by 2 (name, id)"},
         {"customers?order=id&after=x", "400 bad_value: after: id: \"x\" is no integer"},
         {"customers?after=x", "400 bad_query: after: there is no order to go on in"},
         {"keyless?order=a&after=x",
          "400 bad_query: after: the order does not tell every row from every other"},
         {"every_type?order=data->>a&after=x,1",
          "400 unsupported: after: the order is not one of plain columns"}});
}

TEST_CASE("embedding one row") {
  const Planned one = planOf("orders?select=id,customers!customer_id(name)&customers.city=eq.Bonn&limit=3");
  CHECK(one.rows == "SELECT `id`,`customer_id` FROM `orders` AS t WHERE `tenant` = ? LIMIT ? | 7, 3u");
  REQUIRE(one.plan.embeds.size() == 1);
  const EmbedPlan& embed = one.plan.embeds[0];
  CHECK(embed.json_key == "\"customers\":");
  CHECK_FALSE(embed.many);
  CHECK(embed.from == std::vector<uint16_t>{1});
  CHECK(one.plan.columns[1].hidden);
  CHECK(embed.columns[0].hidden);
  CHECK(keysOf(embed, 3) ==
        "SELECT `id`,`name` FROM `customers` WHERE `id` IN (?,?,?,?) AND `city` = ? LIMIT ? | 1, 2, 3, 3, "
        "'Bonn', 10001u");
  const Planned inner = planOf("orders?select=payer:customers!orders_payer!inner(*)&payer.vip=is.true");
  CHECK(inner.rows ==
        "SELECT `payer_id` FROM `orders` AS t WHERE `tenant` = ? AND EXISTS (SELECT 1 FROM `customers` "
        "AS e WHERE e.`id` = t.`payer_id` AND e.`vip` <> 0) LIMIT ? | 7, 1000u");
  CHECK(inner.plan.embeds[0].json_key == "\"payer\":");
  CHECK(inner.plan.embeds[0].inner);
  check({{"orders?select=id,customers!payer_id(name)&order=customers(name).desc",
          "SELECT `id`,`payer_id` FROM `orders` AS t WHERE `tenant` = ? ORDER BY (SELECT e.`name` FROM "
          "`customers` AS e "
          "WHERE e.`id` = t.`payer_id`) DESC,`id` DESC LIMIT ? | 7, 1000u"},
         {"orders?select=id,customers!payer_id()&customers=is.null",
          "SELECT `id` FROM `orders` AS t WHERE NOT EXISTS (SELECT 1 FROM `customers` AS e WHERE e.`id` = "
          "t.`payer_id`) "
          "AND `tenant` = ? LIMIT ? | 7, 1000u"},
         {"orders?select=id,customers!payer_id()&or=(customers.not.is.null,id.eq.1)",
          "SELECT `id` FROM `orders` AS t WHERE (NOT (NOT EXISTS (SELECT 1 FROM `customers` AS e WHERE "
          "e.`id` = "
          "t.`payer_id`)) OR `id` = ?) AND `tenant` = ? LIMIT ? | 1, 7, 1000u"},
         {"orders?select=id,payer_id(name)",
          "SELECT `id`,`payer_id` FROM `orders` AS t WHERE `tenant` = ? LIMIT ? | 7, 1000u"}});
}

TEST_CASE("embedding many rows") {
  const Planned many = planOf(
      "customers?select=name,orders!orders_customer(id,total)&orders.status=eq.paid&orders."
      "order=total.desc");
  CHECK(many.rows == "SELECT `name`,`id` FROM `customers` AS t LIMIT ? | 1000u");
  REQUIRE(many.plan.embeds.size() == 1);
  CHECK(many.plan.embeds[0].many);
  CHECK(keysOf(many.plan.embeds[0], 1) ==
        "SELECT `customer_id`,`id`,`total` FROM `orders` WHERE `customer_id` IN (?) AND `status` = ? AND "
        "`tenant` = ? "
        "ORDER BY `total` DESC LIMIT ? | 1, 'paid', 7, 10001u");
  const Planned some =
      planOf("orders?select=id,lines:order_lines(line)&lines.limit=2&lines.offset=1&lines.order=line");
  CHECK(keysOf(some.plan.embeds[0], 2) ==
        "SELECT c0,c1 FROM (SELECT `order_id` AS c0,`line` AS c1,ROW_NUMBER() OVER (PARTITION BY `order_id` "
        "ORDER BY "
        "`line`) AS n FROM `order_lines` WHERE `order_id` IN (?,?)) AS r WHERE n > ? AND n <= ? ORDER BY n "
        "LIMIT ? | 1, "
        "2, 1u, 3u, 10001u");
  const Planned composite = planOf("order_lines?select=price,line_notes(text)");
  CHECK(composite.rows == "SELECT `price`,`order_id`,`line` FROM `order_lines` AS t LIMIT ? | 1000u");
  CHECK_FALSE(composite.plan.embeds[0].many);  // the key is unique there
  CHECK(keysOf(composite.plan.embeds[0], 2) ==
        "SELECT `order_id`,`line`,`text` FROM `line_notes` WHERE "
        "(`order_id`,`line`) IN ((?,?),(?,?)) LIMIT ? | 1, 1, 2, 2, 10001u");
}

TEST_CASE("which foreign key is meant") {
  check({{"orders?select=customers(name)",
          "400 ambiguous_relationship: select: more than one foreign key joins orders and \"customers\""},
         {"employees?select=employees(name)",
          "400 ambiguous_relationship: select: more than one foreign key joins employees and \"employees\""},
         {"employees?select=boss:employees!boss_id(name)",
          "SELECT `boss_id` FROM `employees` AS t LIMIT ? | 1000u"},
         {"employees?select=team:employees!id(name)", "SELECT `id` FROM `employees` AS t LIMIT ? | 1000u"},
         {"orders?select=products(name)",
          "400 no_relationship: select: no foreign key joins orders and \"products\""},
         {"orders?select=customers!nothing(name)",
          "400 no_relationship: select: no foreign key joins orders and \"customers\" as the hint says"},
         {"orders?select=nothing(name)",
          "400 no_relationship: select: no foreign key joins orders and \"nothing\""},
         {"orders?select=payer_id(nothing)",
          "400 unknown_column: payer_id: select: customers has no column \"nothing\""},
         {"customers?select=name:orders!orders_payer(id),name",
          "400 bad_query: select: two things of the name \"name\""},
         {"customers?select=orders!orders_payer(id)&order=orders(id)",
          "400 bad_query: order: there may be many orders for each row"},
         {"customers?order=orders(id)",
          "400 unknown_embedding: order: \"orders\" is not embedded by this request's select"},
         {"orders?select=payer_id(name)&payer_id.limit=0",
          "400 unsupported: payer_id: limit and offset of what is one row"}});
  CHECK(planOf("orders?select=customers(name)").problem.hint ==
        "one of: customers!customer_id, customers!payer_id");
  CHECK(planOf("employees?select=employees(name)").problem.hint == "one of: employees!boss_id, employees!id");
}

}  // namespace
