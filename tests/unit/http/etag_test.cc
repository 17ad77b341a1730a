#include "http/etag.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "unit/http/head_builder.h"

namespace roost::http {
namespace {

using Tags = std::vector<std::string>;

Tags collect(EntityTagList list) {
  Tags tags;
  while (list.next()) tags.push_back((list.tag().weak ? "W:" : "S:") + std::string(list.tag().opaque));
  CHECK_FALSE(list.next());
  return tags;
}

Tags split(std::string_view value) {
  test::HeadBuilder builder(Method::kGet, {{FieldId::kIfMatch, value}});
  return collect(EntityTagList(builder.head(), FieldId::kIfMatch));
}

bool isAny(std::string_view value) {
  test::HeadBuilder builder(Method::kGet, {{FieldId::kIfMatch, value}});
  return EntityTagList(builder.head(), FieldId::kIfMatch).isAny();
}

TEST_CASE("parseEntityTag: RFC 9110 8.8.3") {
  REQUIRE(parseEntityTag("\"xyzzy\""));
  CHECK(parseEntityTag("\"xyzzy\"")->opaque == "xyzzy");
  CHECK_FALSE(parseEntityTag("\"xyzzy\"")->weak);
  CHECK(parseEntityTag("W/\"xyzzy\"")->weak);
  CHECK(parseEntityTag("\"\"")->opaque.empty());
  CHECK(parseEntityTag("W/\"\"")->weak);
  CHECK(parseEntityTag("\"a\\\"")->opaque == "a\\");
  CHECK(parseEntityTag("\"!#,\xc3\xa9~\"")->opaque == "!#,\xc3\xa9~");
  for (const char* bad :
       {"", "\"", "xyzzy", "\"xyzzy", "xyzzy\"", "w/\"a\"", "W\"a\"", "W/a", "W/", "W/\"", "\"a b\"",
        "\"a\tb\"", "\"a\"\"", "\"a\"b", " \"a\"", "\"a\" ", "\"a\x7f\"", "*", "'a'"}) {
    INFO(bad);
    CHECK_FALSE(parseEntityTag(bad));
  }
}

TEST_CASE("Entity tags: the table of RFC 9110 8.8.3.2") {
  const EntityTag w1{"1", true};
  const EntityTag w2{"2", true};
  const EntityTag s1{"1", false};
  CHECK_FALSE(strongMatch(w1, w1));
  CHECK(weakMatch(w1, w1));
  CHECK_FALSE(strongMatch(w1, w2));
  CHECK_FALSE(weakMatch(w1, w2));
  CHECK_FALSE(strongMatch(w1, s1));
  CHECK_FALSE(strongMatch(s1, w1));
  CHECK(weakMatch(w1, s1));
  CHECK(strongMatch(s1, s1));
  CHECK(weakMatch(s1, s1));
}

TEST_CASE("EntityTagList: one line") {
  CHECK(split("\"a\"") == Tags{"S:a"});
  CHECK(split("\"a\", W/\"b\",\"c\"") == Tags{"S:a", "W:b", "S:c"});
  CHECK(split("\"a,b\" , \"c\\\", \"d\"") == Tags{"S:a,b", "S:c\\", "S:d"});
  CHECK(split(", ,\"a\",,") == Tags{"S:a"});
  CHECK(split("").empty());
}

TEST_CASE("EntityTagList: a bad element hides no good one") {
  CHECK(split("x, \"a\"") == Tags{"S:a"});
  CHECK(split("\"a\"x, \"b\"") == Tags{"S:b"});
  CHECK(split("\"a b\", \"c\"") == Tags{"S:c"});
  CHECK(split("\"a\" \"b\", \"c\"") == Tags{"S:c"});
  CHECK(split("w/\"a\", \"b\"") == Tags{"S:b"});
  CHECK(split("\"a").empty());
  CHECK(split("W/, \"b\"") == Tags{"S:b"});
}

TEST_CASE("EntityTagList: several lines (RFC 9110 5.3)") {
  test::HeadBuilder builder(Method::kGet, {{FieldId::kIfNoneMatch, "\"a\", \"b"},
                                           {FieldId::kHost, "x"},
                                           {FieldId::kIfNoneMatch, ""},
                                           {FieldId::kIfNoneMatch, "W/\"c\""}});
  CHECK(collect(EntityTagList(builder.head(), FieldId::kIfNoneMatch)) == Tags{"S:a", "W:c"});
  CHECK(collect(EntityTagList(builder.head(), FieldId::kIfMatch)).empty());
}

TEST_CASE("EntityTagList: any (RFC 9110 13.1.1)") {
  CHECK(isAny("*"));
  CHECK(split("*").empty());
  CHECK_FALSE(isAny("\"*\""));
  CHECK_FALSE(isAny("*, \"a\""));
  CHECK(split("*, \"a\"") == Tags{"S:a"});
  CHECK_FALSE(isAny("**"));
  CHECK_FALSE(isAny(""));
  test::HeadBuilder two(Method::kGet, {{FieldId::kIfMatch, "*"}, {FieldId::kIfMatch, "*"}});
  CHECK_FALSE(EntityTagList(two.head(), FieldId::kIfMatch).isAny());
}

TEST_CASE("makeFileEtag: time and size, nothing else") {
  const int64_t mtime = 1763634306123456789;
  const int64_t later = mtime + 10 * kStillNs;
  CHECK(makeFileEtag(mtime, 612, mtime, later).view() == "\"1879b00eaa2e6115-264\"");
  CHECK(makeFileEtag(0, 0, 0, later).view() == "\"0-0\"");
  CHECK(makeFileEtag(mtime, 1, mtime, later).view() != makeFileEtag(mtime, 2, mtime, later).view());
  CHECK(makeFileEtag(mtime, 1, mtime, later).view() != makeFileEtag(mtime + 1, 1, mtime, later).view());
}

TEST_CASE("makeFileEtag: weak until the file has been still (RFC 9110 8.8.1)") {
  const int64_t mtime = 1763634306000000000;
  CHECK(makeFileEtag(mtime, 1, mtime, mtime).weak);
  CHECK(makeFileEtag(mtime, 1, mtime, mtime + kStillNs - 1).weak);
  CHECK_FALSE(makeFileEtag(mtime, 1, mtime, mtime + kStillNs).weak);
  CHECK(makeFileEtag(mtime, 1, mtime, mtime - 1).weak);
  CHECK(makeFileEtag(mtime, 1, mtime + 5 * kStillNs, mtime + 5 * kStillNs + 1).weak);
  CHECK(makeFileEtag(0, 1, INT64_MIN, INT64_MAX).weak == false);
  const FileEtag weak = makeFileEtag(mtime, 1, mtime, mtime);
  const FileEtag strong = makeFileEtag(mtime, 1, mtime, mtime + kStillNs);
  CHECK(std::string(weak.view()) == "W/" + std::string(strong.view()));
}

TEST_CASE("makeFileEtag: the longest text fits and reads back") {
  const FileEtag etag = makeFileEtag(-1, UINT64_MAX, 0, 0);
  CHECK(etag.view() == "W/\"ffffffffffffffff-ffffffffffffffff\"");
  REQUIRE(parseEntityTag(etag.view()));
  CHECK(parseEntityTag(etag.view())->weak);
}

}  // namespace
}  // namespace roost::http
