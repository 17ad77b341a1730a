#include "tables/named_sql.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using roost::tables::readNamedSql;

namespace {
const std::vector<std::string> kNames = {"id", "name", "n2"};
}

TEST_CASE("names become marks, in the order in which they stand") {
  struct Case {
    const char* sql;
    const char* text;
    std::vector<uint16_t> arguments;
    const char* first;
  };
  const std::vector<Case> cases = {
      {"SELECT 1", "SELECT 1", {}, "SELECT"},
      {"select a from t where id = :id", "select a from t where id = ?", {0}, "SELECT"},
      {"SELECT :name, :id, :name;", "SELECT ?, ?, ?", {1, 0, 1}, "SELECT"},
      {"SELECT :n2+:id ;\n", "SELECT ?+?", {2, 0}, "SELECT"},
      {"SELECT ':id', \":id\", `:id`, 'it''s :id', 'a\\':id'",
       "SELECT ':id', \":id\", `:id`, 'it''s :id', 'a\\':id'",
       {},
       "SELECT"},
      {"-- :other\nSELECT 1 # :more", "\nSELECT 1", {}, "SELECT"},
      {"/* :other */ UPDATE t SET a = :id", "  UPDATE t SET a = ?", {0}, "UPDATE"},
      {"SELECT /*+ NO_ICP(t) */ 1", "SELECT /*+ NO_ICP(t) */ 1", {}, "SELECT"},
      {"SELECT @a := :id", "SELECT @a := ?", {0}, "SELECT"},
      {"SELECT 5--1", "SELECT 5--1", {}, "SELECT"},
      {"(SELECT 1) UNION (SELECT 2)", "(SELECT 1) UNION (SELECT 2)", {}, "SELECT"},
  };
  for (const Case& c : cases) {
    INFO(c.sql);
    const auto read = readNamedSql(c.sql, kNames);
    REQUIRE(read.ok());
    CHECK(read.value().text.view() == c.text);
    CHECK(read.value().arguments == c.arguments);
    CHECK(read.value().first_word == c.first);
  }
}

TEST_CASE("what nobody could mean is an error with its place") {
  struct Case {
    const char* sql;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"", "holds no statement (character 1)"},
      {" -- nothing", "holds no statement (character 12)"},
      {"SELECT :idd", "names :idd, which is not among its parameters (character 8)"},
      {"SELECT ?", "holds a '?': give the parameter a name (character 8)"},
      {"SELECT 1; SELECT 2", "holds a second statement: make it a list of them (character 11)"},
      {"SELECT 1;;", "holds a second statement: make it a list of them (character 10)"},
      {"SELECT 'a", "has a ' without its end (character 8)"},
      {"SELECT 'a\\'", "has a ' without its end (character 8)"},
      {"SELECT /* 1", "has a /* without its */ (character 8)"},
      {"SELECT /*! 1 */", "has a comment that the server executes (character 8)"},
      {"SELECT /*M! 1 */", "has a comment that the server executes (character 8)"},
  };
  for (const Case& c : cases) {
    INFO(c.sql);
    const auto read = readNamedSql(c.sql, kNames);
    REQUIRE_FALSE(read.ok());
    CHECK(read.status().message() == c.message);
  }
}
