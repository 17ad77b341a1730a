// Bodies as clients send them, and the rows that they mean.
#include "tables/body.h"

#include <catch2/catch.hpp>

#include "unit/tables/plan_text.h"
#include "unit/tables/sample_schema.h"

namespace {

using namespace roost;          // NOLINT
using namespace roost::tables;  // NOLINT

// "id=1,name='a'; id=2", or the problem.
std::string rowsOf(std::string_view text, BodyFormat format = BodyFormat::kJson,
                   const std::vector<std::string>& columns = {}, bool missing_is_null = false,
                   const char* table = "every_type") {
  static const auto exposure = test::sampleExposure();
  BodyOptions options;
  options.columns = &columns;
  options.max_rows = 3;
  options.missing_is_null = missing_is_null;
  Body body;
  Problem problem;
  if (!readBody(text, format, *exposure->find(table), options, body, problem))
    return fmt::format("{} {}: {}", problem.status, problem.code, problem.detail);
  std::string out = body.is_list ? "list " : "";
  for (const BodyRow& row : body.rows) {
    if (&row != &body.rows.front()) out += "; ";
    for (size_t i = 0; i < row.columns.size(); ++i) {
      if (i != 0) out += ',';
      out +=
          exposure->find(table)->table->columns[row.columns[i]].name + '=' + test::valueText(row.values[i]);
    }
  }
  return out;
}

struct Case {
  const char* text;
  const char* rows;
};

TEST_CASE("rows in JSON") {
  for (const Case& one : std::initializer_list<Case>{
           {"{}", ""},
           {"[]", "list "},
           {"[{}]", "list "},
           {R"({"id":1,"name":"a"})", "id=1,name='a'"},
           {R"({"name":"a","id":1})", "id=1,name='a'"},
           {R"([{"id":1},{"name":null},{}])", "list id=1; name=NULL; "},
           {R"({"name":"\u00fc\ud83d\ude00\n"})", "name='ü😀\n'"},
           {"", "400 bad_body: the body is no JSON, at byte 1"},
           {R"([{"id":1},{"real":1e309}])",
            "400 value_out_of_range: row 2: the number that ends at byte 23 is too large"},
           {"17", "400 bad_body: the body is an object or an array of objects"},
           {"[17]", "400 bad_body: the body is an object or an array of objects"},
           {"[[]]", "400 bad_body: the body is an object or an array of objects"},
           {"{} {}", "400 bad_body: the body is no JSON, at byte 4"},
           {R"({"id":1,"id":1})", "400 bad_body: \"id\" stands twice"},
           {R"([{"id":1},{"id":1,"id":1}])", "400 bad_body: row 2: \"id\" stands twice"},
           {R"({"nothing":1})", "400 unknown_column: every_type has no column \"nothing\""},
           {"[{},{},{},{}]", "413 too_many_rows: more than 3 rows"},
           {R"({"name":"\ud83d"})", "400 bad_body: the body is no JSON, at byte 16"},
           {"{\"name\":\"\xff\"}", "400 bad_body: the body is no JSON, at byte 10"}}) {
    INFO(one.text);
    CHECK(rowsOf(one.text) == one.rows);
  }
  CHECK(rowsOf(R"([{"id":1,"what":[{}]},{"name":"a"}])", BodyFormat::kJson, {"id"}) == "list id=1; ");
  CHECK(rowsOf("{}", BodyFormat::kJson, {"nothing"}) ==
        "400 unknown_column: every_type has no column \"nothing\"");
  CHECK(rowsOf(R"([{"id":1},{"name":"a"}])", BodyFormat::kJson, {}, true) ==
        "list id=1,name=NULL; id=NULL,name='a'");
  CHECK(rowsOf(R"({"secret":1})", BodyFormat::kJson, {}, false, "products") ==
        "400 unknown_column: products has no column \"secret\"");
}

TEST_CASE("values of JSON") {
  for (const Case& one : std::initializer_list<Case>{
           {R"({"big":9223372036854775807})", "big=9223372036854775807"},
           {R"({"ubig":18446744073709551615})", "ubig=18446744073709551615u"},
           {R"({"ubig":18446744073709551616})", nullptr},
           {R"({"tiny":128})", nullptr},
           {R"({"tiny":1.0})", "tiny=1"},
           {R"({"tiny":-1.2e1})", "tiny=-12"},
           {R"({"tiny":1.5})", nullptr},
           {R"({"tiny":1e300})", nullptr},
           {R"({"tiny":true})", "400 bad_value: column \"tiny\" is neither true nor false"},
           {R"({"flag":true})", "flag=1"},
           {R"({"flag":0})", "flag=0"},
           {R"({"flag":2})", "400 bad_value: column \"flag\" takes true or false"},
           {R"({"price":12345678901234567890.10})", "price='12345678901234567890.10'"},
           {R"({"price":1e3})", "price='1e3'"},
           {R"({"price":-2.5e-265})", "price='0'"},
           {R"({"price":"1.50"})", "price='1.50'"},
           {R"({"real":0.1})", "real=0.1d"},
           {R"({"real":1e999})", "400 value_out_of_range: the number that ends at byte 13 is too large"},
           {R"({"name":12.50})", "name='12.50'"},
           {R"({"name":true})", "400 bad_value: column \"name\" is neither true nor false"},
           {R"({"name":{}})", "400 bad_value: column \"name\" takes no array or object"},
           {R"({"blob":"AAEC"})", "blob=bytes:3"},
           {R"({"blob":"AAE"})", nullptr},
           {R"({"blob":1})", "400 bad_value: column \"blob\" takes no number"},
           {R"({"day":"2026-11-20"})", "day='2026-11-20'"},
           {R"({"day":20261120})", "400 bad_value: column \"day\" takes no number"},
           {R"({"at":"2026-11-20T23:00:00+01:00"})", "at='2026-11-20 22:00:00'"},
           {R"({"state":"paid"})", "state='paid'"},
           {R"({"state":1})", "400 bad_value: column \"state\" takes one of its members, by name"},
           {R"({"state":"1"})", nullptr},
           {R"({"flags":"a,b"})", "flags='a,b'"},
           {R"({"data":{"a":[1.50,null,true,"x\"y"],"b":{}}})",
            "data='{\"a\":[1.50,null,true,\"x\\\"y\"],\"b\":{}}'"},
           {R"({"data":"text"})", "data='\"text\"'"},
           {R"({"data":12345678901234567890123})", "data='12345678901234567890123'"},
           {R"({"data":false})", "data='false'"},
           {R"({"data":null})", "data=NULL"},
           {R"({"data":{"a":1,"b":{"a":1,"a":2}}})", "400 bad_body: \"a\" stands twice in an object"},
           {R"({"place":"AAAA"})", nullptr}}) {
    INFO(one.text);
    const std::string rows = rowsOf(one.text);
    if (one.rows != nullptr) {
      CHECK(rows == one.rows);
    } else {
      CHECK(rows.compare(0, 4, "400 ") == 0);
    }
  }
  const std::string deep(kMaxJsonDepth, '[');
  const std::string close(kMaxJsonDepth, ']');
  CHECK(rowsOf("{\"data\":" + deep + close + "}") == "data='" + deep + close + "'");
  CHECK(rowsOf("{\"data\":[" + deep + close + "]}") == "400 bad_body: a document nests deeper than 64");
}

