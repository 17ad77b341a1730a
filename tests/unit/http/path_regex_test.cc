#include "http/path_regex.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace roost::http {
namespace {

using Names = std::vector<std::string>;

PathRegexList listOf(const std::vector<std::string>& texts) {
  std::vector<PathRegex> regexes;
  for (const std::string& text : texts) regexes.push_back(PathRegex::compile(text).value());
  return PathRegexList::build(std::move(regexes)).value();
}

size_t find(const PathRegexList& list, std::string_view path) {
  Captures captures;
  return list.find(path, captures);
}

TEST_CASE("path regex: groups have names or numbers", "[routes]") {
  const PathRegex regex = PathRegex::compile("^/(?P<year>[0-9]+)/(?:x|y)/([a-z]+)(/.*)?$").value();
  CHECK(regex.names() == Names{"year", "2", "3"});
  Captures captures;
  REQUIRE(regex.match("/2026/x/abc", captures));
  CHECK(captures.get("year") == "2026");
  CHECK(captures.get("2") == "abc");
  CHECK(captures.get("3").empty());
  CHECK(captures.has("3"));
  CHECK_FALSE(captures.has("4"));
  CHECK(captures.get("4").empty());
  CHECK_FALSE(regex.match("/2026/z/abc", captures));
  CHECK(Captures{}.get("1").empty());
}

TEST_CASE("path regex: paths are bytes", "[routes]") {
  Captures captures;
  const PathRegex any = PathRegex::compile("^/x/([^/]+)$").value();
  REQUIRE(any.match("/x/\xff\xc3(", captures));
  CHECK(captures.get("1") == "\xff\xc3(");
  CHECK(PathRegex::compile("^/\xc3\xbc$").value().match("/\xc3\xbc", captures));
  CHECK(PathRegex::compile("^/..$").value().match("/\xc3\xbc", captures));
}

TEST_CASE("path regex: what is none is refused in words", "[routes]") {
  const auto error = [](const std::string& text) {
    const auto made = PathRegex::compile(text);
    return made.ok() ? "" : made.status().message();
  };
  CHECK(error("^/(a").find("\"^/(a\" is not a regular expression: missing ): ^/(a") == 0);
  CHECK(error("(a)\\1").find("invalid escape sequence") != std::string::npos);
  CHECK(error("(a)(b)(c)(d)(e)(f)(g)(h)(i)").find("has 9 groups; at most 8") != std::string::npos);
  CHECK(error("((((a{100}){100}){100}){100})").find("not a regular expression") != std::string::npos);
  CHECK(error("(?:" + std::string(900, 'a') + "){1000}").find("too large") != std::string::npos);
}

TEST_CASE("path regex: what every fitting path begins with", "[routes]") {
  const auto prefix = [](const char* text) { return PathRegex::compile(text).value().prefix(); };
  CHECK(prefix("^/old/(.*)$") == "/old/");
  CHECK(prefix("^/feed\\.xml$") == "/feed.xml");
  CHECK(prefix("^/ab*") == "/a");
  CHECK(prefix("^/ab?c") == "/a");
  CHECK(prefix("^/ab{2}") == "/a");
  CHECK(prefix("^/a(b|c)") == "/a");
  CHECK(prefix("^/a[|]b") == "/a");
  CHECK(prefix("^/a[]|]b") == "/a");
  CHECK(prefix("^/a[[:alpha:]|]b") == "/a");
  CHECK(prefix("^/a\\|b") == "/a");
  CHECK(prefix("^/a|b").empty());
  CHECK(prefix("^/a[(]b|c").empty());
  CHECK(prefix("^/a\\(b|c").empty());
  CHECK(prefix("^/a\\Q[(\\E|c").empty());
  CHECK(prefix("/a").empty());
  CHECK(prefix("(?i)^/a").empty());
  CHECK(prefix("^?/a").empty());
  CHECK(prefix("\\.php$").empty());
}

TEST_CASE("path regex list: the first that fits, few or many", "[routes]") {
  for (const size_t more : {0, 100}) {
    CAPTURE(more);
    std::vector<std::string> texts{"^/a/(\\d+)$", "^/a/", "^/b/x$"};
    for (size_t i = 0; i < more; ++i) texts.push_back("^/n" + std::to_string(i) + "/");
    const PathRegexList anchored = listOf(texts);
    CHECK(find(anchored, "/a/5") == 0);
    CHECK(find(anchored, "/a/x") == 1);
    CHECK(find(anchored, "/b/x") == 2);
    CHECK(find(anchored, "/b/") == PathRegexList::kNone);
    CHECK(find(anchored, "/") == PathRegexList::kNone);
    CHECK(find(anchored, "/zzz") == PathRegexList::kNone);
    if (more > 0) CHECK(find(anchored, "/n42/x") == 3 + 42);
    texts.push_back("\\.php$");
    const PathRegexList mixed = listOf(texts);
    CHECK(find(mixed, "/x.php") == texts.size() - 1);
    CHECK(find(mixed, "/a/x.php") == 1);
    CHECK(find(mixed, "/x.html") == PathRegexList::kNone);
  }
  CHECK(find(PathRegexList(), "/a") == PathRegexList::kNone);
}

TEST_CASE("path regex list: no more than can be", "[routes]") {
  std::vector<PathRegex> many;
  for (size_t i = 0; i <= PathRegexList::kMost; ++i) many.push_back(PathRegex::compile("a").value());
  CHECK(PathRegexList::build(std::move(many)).status().message() ==
        "1025 regular expressions; at most 1024 can be");
}

}  // namespace
}  // namespace roost::http
