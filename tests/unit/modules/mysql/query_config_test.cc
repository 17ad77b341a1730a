#include "modules/mysql/query_config.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/schema.h"
#include "modules/mysql/query_cache.h"

namespace roost::embedded {
extern const std::string_view mysql_query_schema;
}

namespace roost::modules::mysql {
namespace {

const config::Schema& schema() {
  static const config::Schema made = [] {
    auto result = config::Schema::assemble(config::coreSchemaText(),
                                           {{"mysql_query", embedded::mysql_query_schema, true}});
    REQUIRE(result.ok());
    return std::move(result).value();
  }();
  return made;
}

// What is loaded of a route's key; the errors' text where it is refused.
struct Read {
  explicit Read(const std::string& key, const std::vector<std::string>& path_names = {})
      : loaded(config::loadText(
            R"({"http": {"sites": [{"routes": [{"path": "/q", "mysql_query": )" + key + "}]}]}}", "test.json",
            schema())) {
    if (!loaded.ok()) {
      error = loaded.errorText();
      return;
    }
    auto read = QueryRouteConfig::fromConfig(
        loaded.config->root()["http"]["sites"].at(0)["routes"].at(0)["mysql_query"], path_names);
    if (read.ok()) {
      route = std::move(read).value();
    } else {
      error = read.status().message();
    }
  }
  config::LoadResult loaded;
  QueryRouteConfig route;
  std::string error;
};

TEST_CASE("what reads is asked for by GET, what may write by POST", "[mysql]") {
  struct Case {
    const char* sql;
    bool writes;
    const char* allow;
  };
  const std::vector<Case> cases = {
      {R"x("SELECT 1")x", false, "GET, HEAD, POST, OPTIONS"},
      {R"x("with a as (select 1) select * from a")x", false, "GET, HEAD, POST, OPTIONS"},
      {R"x("(SELECT 1) UNION (SELECT 2)")x", false, "GET, HEAD, POST, OPTIONS"},
      {R"x("INSERT INTO t VALUES (1)")x", true, "POST, OPTIONS"},
      {R"x("ANALYZE SELECT 1")x", true, "POST, OPTIONS"},
      {R"x("SELECT a FROM t FOR UPDATE")x", true, "POST, OPTIONS"},
      {R"x("select a into @b from t")x", true, "POST, OPTIONS"},
      {R"x("SELECT get_lock('a', 1)")x", true, "POST, OPTIONS"},
      {R"x("SELECT 'delete', `update`, REPLACE(a, 'b', 'c') FROM t -- INTO")x", false,
       "GET, HEAD, POST, OPTIONS"},
      {R"x("SELECT NEXT VALUE FOR s")x", true, "POST, OPTIONS"},
      {R"x("select next /* the */ value for s")x", true, "POST, OPTIONS"},
      {R"x("SELECT NEXTVAL(s)")x", true, "POST, OPTIONS"},
      {R"x("SELECT next, value FROM t")x", false, "GET, HEAD, POST, OPTIONS"},
      {R"x("SELECT next 'value' FROM t")x", false, "GET, HEAD, POST, OPTIONS"},
      {R"x("SELECT INSERT(name, 1, 1, 'X'), insert (name, 2, 1, :n) FROM t", "parameters": {"n": {}})x",
       false, "GET, HEAD, POST, OPTIONS"},
      {R"x("CALL p()")x", true, "POST, OPTIONS"},
      {R"x(["SELECT 1", "DELETE FROM t"])x", true, "POST, OPTIONS"},
  };
  for (const Case& c : cases) {
    INFO(c.sql);
    const Read read(std::string(R"({"sql": )") + c.sql + "}");
    CHECK(read.error.empty());
    CHECK(read.route.writes == c.writes);
    CHECK(read.route.allow() == c.allow);
  }
}

TEST_CASE("whether the last statement may return rows is known", "[mysql]") {
  const auto returns = [](const std::string& sql) {
    return Read(R"({"sql": )" + sql + "}").route.returns_rows;
  };
  for (const char* sql :
       {R"x("SELECT 1")x", R"x("CALL p()")x", R"x("insert into t values (1) returning id")x",
        R"x("WITH a AS (SELECT 1) SELECT * FROM a")x", R"x(["DELETE FROM t", "SELECT 1"])x"}) {
    INFO(sql);
    CHECK(returns(sql));
  }
  for (const char* sql : {R"x("INSERT INTO t VALUES ('RETURNING')")x", R"x("replace t values (1)")x",
                          R"x("UPDATE t SET a = 1")x", R"x(["SELECT 1", "DELETE FROM t"])x"}) {
    INFO(sql);
    CHECK(!returns(sql));
  }
}

TEST_CASE("what leaves something behind in its session is known", "[mysql]") {
  for (const char* sql :
       {"CALL p()", "SELECT @a := 1", "SELECT Get_Lock('a', 0)", "CREATE temporary TABLE t (a INT)"}) {
    INFO(sql);
    CHECK(Read(std::string(R"({"sql": ")") + sql + "\"}").route.touches_session);
  }
  for (const char* sql : {"SELECT own(1)", "SELECT a FROM t WHERE shop . upper(a) = 1", "SELECT `own` (1)"}) {
    INFO(sql);
    CHECK(Read(std::string(R"({"sql": ")") + sql + "\"}").route.touches_session);
  }
  for (const char* sql : {"SELECT 1", "INSERT INTO t VALUES (1)", "SELECT temporar FROM t",
                          "SELECT COUNT(*), (SELECT Upper(a) FROM t WHERE b IN (1, 2)) FROM t WHERE (a) > 1",
                          "UPDATE t SET a = own(1)"}) {  // of a write the server tells it
    INFO(sql);
    CHECK_FALSE(Read(std::string(R"({"sql": ")") + sql + "\"}").route.touches_session);
  }
}

TEST_CASE("what LIMIT counts is a number that is not negative", "[mysql]") {
  const auto read = [](const char* sql, const char* parameter) {
    return Read(std::string(R"({"sql": "SELECT a FROM t )") + sql + R"(", "parameters": {"n": )" + parameter +
                "}}");
  };
  for (const char* const sql : {"LIMIT :n", "limit :n offset 5", "LIMIT 5, :n", "LIMIT 5 OFFSET :n"}) {
    INFO(sql);
    const Read good = read(sql, R"({"type": "integer", "maximum": 9, "default": 3})");
    REQUIRE(good.error.empty());
    CHECK(good.route.parameters[0].minimum == 0.0);
    std::string why;
    CHECK_FALSE(good.route.parameters[0].admits(db::Value::ofInt(-1), why));
    CHECK(read(sql, R"({"type": "integer", "minimum": 2})").route.parameters[0].minimum == 2.0);
    CHECK(read(sql, R"({"type": "integer", "minimum": -2})").route.parameters[0].minimum == 0.0);
    CHECK(read(sql, "{}").error == "parameters.n: what LIMIT counts has \"type\": \"integer\"");
    CHECK(read(sql, R"({"type": "integer", "default": -1})").error ==
          "parameters.n: \"default\" is less than 0, and LIMIT counts");
  }
  CHECK_FALSE(read("WHERE a > :n LIMIT 5", R"({"type": "integer"})").route.parameters[0].minimum.has_value());
}

TEST_CASE("parameters are of a type and stand somewhere", "[mysql]") {
  const Read read(R"({"sql": "SELECT :a, :b, :c, :part", "parameters": {
      "a": {"type": "integer", "minimum": 1, "maximum": 9, "default": 5}, "b": {"from": "body", "nullable": "on"},
      "c": {"type": "date", "default": null}}})",
                  {"part", "unused"});
  REQUIRE(read.error.empty());
  const auto& parameters = read.route.parameters;
  REQUIRE(parameters.size() == 5);
  CHECK(!parameters[0].required);
  CHECK(parameters[0].fallback == "5");
  CHECK(parameters[0].from == QueryParameter::From::kQueryOrBody);
  CHECK(parameters[1].required);
  CHECK(parameters[1].nullable);
  CHECK(parameters[1].from == QueryParameter::From::kBody);
  CHECK(!parameters[2].required);
  CHECK(parameters[2].fallback_is_null);
  CHECK(parameters[3].name == "part");
  CHECK(parameters[3].from == QueryParameter::From::kPath);
  CHECK(parameters[4].name == "unused");
  CHECK(read.route.statements[0].text.view() == "SELECT ?, ?, ?, ?");
  CHECK(read.route.statements[0].arguments == std::vector<uint16_t>{0, 1, 2, 3});
  std::string why;
  CHECK(parameters[0].admits(db::Value::ofInt(9), why));
  CHECK(!parameters[0].admits(db::Value::ofInt(10), why));
  CHECK(why == "is greater than 9");
}

