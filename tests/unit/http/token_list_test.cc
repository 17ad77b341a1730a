#include "http/token_list.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "unit/http/head_builder.h"

namespace roost::http {
namespace {

using Elements = std::vector<std::string>;

Elements collect(TokenList list) {
  Elements elements;
  while (list.next()) elements.emplace_back(list.element());
  CHECK_FALSE(list.next());  // the end stays the end
  return elements;
}

Elements split(std::string_view value) {
  return collect(TokenList(value));
}

TEST_CASE("TokenList: elements and whitespace (RFC 9110 5.6.1)") {
  CHECK(split("a") == Elements{"a"});
  CHECK(split("a,b") == Elements{"a", "b"});
  CHECK(split(" a ,\tb\t, c ") == Elements{"a", "b", "c"});
  CHECK(split("a b, c") == Elements{"a b", "c"});
  CHECK(split("gzip;q=0.5, br") == Elements{"gzip;q=0.5", "br"});
}

TEST_CASE("TokenList: empty elements are skipped (RFC 9110 5.6.1.2)") {
  CHECK(split("").empty());
  CHECK(split(",").empty());
  CHECK(split(" , ,\t,").empty());
  CHECK(split(",a,,b,") == Elements{"a", "b"});
}

TEST_CASE("TokenList: quoted strings (RFC 9110 5.6.4)") {
  CHECK(split("\"a,b\", c") == Elements{"\"a,b\"", "c"});
  CHECK(split("x=\"a\\\",b\", c") == Elements{"x=\"a\\\",b\"", "c"});
  CHECK(split("x=\"a\\\\\", c") == Elements{"x=\"a\\\\\"", "c"});
  CHECK(split("a\\,b") == Elements{"a\\", "b"});  // a backslash means something only inside
  CHECK(split("\"a,b, c") == Elements{"\"a,b, c"});
  CHECK(split("\"a\\") == Elements{"\"a\\"});
  CHECK(split("\"\"") == Elements{"\"\""});
}

TEST_CASE("TokenList: several field lines are one list (RFC 9110 5.3)") {
  test::HeadBuilder builder(Method::kGet, {{FieldId::kConnection, "a, b"},
                                           {FieldId::kHost, "x"},
                                           {FieldId::kConnection, ""},
                                           {FieldId::kConnection, ",c,"},
                                           {FieldId::kUpgrade, "u"},
                                           {FieldId::kConnection, "d"}});
  CHECK(collect(TokenList(builder.head(), FieldId::kConnection)) == Elements{"a", "b", "c", "d"});
  CHECK(collect(TokenList(builder.head(), FieldId::kUpgrade)) == Elements{"u"});
  CHECK(collect(TokenList(builder.head(), FieldId::kTe)).empty());
}

TEST_CASE("TokenList: an open quoted-string ends with its line") {
  test::HeadBuilder builder(Method::kGet, {{FieldId::kAccept, "\"a, b"}, {FieldId::kAccept, "c, d"}});
  CHECK(collect(TokenList(builder.head(), FieldId::kAccept)) == Elements{"\"a, b", "c", "d"});
}

TEST_CASE("equalsToken: in any case, and whole") {
  CHECK(equalsToken("Upgrade", "uPGRADE"));
  CHECK(equalsToken("", ""));
  CHECK_FALSE(equalsToken("closed", "close"));
  CHECK_FALSE(equalsToken("clos", "close"));
  CHECK_FALSE(equalsToken("a[", "a{"));  // they differ in the case bit, but are no letters
  CHECK_FALSE(equalsToken("\xc3", "\xe3"));
}

}  // namespace
}  // namespace roost::http
