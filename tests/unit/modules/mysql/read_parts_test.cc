#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "http/response_head.h"
#include "modules/mysql/embed_merge.h"
#include "modules/mysql/entity_tag.h"
#include "modules/mysql/read_answer.h"
#include "unit/http/head_builder.h"

namespace roost::modules::mysql {
namespace {

using http::FieldId;
using http::Method;
using tables::Format;

Form formOf(std::string_view accept, bool& chosen) {
  http::test::HeadBuilder builder(Method::kGet, {{FieldId::kAccept, accept}});
  Form form;
  chosen = chooseForm(builder.head(), form);
  return form;
}

TEST_CASE("mysql: tags depend on every byte and on the length", "[mysql]") {
  std::set<uint64_t> seen;
  std::string text(100, 'a');
  for (size_t size = 0; size <= text.size(); ++size) seen.insert(contentHash(text.substr(0, size)));
  for (char& c : text) {
    c = 'b';
    seen.insert(contentHash(text));
    c = '\0';
    seen.insert(contentHash(text));
  }
  CHECK(seen.size() == 301);
  CHECK(contentHash("same") == contentHash("same"));
  CHECK(contentHash("same", 1) != contentHash("same", 2));
  CHECK(entityTag(0x0123456789abcdef, false, "") == "\"0123456789abcdef\"");
  CHECK(entityTag(1, true, "-o") == "\"v0000000000000001-o\"");
  CHECK(tagStem("v0000000000000001-o") == "v0000000000000001");
  CHECK(tagStem("0123") == "0123");
}

TEST_CASE("mysql: the form of an answer is chosen by Accept", "[mysql]") {
  struct Case {
    std::string_view accept;
    std::string_view type;
    Format format;
    bool single;
  };
  const Case cases[] = {
      {"", "application/json", Format::kJson, false},
      {"*/*", "application/json", Format::kJson, false},
      {"application/*;q=0.2, text/csv", "text/csv; charset=utf-8", Format::kCsv, false},
      {"text/*, application/json;q=0.9", "text/csv; charset=utf-8", Format::kCsv, false},
      {"application/x-ndjson", "application/x-ndjson", Format::kNdjson, false},
      {"application/vnd.pgrst.object+json", "application/vnd.pgrst.object+json", Format::kJson, true},
  };
  for (const Case& c : cases) {
    INFO(c.accept);
    bool chosen = false;
    const Form form = formOf(c.accept, chosen);
    CHECK(chosen);
    CHECK(form.content_type == c.type);
    CHECK(form.format == c.format);
    CHECK(form.single == c.single);
  }
  for (const std::string_view accept :
       {"text/html", "application/json;q=0", "application/json;nulls=stripped", "nonsense"}) {
    INFO(accept);
    bool chosen = true;
    formOf(accept, chosen);
    CHECK_FALSE(chosen);
  }
}

TEST_CASE("mysql: a range of rows is read, or passed over", "[mysql]") {
  const auto read = [](std::string_view text, std::optional<tables::RowRange>& range) {
    http::test::HeadBuilder builder(Method::kGet, {{FieldId::kRange, text}});
    tables::Problem problem;
    const bool ok = readRange(builder.head(), range, problem);
    CHECK((ok || problem.status == 416));
    return ok;
  };
  std::optional<tables::RowRange> range;
  REQUIRE(read("0-24", range));
  CHECK((range->first == 0 && range->last == 24u));
  REQUIRE(read("items=10-", range));
  CHECK((range->first == 10 && !range->last));
  range.reset();
  for (const char* text :
       {"bytes=0-24", "-5", "x-1", "1-x", "1", "", "99999999999999999999-", "1-99999999999999999999"}) {
    INFO(text);
    CHECK(read(text, range));
    CHECK_FALSE(range);
  }
  CHECK_FALSE(read("9-3", range));
}

TEST_CASE("mysql: statuses and ranges of what was found", "[mysql]") {
  struct Case {
    uint64_t rows;
    std::optional<uint64_t> total;
    uint64_t offset;
    int status;
    std::string range;
  };
  const Case cases[] = {{25, {}, 0, 200, "0-24/*"},    {0, {}, 7, 200, "*/*"},
                        {25, 25, 0, 200, "0-24/25"},   {25, 60, 25, 206, "25-49/60"},
                        {10, 60, 50, 206, "50-59/60"}, {0, 0, 0, 200, "*/0"},
                        {0, 5, 5, 200, "*/5"}};
  for (const Case& c : cases) {
    ReadFacts facts;
    facts.rows = c.rows;
    facts.total = c.total;
    facts.exact = c.total.has_value();
    tables::ReadPlan plan;
    plan.offset = c.offset;
    http::ResponseHead head(statusOf(facts));
    describeRange(facts, plan, head);
    CHECK(head.status == c.status);
    CHECK(head.get("Content-Range") == c.range);
    if (!c.total) continue;
    plan.limit = c.rows;
    CHECK(expected(facts, plan).rows == c.rows);
  }
  ReadFacts guess;
  guess.total = 100;
  CHECK(statusOf(expected(guess, {})) == 200);
}

db::ResultColumn resultOf(db::Type type) {
  db::ResultColumn column;
  column.type = type;
  return column;
}

db::Cell cellOf(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

tables::OutputColumn columnOf(std::string_view name, bool hidden = false) {
  tables::OutputColumn column;
  column.name = name;
  column.json_key = "\"" + column.name + "\":";
  column.hidden = hidden;
  return column;
}

// Outer rows {"name":...} that join by a hidden second cell; inner ones {"n":...} behind their key.
struct Merge {
  explicit Merge(bool many) {
    plans.emplace_back();
    plans[0].json_key = "\"in\":";
    plans[0].many = many;
    plans[0].from = {1};
    plans[0].columns = {columnOf("k", true), columnOf("n")};
    plans[0].max_rows = 3;
    merge.emplace(plans, tables::OutputOptions{});
  }
  void add(std::string_view name, db::Cell key) {
    const db::ResultColumns types{resultOf(db::Type::kText), resultOf(db::Type::kText)};
    const db::Cell cells[] = {cellOf(name), key};
    merge->addRow(tables::RowWriter(outer, {}), types, db::Row(cells, 2));
  }
  bool addInner(db::Cell key, std::string_view n) {
    const db::ResultColumns types{resultOf(db::Type::kText), resultOf(db::Type::kDecimal)};
    const db::Cell cells[] = {key, cellOf(n)};
    return merge->addInner(0, types, db::Row(cells, 2));
  }
  std::string text(std::string_view before = ",") {
    std::string out;
    merge->appendTo(out, before);
    return out;
  }
  std::vector<tables::OutputColumn> outer{columnOf("name"), columnOf("k", true)};
  std::vector<tables::EmbedPlan> plans;
  std::optional<EmbedMerge> merge;
};

TEST_CASE("mysql: rows are put into the rows they belong to", "[mysql]") {
  Merge one(false);
  CHECK_FALSE(one.merge->hasKeys(0));
  one.add("a", cellOf("K1"));
  one.add("b", db::Cell{});
  one.add("c", cellOf("k1 "));  // equal to the first, as collations have it
  one.add("d", cellOf("k2"));
  CHECK(one.merge->hasKeys(0));
  CHECK(one.addInner(cellOf("k1"), "1"));
  CHECK(
      one.text() ==
      R"({"name":"a","in":{"n":1}},{"name":"b","in":null},{"name":"c","in":{"n":1}},{"name":"d","in":null})");
  CHECK(one.merge->rows() == 4);

  Merge many(true);
  many.add("a", cellOf("k1"));
  many.add("b", cellOf("k2"));
  CHECK(many.addInner(cellOf("k1"), "1"));
  CHECK(many.addInner(cellOf("k1"), "2"));
  CHECK(many.text("\n") == "{\"name\":\"a\",\"in\":[{\"n\":1},{\"n\":2}]}\n{\"name\":\"b\",\"in\":[]}");
  CHECK(many.addInner(cellOf("k2"), "3"));
  CHECK_FALSE(many.addInner(cellOf("k2"), "4"));  // more than there may be
}

TEST_CASE("mysql: a row that belongs to none is told", "[mysql]") {
  Merge merge(false);
  merge.add("a", cellOf("\xc3\xa4"));
  CHECK_FALSE(merge.merge->hasStray());
  CHECK_FALSE(merge.addInner(cellOf("a"), "1"));  // as a collation that ignores accents finds it
  CHECK(merge.merge->hasStray());
}

TEST_CASE("mysql: keys of different widths meet", "[mysql]") {
  Merge merge(false);
  const db::ResultColumns wide{resultOf(db::Type::kText), resultOf(db::Type::kUint)};
  const std::string eight("\7\0\0\0\0\0\0\0", 8);
  const db::Cell cells[] = {cellOf("a"), cellOf(eight)};
  merge.merge->addRow(tables::RowWriter(merge.outer, {}), wide, db::Row(cells, 2));
  const db::ResultColumns narrow{resultOf(db::Type::kInt), resultOf(db::Type::kDecimal)};
  const std::string one("\7", 1);
  const db::Cell inner[] = {cellOf(one), cellOf("9")};
  CHECK(merge.merge->addInner(0, narrow, db::Row(inner, 2)));
  CHECK(merge.text() == R"({"name":"a","in":{"n":9}})");
}

}  // namespace
}  // namespace roost::modules::mysql
