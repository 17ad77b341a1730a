#include "modules/mysql/error_report.h"

#include <catch2/catch.hpp>

#include <string>

#include "tables/db_problem.h"

namespace roost::modules::mysql {
namespace {

db::Error refusal(uint32_t number, const char* sqlstate, const char* message) {
  return {db::ErrorKind::kStatement, number, sqlstate, message, 0};
}

TEST_CASE("what no client can mend is for the operator", "[mysql]") {
  using Kind = db::ErrorKind;
  struct Case {
    db::Error error;
    bool for_operator;
  };
  const Case cases[] = {
      {refusal(1142, "42000", ""), true},                   // forbidden
      {refusal(1146, "42S02", ""), true},                   // schema_changed
      {refusal(1114, "HY000", ""), true},                   // database_full
      {refusal(1290, "HY000", ""), true},                   // database_read_only
      {refusal(1030, "HY000", ""), true},                   // database_unavailable
      {refusal(1050, "42S01", ""), true},                   // database_error
      {refusal(1062, "23000", ""), false},                  // unique_violation
      {refusal(1264, "22003", ""), false},                  // value_out_of_range
      {refusal(1644, "45000", ""), false},                  // refused_by_database
      {refusal(1205, "HY000", ""), false},                  // lock_timeout
      {{Kind::kUnavailable, 2002, "HY000", "", 1}, false},  // the pool tells it
      {{Kind::kTimeout, 1317, "70100", "", 0}, false},
  };
  for (const Case& each : cases) {
    CAPTURE(each.error.number);
    CHECK(isForOperator(each.error, tables::problemOf(each.error, nullptr, false)) == each.for_operator);
  }
}

TEST_CASE("a report has the statement, and a message only where it quotes no values", "[mysql]") {
  const auto text = [](const db::Error& error, std::string_view statement) {
    return reportText("mysql_query /q", error, tables::problemOf(error, nullptr, false), statement);
  };
  CHECK(text(refusal(1142, "42000", "INSERT command denied to user 'a'@'b' for table `t`"),
             "INSERT INTO `t` (`a`) VALUES (?)") ==
        "mysql_query /q: the database refuses with 1142 (42000), answered 403 forbidden: INSERT command "
        "denied to "
        "user 'a'@'b' for table `t`; the statement: INSERT INTO `t` (`a`) VALUES (?)");
  CHECK(text(refusal(1105, "HY000", "Incorrect something: 'secret'"), "SELECT ?") ==
        "mysql_query /q: the database refuses with 1105 (HY000), answered 500 database_error; the statement: "
        "SELECT ?");
  CHECK(text(refusal(1105, "", ""), "") ==
        "mysql_query /q: the database refuses with 1105, answered 500 database_error");
  const std::string said = text(refusal(1105, "", ""), std::string(2000, 'x'));
  CHECK(said.size() < 700);
  CHECK(said.substr(said.size() - 5) == "xx...");
}

TEST_CASE("one cause is told once in a while, others at once", "[mysql]") {
  ReportGate gate;
  uint32_t held_back = 7;
  constexpr int64_t kNow = 1'000'000;
  CHECK(gate.admit(1, kNow, held_back));
  CHECK(held_back == 0);
  CHECK(!gate.admit(1, kNow, held_back));
  CHECK(!gate.admit(1, kNow + ReportGate::kPauseNs - 1, held_back));
  CHECK(gate.admit(2, kNow, held_back));
  CHECK(held_back == 0);
  CHECK(gate.admit(1, kNow + ReportGate::kPauseNs, held_back));
  CHECK(held_back == 2);
  CHECK(!gate.admit(1, kNow + ReportGate::kPauseNs + 1, held_back));
}

}  // namespace
}  // namespace roost::modules::mysql
