#include "tables/exposure.h"

#include <catch2/catch.hpp>

#include "unit/tables/hand_made.h"

namespace roost::tables {
namespace {

using Words = std::vector<std::string>;

struct Bound {
  explicit Bound(std::vector<TableConfig> tables) {
    auto config = std::make_shared<RestConfig>();
    config->tables = std::move(tables);
    exposure = expose(handMadeCatalog(), std::move(config), complaints);
  }
  std::vector<std::string> complaints;
  std::shared_ptr<const Exposure> exposure;
};

TEST_CASE("what the configuration names is shown, and nothing else", "[tables]") {
  TableConfig orders = shownTable("orders", kRead | kUpdate);
  orders.alias = "bookings";
  const Bound bound({orders});
  CHECK(bound.complaints.empty());
  CHECK(bound.exposure->tables.size() == 1);
  CHECK(bound.exposure->find("orders") == nullptr);
  CHECK(bound.exposure->find("customers") == nullptr);
  const ExposedTable* const table = bound.exposure->find("bookings");
  REQUIRE(table != nullptr);
  CHECK(table->name == "bookings");
  CHECK(table->table->name == "orders");
  CHECK(table->allows(kRead));
  CHECK(table->allows(kUpdate));
  CHECK(!table->allows(kInsert));
  CHECK(table->version == -1);
  // All columns but those that the database hides itself.
  CHECK(table->shown == std::vector<uint16_t>{0, 1, 2, 3, 4, 6});
  CHECK(table->find("secret") == nullptr);
  REQUIRE(table->find("sum") != nullptr);
  CHECK(!table->mayWrite(*table->find("sum")));
  // An AUTO_INCREMENT value is the database's to make. It names rows all the same.
  CHECK(!table->mayWrite(*table->find("id")));
  CHECK(table->mayName(*table->find("id")));
  CHECK(!table->mayName(*table->find("status")));
  REQUIRE(table->key() != nullptr);
  CHECK(table->key()->columns == std::vector<uint16_t>{0});
  orders.client_ids = true;
  const Bound chosen({orders});
  const ExposedTable& theirs = *chosen.exposure->find("bookings");
  CHECK(theirs.mayWrite(*theirs.find("id")));
  CHECK(!theirs.mayName(*theirs.find("id")));
}

TEST_CASE("columns are shown as they are named, in the table's order", "[tables]") {
  TableConfig orders = shownTable("orders");
  orders.columns = {"total", "secret", "status"};
  orders.read_only = {"status"};
  const Bound bound({orders});
  CHECK(bound.complaints.empty());
  const ExposedTable* const table = bound.exposure->find("orders");
  REQUIRE(table != nullptr);
  CHECK(table->shown == std::vector<uint16_t>{2, 4, 5});
  CHECK(table->find("id") == nullptr);
  CHECK(table->mayWrite(*table->find("secret")));
  CHECK(!table->mayWrite(*table->find("status")));
  CHECK(!table->mayWrite(*table->table->find("id")));
  CHECK(table->key() == nullptr);  // it is not shown
}

TEST_CASE("what does not fit is told, and the rest is served", "[tables]") {
  TableConfig orders = shownTable("orders");
  orders.columns = {"id", "colour"};
  orders.read_only = {"size"};
  orders.version = "changed";
  TableConfig none = shownTable("customers");
  none.columns = {"colour"};
  TableConfig parrots = shownTable("parrots");
  parrots.alias = "birds";
  const Bound bound({parrots, orders, none});
  CHECK(bound.complaints ==
        Words{"parrots as \"birds\": there is no such table or view", "orders: there is no column \"colour\"",
              "orders: there is no column \"size\"", "orders: there is no column \"changed\" for \"version\"",
              "customers: there is no column \"colour\"",
              "customers: none of its columns is there: it is not served"});
  CHECK(bound.exposure->tables.size() == 1);
  CHECK(bound.exposure->find("orders")->shown == std::vector<uint16_t>{0});
}

TEST_CASE("a table is not served without its fixed condition", "[tables]") {
  TableConfig orders = shownTable("orders");
  orders.columns = {"id"};
  orders.version = "total";
  SECTION("which may be of columns that are not shown") {
    orders.where = "tenant=eq.7&or=(secret.is.null,status.eq.open)";
    const Bound bound({orders});
    CHECK(bound.complaints.empty());
    const ExposedTable* const table = bound.exposure->find("orders");
    REQUIRE(table != nullptr);
    CHECK(table->fixed.where.size() == 2);
    CHECK(table->version == 4);
  }
  SECTION("one that cannot be read") {
    orders.where = "tenant=is_about.7";
    const Bound bound({orders});
    CHECK(bound.exposure->tables.empty());
    REQUIRE(bound.complaints.size() == 1);
    CHECK(bound.complaints[0].find("orders: \"where\" cannot be read, it is not served: ") == 0);
  }
  SECTION("one of columns that are not there") {
    orders.where = "tenant=eq.7&or=(id.eq.1,and(id.eq.2,colour.eq.3))";
    const Bound bound({orders});
    CHECK(bound.exposure->tables.empty());
    CHECK(bound.complaints == Words{"orders: there is no column \"colour\" for \"where\": it is not served"});
  }
  SECTION("one whose value the column cannot have") {
    orders.where = "tenant=eq.seven";
    const Bound bound({orders});
    CHECK(bound.exposure->tables.empty());
    REQUIRE(bound.complaints.size() == 1);
    CHECK(bound.complaints[0].find("seven") != std::string::npos);
  }
  SECTION("one that says more than which rows") {
    for (const char* const more : {"tenant=eq.7&limit=5", "order=id", "select=id", "distinct=true"}) {
      orders.where = more;
      const Bound bound({orders});
      CHECK(bound.exposure->tables.empty());
      CHECK(bound.complaints ==
            Words{"orders: \"where\" cannot be read, it is not served: only conditions may stand here"});
    }
  }
}

TEST_CASE("a view that cannot be written through is for reading alone", "[tables]") {
  const Bound bound({shownTable("totals", kAllMethods)});
  CHECK(bound.complaints == Words{"totals: a view that can only be read"});
  const ExposedTable* const table = bound.exposure->find("totals");
  REQUIRE(table != nullptr);
  CHECK(table->methods == kRead);
  CHECK(table->key() == nullptr);
}

TEST_CASE("through a view rows are not replaced", "[tables]") {
  auto catalog = handMadeCatalog();
  catalog->tables["totals"].updatable = true;
  auto config = std::make_shared<RestConfig>();
  config->tables = {shownTable("totals", kAllMethods)};
  std::vector<std::string> complaints;
  const auto exposure = expose(std::move(catalog), std::move(config), complaints);
  CHECK(complaints == Words{"totals: a view, for which there is no PUT"});
  CHECK(exposure->find("totals")->methods == (kAllMethods & ~kUpsert));
}

}  // namespace
}  // namespace roost::tables
