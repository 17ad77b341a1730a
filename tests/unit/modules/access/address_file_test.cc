#include "modules/access/address_file.h"

#include <catch2/catch.hpp>
#include <string>

namespace roost::modules::access {
namespace {

TEST_CASE("access: lines of an address file", "[access]") {
  const auto lines =
      parseAddressLines("# first\n10.0.0.0/8\r\n\n \t2001:db8::/32 # why\nunix#\n192.0.2.7", "f");
  REQUIRE(lines.ok());
  REQUIRE(lines->size() == 4);
  CHECK(lines->at(0).network.toString() == "10.0.0.0/8");
  CHECK(lines->at(0).line == 2);
  CHECK(lines->at(1).network.toString() == "2001:db8::/32");
  CHECK(lines->at(1).line == 4);
  CHECK(lines->at(2).network.toString() == "unix");
  CHECK(lines->at(3).network.toString() == "192.0.2.7");
  CHECK(lines->at(3).line == 6);
  CHECK(parseAddressLines("", "f")->empty());
}

TEST_CASE("access: the error names file and line, and counts the others", "[access]") {
  const auto one = parseAddressLines("10.0.0.0/8\n10.0.0.1/8\n", "dir/f.txt");
  REQUIRE_FALSE(one.ok());
  CHECK(one.status().message().find("dir/f.txt:2: \"10.0.0.1/8\" ") == 0);
  CHECK(one.status().message().find("10.0.0.0/8") != std::string::npos);
  const auto more = parseAddressLines("x\n10.0.0.0/8\ny\nz", "f");
  REQUIRE_FALSE(more.ok());
  CHECK(more.status().message().find("f:1: \"x\" ") == 0);
  CHECK(more.status().message().find("(and 2 more such lines)") != std::string::npos);
  CHECK_FALSE(readAddressFile("/nonexistent/file").ok());
}

}  // namespace
}  // namespace roost::modules::access
