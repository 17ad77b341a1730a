// What the database says, and what its clients are told.
#include "tables/db_problem.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "unit/tables/sample_schema.h"

namespace {

using namespace roost;          // NOLINT
using namespace roost::tables;  // NOLINT

std::string told(uint32_t number, const char* sqlstate, const char* message, const char* table = "orders") {
  static const auto exposure = test::sampleExposure();
  const db::Error error{db::ErrorKind::kStatement, number, sqlstate, message, 0};
  const Problem problem = problemOf(error, table == nullptr ? nullptr : exposure->find(table), true);
  CHECK(problem.sqlstate == sqlstate);
  return fmt::format("{} {}: {} +{}", problem.status, problem.code, problem.detail, retryAfter(error));
}

TEST_CASE("statements that the server refuses") {
  CHECK(told(1062, "23000", "Duplicate entry 'for key 'secret'' for key 'PRIMARY'") ==
        "409 unique_violation: there is another row with these values (id of key \"PRIMARY\") +0");
  CHECK(told(1062, "23000", "Duplicate entry '1' for key 'orders.PRIMARY'") ==
        "409 unique_violation: there is another row with these values (id of key \"PRIMARY\") +0");
  CHECK(told(1062, "23000", "Duplicate entry '1' for key 'hidden'") ==
        "409 unique_violation: there is another row with these values +0");
  CHECK(told(1452, "23000",
             "Cannot add or update a child row: a foreign key constraint fails (`shop`.`orders`, CONSTRAINT "
             "`orders_customer` FOREIGN KEY (`customer_id`) REFERENCES `customers` (`id`))") ==
        "409 foreign_key_violation: a row that is referred to does not exist (customer_id of foreign key "
        "\"orders_customer\") +0");
  CHECK(told(1451, "23000", "Cannot delete or update a parent row") ==
        "409 foreign_key_violation: other rows refer to this one +0");
  CHECK(told(1048, "23000", "Column 'note' cannot be null") ==
        "400 not_null_violation: a value is needed (column \"note\") +0");
  CHECK(told(1364, "HY000", "Field 'customer_id' doesn't have a default value") ==
        "400 not_null_violation: a value is needed (column \"customer_id\") +0");
  // What is not shown has no name, whatever a value makes of the message.
  CHECK(told(1364, "HY000", "Field 'tenant' doesn't have a default value") ==
        "400 not_null_violation: a value is needed +0");
  CHECK(told(1366, "22007", "Incorrect integer value: 'x' for column `shop`.`orders`.`tenant` at row 1") ==
        "400 bad_value: a value is not of its column's type +0");
  CHECK(told(1366, "22007",
             "Incorrect integer value: 'for column `note` at row 1' for column `shop`.`orders`.`total` at "
             "row 1") == "400 bad_value: a value is not of its column's type (column \"total\") +0");
  CHECK(told(1406, "22001", "Data too long for column 'note' at row 2") ==
        "400 value_too_long: a value is longer than its column holds (column \"note\") +0");
  CHECK(told(1264, "22003", "Out of range value for column 'total' at row 1") ==
        "400 value_out_of_range: a value is out of its column's range (column \"total\") +0");
  CHECK(told(4025, "23000", "CONSTRAINT `orders.total` failed for `shop`.`orders`") ==
        "400 check_violation: a row does not pass a check of its table (column \"total\") +0");
  CHECK(told(4025, "23000", "CONSTRAINT `tenant` failed for `shop`.`orders`") ==
        "400 check_violation: a row does not pass a check of its table +0");
  CHECK(told(1142, "42000", "INSERT command denied to user 'a'@'b' for table `shop`.`orders`") ==
        "403 forbidden: the server's database account may not do this +0");
  CHECK(told(1054, "42S22", "Unknown column 'x' in 'SET'", nullptr) ==
        "503 schema_changed: the schema has changed just now +1");
  CHECK(told(1213, "40001", "Deadlock found") == "409 deadlock: another write was in the way of this one +1");
  CHECK(told(1205, "HY000", "Lock wait timeout exceeded") ==
        "503 lock_timeout: rows that are needed were locked for too long +1");
  CHECK(told(1290, "HY000", "running with the --read-only option") ==
        "503 database_read_only: the database takes no writes at the moment +1");
  CHECK(told(9999, "22999", "SELECT secret") == "400 bad_value: a value is not of its column's type +0");
  CHECK(told(9999, "45000", "no") == "400 refused_by_database: the database refuses this write +0");
  CHECK(told(9999, "XX000", "SELECT secret") ==
        "500 database_error: the database could not carry this out +0");
  CHECK(told(9999, "", "SELECT secret") == "500 database_error: the database could not carry this out +0");
}

TEST_CASE("other ends of statements") {
  const auto told_of = [](db::ErrorKind kind, bool wrote, uint32_t again = 0) {
    db::Error error;
    error.kind = kind;
    error.retry_after_s = again;
    const Problem problem = problemOf(error, nullptr, wrote);
    return fmt::format("{} {} +{}", problem.status, problem.code, retryAfter(error));
  };
  using Kind = db::ErrorKind;
  CHECK(told_of(Kind::kTimeout, true) == "504 query_timeout +0");
  CHECK(told_of(Kind::kLost, false) == "503 database_unavailable +1");
  CHECK(told_of(Kind::kLost, true) == "503 outcome_unknown +1");
  CHECK(told_of(Kind::kUnavailable, true, 8) == "503 database_unavailable +8");
  CHECK(told_of(Kind::kQueueFull, true) == "503 pool_full +1");
  CHECK(told_of(Kind::kQueueTimeout, true) == "504 pool_timeout +1");
  CHECK(told_of(Kind::kTooLarge, true) == "413 too_large +0");
  CHECK(told_of(Kind::kShutdown, true) == "503 shutting_down +1");
}

TEST_CASE("a client is told why there is no schema, and nothing of account, host or SQL") {
  const auto told_of = [](db::ErrorKind kind, uint32_t number, const char* message = "") {
    const Problem problem = schemaProblemOf({kind, number, "42S02", message, 0});
    CHECK(problem.status == 503);
    CHECK(problem.code == "schema_unavailable");
    CHECK(problem.hint == "The server's log says more.");
    return problem.detail;
  };
  using Kind = db::ErrorKind;
  CHECK(told_of(Kind::kStatement, 1109, "Unknown table 'CHECK_CONSTRAINTS' in information_schema") ==
        "the schema cannot be read: reading it was refused (error 1109)");
  CHECK(told_of(Kind::kUnavailable, 1045, "Access denied for user 'shop'@'10.0.0.7'") ==
        "the schema cannot be read: the database does not let the server's account in (error 1045)");
  CHECK(told_of(Kind::kUnavailable, 1049, "Unknown database 'shop'") ==
        "the schema cannot be read: the database server has no database of the configured name (error 1049)");
  CHECK(told_of(Kind::kUnavailable, 1040) ==
        "the schema cannot be read: the database takes no more connections (error 1040)");
  CHECK(told_of(Kind::kUnavailable, 2002, "Can't connect to server on '10.0.0.7'") ==
        "the schema cannot be read: the database cannot be reached (error 2002)");
  CHECK(told_of(Kind::kTimeout, 1969) == "the schema cannot be read: reading it took too long (error 1969)");
  CHECK(told_of(Kind::kLost, 2013) ==
        "the schema cannot be read: the connection to the database was lost (error 2013)");
  CHECK(told_of(Kind::kStatement, 0, "the schema changed while it was read") ==
        "the schema cannot be read: the schema changed while it was read");
}

}  // namespace
