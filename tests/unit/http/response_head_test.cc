#include "http/response_head.h"

#include <catch2/catch.hpp>
#include <string>

namespace roost::http {
namespace {

TEST_CASE("response head: lines in wire form", "[response_head]") {
  ResponseHead head(200);
  head.add("Content-Type", "text/html");
  head.addNumber("Age", 18446744073709551615ULL);
  head.add("X-Empty", "");
  CHECK(head.lines() == "Content-Type: text/html\r\nAge: 18446744073709551615\r\nX-Empty: \r\n");
  CHECK(head.get("content-TYPE") == "text/html");
  CHECK(head.has("x-empty"));
  CHECK_FALSE(head.has("x-emptyy"));
  CHECK(head.get("missing").empty());
  CHECK(head.content_length == ResponseHead::kUnknownLength);
}

TEST_CASE("response head: removing takes all lines of a name and leaves the rest right", "[response_head]") {
  ResponseHead head(200);
  head.add("A", "1");
  head.add("B", "22");
  head.add("a", "333");
  head.add("C", "4444");
  head.remove("A");
  CHECK(head.lines() == "B: 22\r\nC: 4444\r\n");
  CHECK(head.get("B") == "22");
  CHECK(head.get("c") == "4444");
  head.remove("missing");
  head.add("D", "5");
  std::string seen;
  head.forEach([&](std::string_view name, std::string_view value) {
    seen.append(name).append("=").append(value).append(";");
  });
  CHECK(seen == "B=22;C=4444;D=5;");
}

TEST_CASE("response head: many and long lines, and copies", "[response_head]") {
  ResponseHead head(200);
  for (int i = 0; i < 100; ++i)
    head.add("Name-" + std::to_string(i), std::string(50, static_cast<char>('a' + i % 26)));
  const ResponseHead copy = head;
  for (int i = 0; i < 100; i += 2) head.remove("name-" + std::to_string(i));
  for (int i = 0; i < 100; ++i) {
    CHECK(head.has("Name-" + std::to_string(i)) == (i % 2 == 1));
    CHECK(copy.get("Name-" + std::to_string(i)) == std::string(50, static_cast<char>('a' + i % 26)));
  }
}

}  // namespace
}  // namespace roost::http