TEST_CASE("what contradicts itself is refused in words", "[mysql]") {
  struct Case {
    const char* key;
    const char* error;
  };
  const std::vector<Case> cases = {
      {R"x({"sql": "SELECT :x"})x", "sql names :x, which is not among its parameters (character 8)"},
      {R"x({"sql": ["SELECT 1", "SELECT ?"]})x",
       "sql[1] holds a '?': give the parameter a name (character 8)"},
      {R"x({"sql": "SELECT 1", "parameters": {"x": {}}})x", "parameters: no statement uses \"x\""},
      {R"x({"sql": "SELECT :x", "parameters": {"x": {"from": "path"}}})x",
       "parameters.x: stands in the path, where the route has no part of that name"},
      {R"x({"sql": "SELECT :x", "parameters": {"x": {"minimum": 1}}})x",
       "parameters.x: \"minimum\" and \"maximum\" are for numbers"},
      {R"x({"sql": "SELECT :x", "parameters": {"x": {"type": "integer", "minimum": 2, "maximum": 1}}})x",
       "parameters.x: \"minimum\" exceeds \"maximum\""},
      {R"x({"sql": "SELECT :x", "parameters": {"x": {"type": "integer", "maximum": 3, "default": 4}}})x",
       "parameters.x: \"default\" is greater than 3"},
      {R"x({"sql": "SELECT :x", "parameters": {"x": {"enum": ["a", "b"], "default": "c"}}})x",
       "parameters.x: \"default\" is none of a, b"},
      {R"x({"sql": "DELETE FROM t", "methods": ["GET"]})x",
       "methods: a statement that may write cannot be asked for by GET, which anybody may repeat"},
      {R"x({"sql": "DELETE FROM t", "cache_s": 5})x", "cache_s: a statement may write"},
      {R"x({"sql": "ANALYZE DELETE FROM t", "methods": ["GET"]})x",
       "methods: a statement that may write cannot be asked for by GET, which anybody may repeat"},
      {R"x({"sql": "WITH q AS (SELECT 1) DELETE FROM t", "methods": ["GET"]})x",
       "methods: a statement that may write cannot be asked for by GET, which anybody may repeat"},
      {R"x({"sql": "SET autocommit = 0"})x", "sql: SET would change the connection for others"},
      {R"x({"sql": "FLUSH TABLES WITH READ LOCK"})x", "sql: FLUSH would change the connection for others"},
      {R"x({"sql": "commit"})x", "sql: COMMIT would change the connection for others"},
  };
  for (const Case& c : cases) {
    INFO(c.key);
    CHECK(Read(c.key).error == c.error);
  }
}

