#include "config/schema.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "unit/config/fixture.h"

using namespace roost;
using namespace roost::config;
using namespace roost::config::test;

TEST_CASE("the schema of the built-in modules is the file that editors use", "[config]") {
  const std::string path = "conf/server.schema.json";
  if (std::getenv("ROOST_UPDATE") != nullptr) std::ofstream(path) << fullSchema().text();
  REQUIRE(fileText(path) == fullSchema().text());
}
