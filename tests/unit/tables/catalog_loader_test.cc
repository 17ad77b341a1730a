#include "tables/catalog_loader.h"

#include <catch2/catch.hpp>

#include <algorithm>

#include "tables/column_facts.h"
#include "unit/tables/scripted_connection.h"

namespace roost::tables {
namespace {

using Words = std::vector<std::string>;
constexpr std::nullopt_t kNull = std::nullopt;

TEST_CASE("members of ENUM and SET", "[tables]") {
  CHECK(membersOf("enum('a','b')") == Words{"a", "b"});
  CHECK(membersOf("set('p')") == Words{"p"});
  CHECK(membersOf("enum('it''s','f,g','','(x)')") == Words{"it's", "f,g", "", "(x)"});
  CHECK(membersOf(R"(enum('b\\c','d\ne','q\'r'))") == Words{"b\\c", "d\ne", "q'r"});
  CHECK(membersOf("varchar(20)").empty());
  CHECK(membersOf("enum(").empty());
  CHECK(membersOf("enum('open").empty());
}

TEST_CASE("columns that a check lets hold nothing but JSON", "[tables]") {
  CHECK(jsonColumnsOf("json_valid(`doc`)") == Words{"doc"});
  CHECK(jsonColumnsOf("json_valid(`a``b`)") == Words{"a`b"});
  CHECK(jsonColumnsOf("json_valid(`a`) and json_length(`a`) < 5") == Words{"a"});
  CHECK(jsonColumnsOf("`n` > 1 and json_valid(`a`) and json_valid(`b`)") == Words{"a", "b"});
  CHECK(jsonColumnsOf("`n` = 'x' or json_valid(`a`)").empty());
  CHECK(jsonColumnsOf("`n` <> ' or ' and json_valid(`a`)") == Words{"a"});
  CHECK(jsonColumnsOf("json_valid(`a`) xor `b`").empty());
  CHECK(jsonColumnsOf("json_valid(`a`) = 0").empty());
  CHECK(jsonColumnsOf("json_valid(concat(`a`,'1'))").empty());
  CHECK(jsonColumnsOf("!json_valid(`a`)").empty());
  CHECK(jsonColumnsOf("").empty());
}

ColumnFacts factsOf(const char* data_type, const char* column_type) {
  ColumnFacts facts;
  facts.name = "c";
  facts.data_type = data_type;
  facts.column_type = column_type;
  return facts;
}

TEST_CASE("a column's type", "[tables]") {
  struct Case {
    const char* data_type;
    const char* column_type;
    db::Type type;
    int int_bytes;
  };
  const Case cases[] = {
      {"tinyint", "tinyint(4)", db::Type::kInt, 1},
      {"tinyint", "tinyint(1)", db::Type::kInt, 1},
      {"tinyint", "tinyint(1) unsigned", db::Type::kUint, 1},
      {"mediumint", "mediumint(8) unsigned zerofill", db::Type::kUint, 3},
      {"int", "int", db::Type::kInt, 4},
      {"bigint", "bigint unsigned", db::Type::kUint, 8},
      {"year", "year(4)", db::Type::kUint, 2},
      {"float", "float unsigned", db::Type::kFloat, 0},
      {"decimal", "decimal(12,4)", db::Type::kDecimal, 0},
      {"bit", "bit(5)", db::Type::kBit, 0},
      {"json", "json", db::Type::kJson, 0},
      {"longtext", "longtext", db::Type::kText, 0},
      {"varbinary", "varbinary(16)", db::Type::kBytes, 0},
      {"timestamp", "timestamp(3)", db::Type::kTimestamp, 0},
      {"geomcollection", "geomcollection", db::Type::kGeometry, 0},
      {"uuid", "uuid", db::Type::kText, 0},
      {"newtype", "newtype(7)", db::Type::kText, 0},
  };
  for (const Case& each : cases) {
    CAPTURE(each.column_type);
    const Column column = columnOf(factsOf(each.data_type, each.column_type));
    CHECK(column.type == each.type);
    CHECK(column.int_bytes == each.int_bytes);
    CHECK(column.is_bool == (std::string_view(each.column_type) == "tinyint(1)"));
    CHECK(column.declared == each.column_type);
  }
  CHECK(columnOf(factsOf("json", "json")).is_json);
  CHECK(columnOf(factsOf("year", "year(4)")).is_year);
}

TEST_CASE("what of a column may be left out, and what is made by the server", "[tables]") {
  ColumnFacts facts = factsOf("int", "int(11)");
  CHECK(!columnOf(facts).has_default);
  CHECK(!columnOf(facts).null_by_default);
  facts.nullable = true;
  CHECK(columnOf(facts).has_default);
  CHECK(columnOf(facts).null_by_default);
  facts.default_text = "NULL";
  CHECK(columnOf(facts).null_by_default);
  facts.default_text = "'NULL'";
  CHECK(!columnOf(facts).null_by_default);
  facts.nullable = false;
  facts.default_text = "0";
  CHECK(columnOf(facts).has_default);
  facts.default_text.reset();
  facts.extra = "auto_increment";
  CHECK(columnOf(facts).has_default);
  CHECK(columnOf(facts).auto_increment);
  facts.extra = "DEFAULT_GENERATED on update CURRENT_TIMESTAMP";
  CHECK(columnOf(facts).has_default);
  CHECK(!columnOf(facts).generated);
  facts.extra = "STORED GENERATED";
  CHECK(columnOf(facts).generated);
  CHECK(columnOf(facts).has_default);
  facts.extra = "INVISIBLE";
  CHECK(columnOf(facts).invisible);

  ColumnFacts text = factsOf("varchar", "varchar(20)");
  text.max_length = 20;
  text.collation = "utf8mb4_general_ci";
  CHECK(columnOf(text).max_chars == 20);
  CHECK(!columnOf(text).case_sensitive);
  for (const char* const collation : {"utf8mb4_bin", "latin1_general_cs", "utf8mb4_0900_as_cs"}) {
    text.collation = collation;
    CHECK(columnOf(text).case_sensitive);
  }
  text.max_length = 4294967295;
  CHECK(columnOf(text).max_chars == 4294967295);
}

// As COLUMNS are asked for: table, name, data type, column type, default, nullable, then nothing.
ScriptedSchema::Cells columnRow(const char* table, const char* name, const char* type,
                                bool nullable = false) {
  ScriptedSchema::Cells cells{table, name, type, type, kNull, nullable ? "YES" : "NO"};
  cells.resize(14);
  return cells;
}

ScriptedSchema shop() {
  ScriptedSchema schema;
  schema.rows["TABLES"] = {{"parts", "BASE TABLE", "what there is"},
                           {"uses", "BASE TABLE", ""},
                           {"all_uses", "VIEW", "VIEW"},
                           {"broken", "VIEW", "View 'broken' references invalid table(s)"}};
  schema.rows["VIEWS"] = {{"all_uses", "NO"}, {"broken", ""}};
  schema.rows["COLUMNS"] = {columnRow("parts", "a", "int"),
                            columnRow("parts", "b", "int"),
                            columnRow("parts", "doc", "longtext", true),
                            columnRow("uses", "id", "int"),
                            columnRow("uses", "pa", "int"),
                            columnRow("uses", "pb", "int"),
                            columnRow("uses", "t", "longtext"),
                            columnRow("all_uses", "id", "int"),
                            columnRow("elsewhere", "id", "int")};
  schema.rows["CHECK_CONSTRAINTS"] = {{"parts", "json_valid(`doc`)"}, {"parts", "json_valid(`gone`)"}};
  schema.rows["STATISTICS"] = {
      {"parts", "by_a", "1", "a", kNull, "BTREE"},      {"parts", "PRIMARY", "0", "b", kNull, "BTREE"},
      {"parts", "PRIMARY", "0", "a", kNull, "BTREE"},   {"uses", "PRIMARY", "0", "id", kNull, "BTREE"},
      {"uses", "computed", "0", kNull, kNull, "BTREE"}, {"uses", "computed", "0", "pa", kNull, "BTREE"},
      {"uses", "start", "0", "t", "5", "BTREE"},        {"uses", "words", "1", "t", kNull, "FULLTEXT"}};
  schema.rows["KEY_COLUMN_USAGE"] = {{"uses", "out", "pa", "elsewhere", "id"},
                                     {"uses", "unseen", "hidden", "parts", "a"},
                                     {"uses", "part", "pb", "parts", "b"},
                                     {"uses", "part", "pa", "parts", "a"}};
  return schema;
}

TEST_CASE("a schema is put together of what information_schema says", "[tables]") {
  ScriptedSchema schema = shop();
  ScriptedConnection connection(schema);
  db::Error error;
  const auto catalog = loadCatalog(connection, "shop", "+02:00", error);
  REQUIRE(catalog != nullptr);
  CHECK(catalog->database == "shop");
  CHECK(catalog->time_zone == "+02:00");
  CHECK(catalog->fingerprint == "1");
  CHECK(catalog->server_version == "10.11.6-MariaDB");
  CHECK(catalog->tables.size() == 3);
  CHECK(catalog->find("broken") == nullptr);
  CHECK(catalog->find("elsewhere") == nullptr);

  const Table* const parts = catalog->find("parts");
  REQUIRE(parts != nullptr);
  CHECK(parts->comment == "what there is");
  CHECK(parts->find("doc")->is_json);
  CHECK(parts->find("doc")->nullable);
  REQUIRE(parts->primaryKey() != nullptr);
  CHECK(parts->primaryKey()->columns == std::vector<uint16_t>{1, 0});

  const Table* const uses = catalog->find("uses");
  REQUIRE(uses != nullptr);
  REQUIRE(uses->keys.size() == 4);
  CHECK(uses->keys[0].primary);
  CHECK(uses->keys[1].name == "computed");
  CHECK(uses->keys[1].unique);
  CHECK(uses->keys[1].partial);
  CHECK(uses->keys[1].columns == std::vector<uint16_t>{1});
  CHECK(uses->keys[2].name == "start");
  CHECK(uses->keys[2].partial);
  CHECK(uses->keys[2].columns.empty());
  CHECK(uses->keys[3].fulltext);
  CHECK(!uses->keys[3].partial);
  REQUIRE(uses->foreign_keys.size() == 1);
  CHECK(uses->foreign_keys[0].name == "part");
  CHECK(uses->foreign_keys[0].table == "parts");
  CHECK(uses->foreign_keys[0].columns == std::vector<uint16_t>{2, 1});
  CHECK(uses->foreign_keys[0].targets == Words{"b", "a"});

  const Table* const view = catalog->find("all_uses");
  REQUIRE(view != nullptr);
  CHECK(view->is_view);
  CHECK(!view->updatable);
  CHECK(view->comment.empty());
}

TEST_CASE("the end of a row's history is no part of its key", "[tables]") {
  ScriptedSchema schema;
  schema.rows["TABLES"] = {{"kept", "SYSTEM VERSIONED", ""}};
  schema.rows["COLUMNS"] = {columnRow("kept", "id", "int"), columnRow("kept", "till", "timestamp")};
  schema.rows["COLUMNS"][1][12] = "ROW END";
  schema.rows["STATISTICS"] = {{"kept", "PRIMARY", "0", "id", kNull, "BTREE"},
                               {"kept", "PRIMARY", "0", "till", kNull, "BTREE"}};
  ScriptedConnection connection(schema);
  db::Error error;
  const auto catalog = loadCatalog(connection, "shop", "+00:00", error);
  REQUIRE(catalog != nullptr);
  CHECK(catalog->find("kept")->keys[0].columns == std::vector<uint16_t>{0});
  CHECK(!catalog->find("kept")->keys[0].partial);
  CHECK(catalog->find("kept")->columns[1].generated);
}

TEST_CASE("a server is not asked for checks that it does not show", "[tables]") {
  struct Server {
    bool is_mariadb;
    const char* version;
    bool has_checks;
  };
  for (const Server& server :
       {Server{true, "10.11.6-MariaDB", true}, Server{true, "5.5.5-10.3.10-MariaDB", true},
        Server{true, "10.3.9-MariaDB", false}, Server{false, "8.0.15", false},
        Server{false, "9.7.4", false}}) {
    CAPTURE(server.version);
    ScriptedSchema schema = shop();
    schema.is_mariadb = server.is_mariadb;
    schema.version = server.version;
    ScriptedConnection connection(schema);
    db::Error error;
    const auto catalog = loadCatalog(connection, "shop", "+00:00", error);
    REQUIRE(catalog != nullptr);
    CHECK(catalog->find("parts")->find("doc")->is_json == server.has_checks);
    const bool asked = std::any_of(schema.asked.begin(), schema.asked.end(), [](const std::string& text) {
      return text.find("CHECK_CONSTRAINTS") != std::string::npos;
    });
    CHECK(asked == server.has_checks);
  }
}

TEST_CASE("versions of servers", "[tables]") {
  CHECK(versionNumber("10.11.6-MariaDB-0+deb12u1") == 101106);
  CHECK(versionNumber("5.5.5-10.3.10-MariaDB") == 100310);
  CHECK(versionNumber("8.0.15") == 80015);
  CHECK(versionNumber("9.7.4-2") == 90704);
  CHECK(versionNumber("11.4") == 110400);
  CHECK(versionNumber("") == 0);
  CHECK(versionNumber("no number") == 0);
}

TEST_CASE("a schema that changes while it is read is read again, a few times", "[tables]") {
  ScriptedSchema schema = shop();
  ScriptedConnection connection(schema);
  db::Error error;
  schema.fingerprints = {"a", "b", "b"};
  const auto catalog = loadCatalog(connection, "shop", "+00:00", error);
  REQUIRE(catalog != nullptr);
  CHECK(catalog->fingerprint == "b");
  schema.fingerprints = {"a", "b", "c", "d", "e", "f", "g"};
  CHECK(loadCatalog(connection, "shop", "+00:00", error) == nullptr);
  CHECK(error.message == "the schema changed while it was read");
  CHECK(schema.fingerprints.size() == 2);
}

TEST_CASE("whichever statement fails, there is no catalog", "[tables]") {
  ScriptedSchema schema = shop();
  ScriptedConnection connection(schema);
  db::Error error;
  REQUIRE(loadCatalog(connection, "shop", "+00:00", error) != nullptr);
  const int needed = schema.statements;
  for (int last = 1; last <= needed; ++last) {
    schema.statements = 0;
    schema.fails = [&](db::Error& why) {
      why.message = "refused";
      return schema.statements == last;
    };
    error = {};
    CHECK(loadCatalog(connection, "shop", "+00:00", error) == nullptr);
    CHECK(error.message == "refused");
  }
}

}  // namespace
}  // namespace roost::tables