TEST_CASE("rows in lines and in CSV") {
  const BodyFormat lines = BodyFormat::kNdjson;
  CHECK(rowsOf("{\"id\":1}\n\r\n {\"id\":2}\r\n", lines) == "list id=1; id=2");
  CHECK(rowsOf("", lines) == "list ");
  CHECK(rowsOf("[{}]\n", lines) == "400 bad_body: each line is an object");
  CHECK(rowsOf("{\"id\":1}{\"id\":2}", lines).compare(0, 15, "400 bad_body: t") == 0);
  for (const Case& one : std::initializer_list<Case>{
           {"id,name\n1,a\n2,b\n", "list id=1,name='a'; id=2,name='b'"},
           {"name,id\r\n\"a, \"\"b\"\"\r\nc\",1", "list id=1,name='a, \"b\"\r\nc'"},
           {"id,name\n1,\n2,NULL\n3,\"NULL\"", "list id=1,name=NULL; id=2,name=NULL; id=3,name='NULL'"},
           {"name\n\"\"\n", "list name=''"},
           {"data\n\"[1, 2]\"\n", "list data='[1, 2]'"},
           {"data\n[1\n", "400 bad_value: row 1: column \"data\" takes JSON"},
           {"id\n1\n\n\n2\n", "list id=1; id=2"},
           {"id\n", "list "},
           {"", "400 bad_body: there is no line of headings"},
           {"id,id\n1,1\n", "400 bad_body: \"id\" stands twice"},
           {"nothing\n1\n", "400 unknown_column: every_type has no column \"nothing\""},
           {"id\n1,2\n", "400 bad_body: row 1: 2 values under 1 headings"},
           {"id,name\n1\n", "400 bad_body: row 1: 1 values under 2 headings"},
           {"name\n\"a\n", "400 bad_body: a quote is not closed"},
           {"name\na\"b\n", "400 bad_body: a quote stands within a value"},
           {"name\n\"a\"b\n", "400 bad_body: a quote stands within a value"},
           {"name\n\xff\n", "400 bad_body: the body is not UTF-8"}}) {
    INFO(one.text);
    CHECK(rowsOf(one.text, BodyFormat::kCsv) == one.rows);
  }
}

TEST_CASE("a spreadsheet's mark before CSV is no part of its first heading") {
  CHECK(rowsOf("\xEF\xBB\xBFid,name\n1,a\n", BodyFormat::kCsv) == "list id=1,name='a'");
}

// What there may be, and whether a body of so many values fits into it.
struct Budgeted {
  explicit Budgeted(size_t most_bytes)
      : budget(std::make_shared<BodyBudget>(most_bytes, held, refused)), lease(budget) {}
  bool read(size_t rows) {
    std::string text = "[";
    for (size_t i = 0; i < rows; ++i) text += i == 0 ? R"({"id":1})" : R"(,{"id":1})";
    static const auto exposure = test::sampleExposure();
    BodyOptions options;
    options.lease = &lease;
    Body body;
    return readBody(text + "]", BodyFormat::kJson, *exposure->find("every_type"), options, body, problem);
  }
  metrics::Gauge held;
  metrics::Counter refused;
  std::shared_ptr<BodyBudget> budget;
  BodyLease lease;
  Problem problem;
};

TEST_CASE("rows are paid for, and given back with their lease") {
  Budgeted one(200'000);
  REQUIRE(one.read(500));
  const size_t taken = one.budget->taken();
  CHECK(taken >= 500 * (sizeof(BodyRow) + 2 * sizeof(db::Value)));
  CHECK(one.held.value() == static_cast<int64_t>(taken));
  CHECK_FALSE(one.read(500));  // beside the others
  CHECK(one.problem.status == 503);
  CHECK(one.problem.code == "bodies_full");
  CHECK(one.refused.value() == 1);
  CHECK(one.budget->taken() <= 200'000);
  BodyLease moved = std::move(one.lease);
  one.lease = BodyLease(one.budget);
  CHECK(one.budget->taken() > 0);
  moved = BodyLease();
  CHECK(one.budget->taken() == 0);
  CHECK(one.held.value() == 0);
  CHECK(one.read(500));
}

}  // namespace