TEST_CASE("a cache keeps answers for their time, and the ones used last", "[mysql]") {
  QueryCache cache;
  cache.put("a", BufferRef::copyOf("first"), 0, 100);
  CHECK(cache.find("a", 99).body.view() == "first");
  CHECK(!cache.find("b", 0).body);
  CHECK(!cache.find("a", 100).body);
  CHECK(!cache.find("a", 0).body);  // too old once, gone for good

  cache.put("a", BufferRef::copyOf("one"), 0, 100);
  cache.put("a", BufferRef::copyOf("two"), 0, 100);
  CHECK(cache.find("a", 0).body.view() == "two");
  for (size_t i = 0; i < QueryCache::kMostEntries - 1; ++i)
    cache.put(std::to_string(i), BufferRef::copyOf("x"), 0, 100);
  CHECK(cache.find("a", 0).body);
  cache.put("another", BufferRef::copyOf("x"), 0, 100);
  CHECK(cache.find("a", 0).body);
  CHECK(!cache.find("0", 0).body);  // the one that was not asked for the longest time

  const std::string large(QueryCache::kMostBytes / 4 - 10, 'x');
  for (const char* key : {"l1", "l2", "l3", "l4", "l5"}) cache.put(key, BufferRef::copyOf(large), 0, 100);
  CHECK(cache.find("l5", 0).body);
  CHECK(!cache.find("l1", 0).body);
  cache.put("huge", BufferRef::copyOf(std::string(QueryCache::kMostBytes, 'x')), 0, 100);
  CHECK(!cache.find("huge", 0).body);
  CHECK(cache.find("l5", 0).body);
}

TEST_CASE("a cache says how old an answer is, begun seconds counted", "[mysql]") {
  constexpr int64_t kNsPerS = 1'000'000'000;
  QueryCache cache;
  cache.put("a", BufferRef::copyOf("x"), 7 * kNsPerS, 5 * kNsPerS);
  CHECK(cache.find("a", 7 * kNsPerS).age_s == 0);
  CHECK(cache.find("a", 7 * kNsPerS + 1).age_s == 1);
  CHECK(cache.find("a", 8 * kNsPerS).age_s == 1);
  CHECK(cache.find("a", 12 * kNsPerS - 1).age_s == 5);
  CHECK(!cache.find("a", 12 * kNsPerS).body);
}

}  // namespace
}  // namespace roost::modules::mysql
