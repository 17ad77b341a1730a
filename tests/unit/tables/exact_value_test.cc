// Values of keys are what the database will have made of them.
#include "tables/exact_value.h"

#include <catch2/catch.hpp>

#include "tables/read.h"
#include "unit/tables/hand_made.h"

namespace {

using namespace roost;          // NOLINT
using namespace roost::tables;  // NOLINT

Column columnOf(db::Type type, std::string declared, uint8_t scale, uint32_t max_chars = 0) {
  Column column;
  column.name = "k";
  column.type = type;
  column.declared = std::move(declared);
  column.scale = scale;
  column.max_chars = max_chars;
  return column;
}

// The text that is kept, or the code of what is wrong.
std::string exact(const Column& column, const char* text) {
  db::Value value;
  Problem problem;
  if (!convertText(column, text, "+00:00", value, problem) || !makeExact(column, value, problem))
    return problem.code;
  return std::string(value.bytes());
}

TEST_CASE("a decimal has one text") {
  const Column price = columnOf(db::Type::kDecimal, "decimal(10,2)", 2);
  for (const auto& [text, kept] :
       std::initializer_list<std::pair<const char*, const char*>>{{"7", "7"},
                                                                  {"7.10", "7.1"},
                                                                  {"7.1", "7.1"},
                                                                  {"+007.1000", "7.1"},
                                                                  {"-0.00", "0"},
                                                                  {"-.5", "-0.5"},
                                                                  {"1e3", "1000"},
                                                                  {"12.5e-1", "1.25"},
                                                                  {"125E-2", "1.25"},
                                                                  {"0.05e+1", "0.5"},
                                                                  {"1.e1", "10"},
                                                                  {"0e9", "0"},
                                                                  {"99999999.99", "99999999.99"},
                                                                  {"120.00", "120"},
                                                                  {"7.115", "value_out_of_range"},
                                                                  {"1e-3", "value_out_of_range"},
                                                                  {"-0.001", "value_out_of_range"},
                                                                  {"12.345e0", "value_out_of_range"},
                                                                  {"7,5", "bad_value"}})
    CHECK(exact(price, text) == kept);
  CHECK(exact(columnOf(db::Type::kDecimal, "decimal(10,0)", 0), "2.5") == "value_out_of_range");
  db::Value null;
  Problem problem;
  CHECK(makeExact(price, null, problem));
  CHECK(null.isNull());
}

TEST_CASE("other values of keys") {
  const Column moment = columnOf(db::Type::kDateTime, "datetime", 0);
  CHECK(exact(moment, "2026-11-20T12:00:00.000Z") == "2026-11-20 12:00:00");
  CHECK(exact(moment, "2026-11-20T12:00:00.5Z") == "value_out_of_range");
  CHECK(exact(columnOf(db::Type::kTime, "time(3)", 3), "12:00:00.125") == "12:00:00.125");
  CHECK(exact(columnOf(db::Type::kTime, "time(3)", 3), "12:00:00.1255") == "value_out_of_range");
  CHECK(exact(columnOf(db::Type::kText, "char(3)", 0, 3), "ab  ") == "ab");
  CHECK(exact(columnOf(db::Type::kText, "varchar(3)", 0, 3), "ab ") == "ab ");
  CHECK(exact(columnOf(db::Type::kText, "varchar(3)", 0, 3), "abc ") == "value_too_long");
  CHECK(exact(columnOf(db::Type::kText, "varchar(3)", 0, 3), "äöü") == "äöü");
  CHECK(exact(columnOf(db::Type::kBytes, "binary(4)", 0, 4), "AP8=") == std::string("\0\xff\0\0", 4));
  CHECK(exact(columnOf(db::Type::kBytes, "varbinary(4)", 0, 4), "AP8=") == std::string("\0\xff", 2));
}

TEST_CASE("members are as their column has them") {
  Column tags = columnOf(db::Type::kText, "set('sea','Air','öl')", 0, 3);
  tags.members = {"sea", "Air", "öl"};
  for (const auto& [text, kept] :
       std::initializer_list<std::pair<const char*, const char*>>{{"", ""},
                                                                  {"sea", "sea"},
                                                                  {"öl,AIR,sea", "sea,Air,öl"},
                                                                  {"air,sea,air", "sea,Air"},
                                                                  {"Air,", "Air"},
                                                                  {"ÖL", "ÖL"},
                                                                  {"ÖL,sea", "bad_value"},
                                                                  {"sea,fog", "bad_value"}})
    CHECK(exact(tags, text) == kept);
  tags.case_sensitive = true;
  CHECK(exact(tags, "air,sea") == "bad_value");
  Column kind = columnOf(db::Type::kText, "enum('a','b,a')", 0, 3);
  kind.members = {"a", "b,a"};
  CHECK(exact(kind, "A") == "a");
  CHECK(exact(kind, "b,a") == "b,a");
}

}  // namespace
