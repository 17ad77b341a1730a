#include "http/glob.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <string_view>

namespace roost::http {
namespace {

// By the definition, however long it takes.
bool naive(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.substr(0, 2) == "**") {
    return naive(pattern.substr(2), text) || (!text.empty() && naive(pattern, text.substr(1)));
  }
  if (pattern[0] == '*') {
    return naive(pattern.substr(1), text) ||
           (!text.empty() && text[0] != '/' && naive(pattern, text.substr(1)));
  }
  if (text.empty() || (pattern[0] != text[0] && (pattern[0] != '?' || text[0] == '/'))) return false;
  return naive(pattern.substr(1), text.substr(1));
}

TEST_CASE("glob: patterns of paths", "[http]") {
  CHECK(globMatches("/a/*.js", "/a/x.js"));
  CHECK_FALSE(globMatches("/a/*.js", "/a/b/x.js"));
  CHECK(globMatches("/a/**.js", "/a/b/x.js"));
  CHECK(globMatches("/a/**", "/a/"));
  CHECK_FALSE(globMatches("/a/**", "/a"));
  CHECK(globMatches("/?", "/x"));
  CHECK_FALSE(globMatches("/a?b", "/a/b"));
  CHECK(globMatches("*.css", "/deep/er/x.css"));
  CHECK_FALSE(globMatches("*.css", "/x.css/y"));
  CHECK(globMatches("**/missing", "/a/b/missing"));
  CHECK(globMatches("/[x]", "/[x]"));
  CHECK_FALSE(globMatches("/a", "/a/"));
}

TEST_CASE("glob: as the definition says", "[http]") {
  std::mt19937 random(7);
  const auto text = [&random](std::string_view letters, size_t most) {
    std::string out(random() % (most + 1), 'x');
    for (char& c : out) c = letters[random() % letters.size()];
    return out;
  };
  for (int i = 0; i < 200'000; ++i) {
    const std::string pattern = "/" + text("ab/*?", 7);
    const std::string path = "/" + text("ab/", 8);
    if (globMatches(pattern, path) != naive(pattern, path)) {
      FAIL(pattern << " " << path);
    }
  }
}

TEST_CASE("glob: a long path takes no time to speak of", "[http]") {
  const std::string path = "/" + std::string(8000, 'a');
  CHECK_FALSE(globMatches("/**a*a*a*a*a*a*a*a*b", path));
  CHECK(globMatches("/**a**a**a**a**", path));
}

}  // namespace
}  // namespace roost::http
