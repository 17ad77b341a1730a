// Filters, from the query as it stands in a URL to a WHERE clause and its values.
#include <catch2/catch.hpp>

#include "tables/read.h"
#include "unit/tables/plan_text.h"
#include "unit/tables/sample_schema.h"

namespace {

using namespace roost;          // NOLINT
using namespace roost::tables;  // NOLINT

struct Case {
  const char* query;
  const char* text;  // what stands behind " WHERE ", and the values; or "400 code: detail"
};

std::string whereOf(const Exposure& exposure, const char* table, std::string_view text) {
  Query query;
  Problem problem;
  db::Statement out;
  const bool good = parseQuery(text, exposure.config->limits, query, problem) &&
                    appendWhere(*exposure.find(table), exposure, query, out, problem);
  if (!good) return fmt::format("{} {}: {}", problem.status, problem.code, problem.detail);
  const std::string written = test::statementText(out);
  return written.empty() ? written : written.substr(std::string_view(" WHERE ").size());
}

void check(const char* table, std::initializer_list<Case> cases, bool is_mariadb = true) {
  const auto exposure = test::sampleExposure(is_mariadb);
  for (const Case& one : cases) {
    INFO(one.query);
    CHECK(whereOf(*exposure, table, one.query) == one.text);
  }
}

TEST_CASE("comparisons leave the column as it is") {
  check("every_type", {{"", ""},
                       {"id=eq.5", "`id` = ? | 5"},
                       {"id=neq.5", "`id` <> ? | 5"},
                       {"id=gt.5", "`id` > ? | 5"},
                       {"id=gte.5", "`id` >= ? | 5"},
                       {"id=lt.5", "`id` < ? | 5"},
                       {"id=lte.-5", "`id` <= ? | -5"},
                       {"id=isdistinct.5", "NOT (`id` <=> ?) | 5"},
                       {"id=not.eq.5", "NOT (`id` = ?) | 5"},
                       {"id=gt.1&id=lt.9", "`id` > ? AND `id` < ? | 1, 9"},
                       {"ubig=eq.18446744073709551615", "`ubig` = ? | 18446744073709551615u"},
                       {"big=eq.-9223372036854775808", "`big` = ? | -9223372036854775808"},
                       {"year=eq.2026", "`year` = ? | 2026u"},
                       {"real=gt.1e3", "`real` > ? | 1000d"},
                       {"price=eq.1.50", "`price` = CAST(? AS DECIMAL(65,30)) | '1.50'"},
                       {"name=eq.a.b,c", "`name` = ? | 'a.b,c'"},
                       {"name=eq.", "`name` = ? | ''"},
                       {"name=eq.%22x%22", "`name` = ? | '\"x\"'"},
                       {"name=eq.a+b%2Bc", "`name` = ? | 'a b+c'"},
                       {"flag=eq.true", "`flag` = ? | 1"},
                       {"bits=eq.1023", "`bits` = ? | 1023u"},
                       {"blob=eq.AQI%3D", "`blob` = ? | bytes:2"},
                       {"day=gte.2026-11-20", "`day` >= ? | '2026-11-20'"},
                       {"at=lt.2026-11-20T22:13:05Z", "`at` < ? | '2026-11-20 22:13:05'"},
                       {"at=lt.2026-11-20T22:13:05.5%2B02:00", "`at` < ? | '2026-11-20 20:13:05.5'"},
                       {"at=lt.2026-11-20T22:13:05+02:00", "`at` < ? | '2026-11-20 20:13:05'"},
                       {"clock=eq.-12:30", "`clock` = ? | '-12:30:00'"},
                       {"state=eq.paid", "`state` = ? | 'paid'"},
                       {"state=gt.open", "`state` > ? | 1u"},
                       {"flags=eq.a,b", "`flags` = ? | 'a,b'"},
                       {"%22quo%60te%20%5C%22d%22=eq.x", "`quo``te \"d` = ? | 'x'"}});
}

TEST_CASE("lists are padded to powers of two") {
  check(
      "every_type",
      {{"id=in.(1)", "`id` IN (?) | 1"},
       {"id=in.(1,2,3)", "`id` IN (?,?,?,?) | 1, 2, 3, 3"},
       {"id=not.in.(1,2)", "NOT (`id` IN (?,?)) | 1, 2"},
       {"id=in.()", "FALSE"},
       {"name=in.(\"\")", "`name` IN (?) | ''"},
       {"name=in.(\"a,b\",c d,\"q\\\"\",x\"y)", "`name` IN (?,?,?,?) | 'a,b', 'c d', 'q\"', 'x\"y'"},
       {"price=in.(1,2.5)", "`price` IN (CAST(? AS DECIMAL(65,30)),CAST(? AS DECIMAL(65,30))) | '1', '2.5'"},
       {"id=eq(any).{1,2,3}", "`id` IN (?,?,?,?) | 1, 2, 3, 3"},
       {"id=eq(any).{}", "FALSE"},
       {"id=gt(all).{}", "TRUE"},
       {"id=gt(any).{1,2}", "(`id` > ? OR `id` > ?) | 1, 2"},
       {"id=lt(all).{1,2,3}", "(`id` < ? AND `id` < ? AND `id` < ? AND `id` < ?) | 1, 2, 3, 3"},
       {"exact=like(any).{a*,\"b,c*\"}", "(`exact` LIKE ? OR `exact` LIKE ?) | 'a%', 'b,c%'"},
       {"exact=not.like(all).{a*,%22NULL%22}", "NOT ((`exact` LIKE ? AND `exact` LIKE ?)) | 'a%', 'NULL'"}});
}

TEST_CASE("patterns heed case as PostgreSQL's do") {
  check("every_type",
        {{"exact=like.a*b%25", "`exact` LIKE ? | 'a%b%'"},
         {"name=like.a*",
          "(`name` LIKE ? AND `name` LIKE CONVERT(? USING utf8mb4) COLLATE utf8mb4_bin) | 'a%', 'a%'"},
         {"name=ilike.*a_", "`name` LIKE ? | '%a_'"},
         {"exact=ilike.a*", "LOWER(`exact`) LIKE LOWER(?) | 'a%'"},
         {"name=match.^a(b|c)", "`name` REGEXP ? | '(?-i)^a(b|c)'"},
         {"name=imatch.x", "`name` REGEXP ? | '(?i)x'"},
         {"id=like.1*", "400 bad_operator: id: this operator is for text, not for int(11)"},
         {"at=match.1", "400 bad_operator: at: this operator is for text, not for datetime"}});
}

TEST_CASE("is") {
  check("every_type",
        {{"name=is.null", "`name` IS NULL"},
         {"name=is.NULL", "`name` IS NULL"},
         {"name=not.is.null", "NOT (`name` IS NULL)"},
         {"name=is.not_null", "`name` IS NOT NULL"},
         {"place=is.null", "`place` IS NULL"},
         {"flag=is.true", "`flag` <> 0"},
         {"flag=is.FALSE", "`flag` = 0"},
         {"flag=is.unknown", "`flag` IS NULL"},
         {"flag=not.is.true", "NOT (`flag` IS TRUE)"},
         {"not.or=(flag.is.false,id.eq.1)", "NOT (`flag` IS FALSE OR `id` = ?) | 1"},
         {"id=is.true", "400 bad_operator: id: is.true is for booleans"},
         {"name=is.x",
          "400 bad_value: name, character 4: \"x\" behind is: null, not_null, true, false or unknown"}});
}

TEST_CASE("nested logic") {
  check("every_type",
        {{"or=(id.eq.1,name.is.null)", "(`id` = ? OR `name` IS NULL) | 1"},
         {"and=(id.gt.1,or(id.lt.9,name.eq.x))", "(`id` > ? AND (`id` < ? OR `name` = ?)) | 1, 9, 'x'"},
         {"not.and=(id.gt.1,not.or(id.lt.9,id.eq.4))",
          "NOT (`id` > ? AND NOT (`id` < ? OR `id` = ?)) | 1, 9, 4"},
         {"or=(id.not.eq.1,id.in.(2,3))", "(NOT (`id` = ?) OR `id` IN (?,?)) | 1, 2, 3"},
         {"or=(name.eq.\"a,b)\",name.eq.c d)", "(`name` = ? OR `name` = ?) | 'a,b)', 'c d'"},
         {"or=(exact.like(any).{a,b},id.eq.1)",
          "((`exact` LIKE ? OR `exact` LIKE ?) OR `id` = ?) | 'a', 'b', 1"},
         {"or=(name.eq.{a,b},id.eq.1)", "(`name` = ? OR `id` = ?) | '{a,b}', 1"},
         {"or=( id.eq.1 , id.eq.2 )", "400 bad_value: id: \"1 \" is no integer"},
         {"or=(id.eq.1)&and=(id.eq.2)", "(`id` = ?) AND (`id` = ?) | 1, 2"},
         {"or=(data->>a.eq.x,id.eq.1)",
          "(JSON_UNQUOTE(NULLIF(JSON_EXTRACT(`data`,?),'null')) = ? OR `id` = ?) | '$.\"a\"', 'x', 1"},
         {"or=(\"and\".eq.1)", "400 unknown_column: every_type has no column \"and\""},
         {"or=()", "400 bad_query: or, character 2: a name is expected, not \")\""},
         {"or=(id.eq.1", "400 bad_query: or, character 9: ',' or ')' is expected, not the end"},
         {"or=(id.eq.1))", "400 bad_query: or, character 10: the end is expected, not \")\""},
         {"or=(id.xx.1)",
          "400 bad_operator: or, character 5: \"xx\" is no operator: eq, neq, gt, gte, lt, lte, like, "
          "ilike, match, imatch, in, is, isdistinct, fts, plfts, phfts or wfts, behind \"not.\" "
          "where negated"},
         {"or=(id)", "400 bad_query: or, character 4: '.' and an operator is expected, not \")\""}});
}

TEST_CASE("places in JSON") {
  check(
      "every_type",
      {{"data->>a=eq.x", "JSON_UNQUOTE(NULLIF(JSON_EXTRACT(`data`,?),'null')) = ? | '$.\"a\"', 'x'"},
       {"data->a->0->>b=like.x*",
        "(JSON_UNQUOTE(NULLIF(JSON_EXTRACT(`data`,?),'null')) LIKE ? AND "
        "JSON_UNQUOTE(NULLIF(JSON_EXTRACT(`data`,?),'null')) LIKE CONVERT(? USING utf8mb4) COLLATE "
        "utf8mb4_bin) | "
        "'$.\"a\"[0].\"b\"', 'x%', '$.\"a\"[0].\"b\"', 'x%'"},
       {"data->-1=is.null", "JSON_EXTRACT(`data`,CONCAT(?,LEFT(`data`,0))) IS NULL | '$[last]'"},
       {"data->a->-3=is.null", "JSON_EXTRACT(`data`,CONCAT(?,LEFT(`data`,0))) IS NULL | '$.\"a\"[last-2]'"},
       {"data->>%22a%5C%22b%5C%5C%22=eq.x",
        "JSON_UNQUOTE(NULLIF(JSON_EXTRACT(`data`,?),'null')) = ? | '$.\"a\\\"b\\\\\"', 'x'"},
       {"data->>%220%22=eq.x", "JSON_UNQUOTE(NULLIF(JSON_EXTRACT(`data`,?),'null')) = ? | '$.\"0\"', 'x'"},
       {"data->a=gt.20",
        "(JSON_TYPE(JSON_EXTRACT(`data`,?)) IN ('INTEGER','DOUBLE','DECIMAL','UNSIGNED INTEGER') AND "
        "JSON_EXTRACT(`data`,?) > ?) | '$.\"a\"', '$.\"a\"', 20u"},
       {"data->a=neq.true",
        "NOT (JSON_TYPE(JSON_EXTRACT(`data`,?)) = 'BOOLEAN' AND JSON_UNQUOTE(JSON_EXTRACT(`data`,?)) = ?) | "
        "'$.\"a\"', '$.\"a\"', 'true'"},
       {"data->a=eq.\"x\"",
        "(JSON_TYPE(JSON_EXTRACT(`data`,?)) = 'STRING' AND JSON_UNQUOTE(JSON_EXTRACT(`data`,?)) = ?) | "
        "'$.\"a\"', '$.\"a\"', 'x'"},
       {"data->a=eq.null", "(JSON_TYPE(JSON_EXTRACT(`data`,?)) = 'NULL') | '$.\"a\"'"},
       {"data->a=eq.[1]",
        "(JSON_TYPE(JSON_EXTRACT(`data`,?)) IN ('ARRAY','OBJECT') AND JSON_EQUALS(JSON_EXTRACT(`data`,?),?)) "
        "| "
        "'$.\"a\"', '$.\"a\"', '[1]'"},
       {"data->a=is.null", "JSON_EXTRACT(`data`,?) IS NULL | '$.\"a\"'"},
       {"data=is.null", "`data` IS NULL"},
       {"data=eq.1", "400 bad_operator: data: a JSON document is compared by its places"},
       {"data->a=eq.x", "400 bad_value: data->a: \"x\" is no JSON"},
       {"data->a=gt.true",
        "400 bad_operator: data->a: only numbers and text in JSON are more or less than others"},
       {"data->a=like.x", "400 bad_operator: data->a: this operator is for text"},
       {"name->a=eq.1", "400 bad_path: name->a: name is no JSON"},
       {"data->>a->b=eq.1",
        "400 bad_query: data->>a->b, character 9: an arrow behind \"->>\", which makes text"}});
  check("every_type",
        {{"data->>a=eq.x",
          "JSON_UNQUOTE(NULLIF(JSON_EXTRACT(`data`,?),CAST('null' AS JSON))) = ? | '$.\"a\"', 'x'"},
         {"data->%22a%0ab%01%22=is.null", "JSON_EXTRACT(`data`,?) IS NULL | '$.\"a\\nb\\u0001\"'"},
         {"data->-1=is.null", "JSON_EXTRACT(`data`,?) IS NULL | '$[last]'"},
         {"data->a=eq.[1]", "(JSON_EXTRACT(`data`,?) = CAST(? AS JSON)) | '$.\"a\"', '[1]'"}},
        false);
}

TEST_CASE("full text becomes boolean mode") {
  const auto exposure = test::sampleExposure();
  const auto search = [&exposure](const std::string& query) {
    const std::string text = whereOf(*exposure, "articles", query);
    const std::string before = "MATCH(`body`) AGAINST(? IN BOOLEAN MODE) | ";
    return text.compare(0, before.size(), before) == 0 ? text.substr(before.size()) : text;
  };
  const Case cases[] = {
      {"fts.cat", "'+cat'"},
      {"fts.cat %26 dog", "'+cat +dog'"},
      {"fts.cat | dog", "'+(cat dog)'"},
      {"fts.cat %26 !dog", "'+cat -dog'"},
      {"fts.(cat | dog) %26 mouse:*", "'+(cat dog) +mouse*'"},
      {"fts.(cat %26 dog) | mouse", "'+((+cat +dog) mouse)'"},
      {"fts.'fat cat' %26 rat", "'+\"fat cat\" +rat'"},
      {"fts.fat <-> cat", "'+\"fat cat\"'"},
      {"fts.it-s", "'+\"it s\"'"},
      {"fts.!cat", "400 bad_value: body: a search for what is not there is a negated filter: not.fts"},
      {"fts.cat | !dog", "400 bad_value: body: \"a | !b\" has no counterpart in MySQL"},
      {"fts.cat dog", "400 bad_value: body: '&' or '|' is expected between words"},
      {"fts.cat:A", "400 bad_value: body: weights of words have no counterpart in MySQL"},
      {"fts.(cat", "400 bad_value: body: ')' is expected in a search"},
      {"fts.", "400 bad_value: body: a word is expected in a search"},
      {"fts(english).cat",
       "400 unsupported: body, character 4: a full-text search takes no language, the index has its own "
       "rules"},
      {"plfts.The %2Bfat -cat*", "'+The +fat +cat'"},
      {"plfts.", "''"},
      {"phfts.the fat cat", "'+\"the fat cat\"'"},
      {"phfts.cat", "'+cat'"},
      {"wfts.\"fat cat\" rat -dog or mouse", "'+\"fat cat\" +rat -dog +or +mouse'"},
      {"wfts.cat or dog mouse", "'+(cat dog) +mouse'"},
      {"wfts.cat or -dog", "'+cat -dog'"},
      {"wfts.-\"big dog\" cat", "'-\"big dog\" +cat'"},
      {"not.fts.cat", "NOT (MATCH(`body`) AGAINST(? IN BOOLEAN MODE)) | '+cat'"},
  };
  for (const Case& one : cases) {
    INFO(one.query);
    CHECK(search(std::string("body=") + one.query) == one.text);
  }
  CHECK(search("title_body=plfts.cat") == "MATCH(`title`,`body`) AGAINST(? IN BOOLEAN MODE) | '+cat'");
  CHECK(search("title=fts.cat") ==
        "400 no_fulltext_key: title: there is no full-text index of this column alone");
  CHECK(search("id=fts.cat") == "400 no_fulltext_key: id: there is no full-text index of this column alone");
  CHECK(search("nothing=fts.cat") == "400 unknown_column: articles has no column \"nothing\"");
  std::string words = "body=fts.a";
  for (int i = 1; i < 64; ++i) words += "%26a";
  CHECK(search(words).compare(0, 7, "'+a +a ") == 0);
  CHECK(search(words + "%26a") == "400 bad_value: body: a search of too many parts");
  CHECK(search("body=fts." + std::string(500, '!')) == "400 bad_value: body: a search of too many parts");
  CHECK(search("body=fts." + std::string(500, '(')) == "400 bad_value: body: a search of too many parts");
}

TEST_CASE("values have the column's type, or are refused") {
  check("every_type",
        {{"id=eq.x", "400 bad_value: id: \"x\" is no integer"},
         {"id=eq.", "400 bad_value: id: \"\" is no integer"},
         {"id=eq.1.5", "400 bad_value: id: \"1.5\" is no integer"},
         {"id=eq.2147483648", "400 value_out_of_range: id: \"2147483648\" is out of the range of int(11)"},
         {"tiny=eq.128", "400 value_out_of_range: tiny: \"128\" is out of the range of int(11)"},
         {"tiny=eq.-128", "`tiny` = ? | -128"},
         {"ubig=eq.-1", "400 value_out_of_range: ubig: \"-1\" is out of the range of bigint(20) unsigned"},
         {"year=eq.1900", "400 value_out_of_range: year: \"1900\" is out of the range of year(4)"},
         {"bits=eq.1024", "400 value_out_of_range: bits: \"1024\" is out of the range of bit(10)"},
         {"flag=eq.maybe", "400 bad_value: flag: \"maybe\" is no boolean"},
         {"price=gt.-1.5e-10", "`price` > CAST(? AS DECIMAL(65,30)) | '-1.5e-10'"},
         {"price=eq.1e100", "400 bad_value: price: \"1e100\" is no number"},
         {"price=eq.NaN", "400 bad_value: price: \"NaN\" is no number"},
         {"real=eq.inf", "400 bad_value: real: \"inf\" is no number"},
         {"real=eq.1e999", "400 value_out_of_range: real: \"1e999\" is out of the range of double"},
         {"blob=eq.x", "400 bad_value: blob: \"x\" is no base64"},
         {"day=eq.2026-02-30", "400 bad_value: day: \"2026-02-30\" is no date (2026-11-20)"},
         {"clock=eq.25", "400 bad_value: clock: \"25\" is no time (12:30:00)"},
         {"at=eq.now", "400 bad_value: at: \"now\" is no moment of RFC 3339 (2026-11-20T22:13:05+00:00)"},
         {"state=eq.gone",
          "400 bad_value: state: \"gone\" is none of the values of enum('open','paid','hidden')"},
         {"flags=eq.a,c", "400 bad_value: flags: \"c\" is none of the values of set('a','b')"},
         {"flags=gt.a", "400 bad_operator: flags: a SET has no order"},
         {"place=eq.x", "400 unsupported: place: a geometry can only be compared with null"},
         {"nothing=eq.1", "400 unknown_column: every_type has no column \"nothing\""}});
}

TEST_CASE("queries that cannot be read say where") {
  check("every_type",
        {{"id=5",
          "400 bad_operator: id, character 1: \"5\" is no operator: eq, neq, gt, gte, lt, lte, like, ilike, "
          "match, imatch, in, is, isdistinct, fts, plfts, phfts or wfts, behind \"not.\" where negated"},
         {"id=eq", "400 bad_query: id, character 3: '.' and a value is expected, not the end"},
         {"id=in.1", "400 bad_query: id, character 4: '(' before the list is expected, not \"1\""},
         {"id=in.(1", "400 bad_query: id, character 6: ',' or ')' is expected, not the end"},
         {"id=in.(1)x", "400 bad_query: id, character 7: the end is expected, not \"x\""},
         {"id=in(any).{1}", "400 bad_operator: id, character 3: \"in\" cannot stand with \"any\""},
         {"id=eq(some).{1}", "400 bad_operator: id, character 3: \"eq\" cannot stand with \"some\""},
         {"id=eq(any).1", "400 bad_query: id, character 9: '{' before the list is expected, not \"1\""},
         {"id=eq(any).{1,NULL}", "400 unsupported: id, character 12: NULL among the values of a list"},
         {"data=cs.{1}", "400 unsupported: data, character 1: the operator \"cs\" means nothing to MySQL"},
         {"a.id=eq.1", "400 unknown_embedding: a.id: \"a\" is not embedded by this request's select"},
         {"=eq.1", "400 bad_query: , character 1: a name is expected, not the end"},
         {"id;drop=eq.1", "400 bad_query: id;drop, character 3: '=' and a filter is expected, not \";\""},
         {"id=eq.%zz", "400 bad_encoding: in the query, '%' without two hexadecimal digits behind it"},
         {"id=eq.%", "400 bad_encoding: in the query, '%' without two hexadecimal digits behind it"},
         {"name=eq.%ff", "400 bad_encoding: the query is no UTF-8"},
         {"limit=x", "400 bad_value: limit: \"x\" is no number of rows"},
         {"limit=-1", "400 bad_value: limit: \"-1\" is no number of rows"},
         {"limit=1&limit=2", "400 bad_query: limit stands there twice"},
         {"order=id.up",
          "400 bad_query: order, character 4: \"up\" in an order: asc or desc, then nullsfirst or "
          "nullslast"},
         {"order=id.nullsfirst.desc",
          "400 bad_query: order, character 15: \"desc\" in an order: asc or desc, then "
          "nullsfirst or nullslast"},
         {"select=id,", "400 bad_query: select, character 4: a name is expected, not the end"},
         {"select=id.sum()",
          "400 unsupported: select, character 3: functions of columns (aggregates) are not offered"},
         {"select=count()",
          "400 unsupported: select, character 1: functions of columns (aggregates) are not offered"},
         {"select=...a(b)",
          "400 unsupported: select, character 1: spreading (\"...table(columns)\") is not offered"},
         {"select=a(b(c))", "400 unsupported: select, character 4: a table embedded in an embedded one"},
         {"distinct=maybe", "400 bad_value: distinct: \"maybe\" is neither true nor false"}});
}

TEST_CASE("limits of a request") {
  const auto exposure = test::sampleExposure();
  std::string many = "id=eq.1";
  for (int i = 1; i < 64; ++i) many += "&id=eq.1";
  CHECK(whereOf(*exposure, "every_type", many).compare(0, 4, "`id`") == 0);
  CHECK(whereOf(*exposure, "every_type", many + "&id=eq.1") ==
        "400 too_complex: id, character 1: more than 64 conditions in one request");
  const auto nested = [](int depth) {
    std::string text = "and=(";
    for (int i = 1; i < depth; ++i) text += "or(";
    return text + "id.eq.1" + std::string(static_cast<size_t>(depth), ')');
  };
  CHECK(whereOf(*exposure, "every_type", nested(8)) == "((((((((`id` = ?)))))))) | 1");
  CHECK(whereOf(*exposure, "every_type", nested(9)).compare(0, 16, "400 too_complex:") == 0);
  const auto list = [](int count) {
    std::string text = "id=in.(1";
    for (int i = 1; i < count; ++i) text += ",1";
    return text + ")";
  };
  CHECK(whereOf(*exposure, "every_type", list(512)).compare(0, 7, "`id` IN") == 0);
  CHECK(whereOf(*exposure, "every_type", list(513)) ==
        "400 too_complex: id, character 1029: more than 512 values in one list");
  std::string lists = list(512);
  for (int i = 1; i < 16; ++i) lists += "&" + list(512);
  CHECK(whereOf(*exposure, "every_type", lists).compare(0, 7, "`id` IN") == 0);
  CHECK(whereOf(*exposure, "every_type", lists + "&" + list(1)) ==
        "400 too_complex: id, character 5: more than 8192 values in all lists of one request");
}

TEST_CASE("fixed conditions may speak of what is hidden, requests may not") {
  check("orders", {{"", "`tenant` = ? | 7"},
                   {"id=eq.1", "`id` = ? AND `tenant` = ? | 1, 7"},
                   {"or=(id.eq.1,id.eq.2)", "(`id` = ? OR `id` = ?) AND `tenant` = ? | 1, 2, 7"},
                   {"tenant=eq.8", "400 unknown_column: orders has no column \"tenant\""}});
}

}  // namespace
