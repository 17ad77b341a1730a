#include "http/route_pattern.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace roost::http {
namespace {

using Names = std::vector<std::string>;

std::string errorOf(std::string_view path) {
  const Result<RoutePattern> pattern = RoutePattern::parse(path);
  return pattern.ok() ? "" : pattern.status().message();
}

TEST_CASE("route pattern: what a path is made of", "[routes]") {
  const RoutePattern about = RoutePattern::parse("/about").value();
  CHECK(about.isLiteral());
  CHECK_FALSE(about.is_prefix);
  CHECK(about.literalPath() == "/about");
  const RoutePattern root = RoutePattern::parse("/").value();
  CHECK(root.is_prefix);
  CHECK(root.segments.empty());
  CHECK(root.literalPath() == "/");
  const RoutePattern posts = RoutePattern::parse("/user/{id}/posts/{post_2}").value();
  CHECK_FALSE(posts.isLiteral());
  CHECK_FALSE(posts.is_prefix);
  CHECK(posts.names() == Names{"id", "post_2"});
  const RoutePattern file = RoutePattern::parse("/v1/file-{id}.json").value();
  REQUIRE(file.segments.size() == 2);
  CHECK(file.segments[1].before == "file-");
  CHECK(file.segments[1].name == "id");
  CHECK(file.segments[1].after == ".json");
  const RoutePattern rest = RoutePattern::parse("/old/{rest...}").value();
  CHECK(rest.is_prefix);
  CHECK(rest.rest_name == "rest");
  CHECK(rest.names() == Names{"rest"});
}

TEST_CASE("route pattern: doubled braces are characters", "[routes]") {
  const RoutePattern pattern = RoutePattern::parse("/a{{b}}/c").value();
  CHECK(pattern.isLiteral());
  CHECK(pattern.literalPath() == "/a{b}/c");
  const RoutePattern both = RoutePattern::parse("/{{{x}}}").value();
  REQUIRE(both.segments.size() == 1);
  CHECK(both.segments[0].before == "{");
  CHECK(both.segments[0].name == "x");
  CHECK(both.segments[0].after == "}");
}

TEST_CASE("route pattern: the same shape fits the same paths", "[routes]") {
  const auto shape = [](std::string_view path) { return RoutePattern::parse(path).value().shape(); };
  CHECK(shape("/a/{x}") == shape("/a/{y}"));
  CHECK(shape("/old/{rest...}") == shape("/old/"));
  CHECK(shape("/a-{x}") == shape("/a-{y}"));
  CHECK(shape("/a/{x}") != shape("/a/{x}/"));
  CHECK(shape("/a/{x}") != shape("/a/x"));
  CHECK(shape("/{x}a") != shape("/a{x}"));
  CHECK(shape("/{x}a") != shape("/{x}b"));
  CHECK(shape("/a") != shape("/a/"));
}

TEST_CASE("route pattern: other servers' patterns are refused with ours", "[routes][regression]") {
  CHECK(errorOf("/a/*") ==
        "path \"/a/*\": \"*\" is no wildcard here: \"/a/\" stands for everything below it (for the "
        "character itself use \"regex\")");
  CHECK(errorOf("/*").find("\"/\" stands for everything") != std::string::npos);
  CHECK(errorOf("/a/**").find("\"/a/\" stands for everything") != std::string::npos);
  CHECK(errorOf("/*.php").find("\"{name}\" stands for a part") != std::string::npos);
  CHECK(errorOf("/a/*/b").find("\"{name}\" stands for a part") != std::string::npos);
  CHECK(errorOf("/u/:id") ==
        "path \"/u/:id\": \":id\" stands for itself here: a part that varies is written "
        "\"{id}\" (for the character itself use \"regex\")");
  CHECK(errorOf("/:id/x").find("written \"{id}\"") != std::string::npos);
  for (const char* good : {"/v1/books:list", "/:", "/a/:1", "/$metadata", "/a$host"})
    CHECK(errorOf(good).empty());
}

TEST_CASE("route pattern: what is no path is refused in words", "[routes]") {
  CHECK(errorOf("") == "path \"\" does not begin with \"/\"");
  CHECK(errorOf("{x}/a") == "path \"{x}/a\" does not begin with \"/\"");
  CHECK(errorOf("/{a/b}").find("in the same segment") != std::string::npos);
  CHECK(errorOf("/a}").find("a \"}\" without its \"{\"") != std::string::npos);
  CHECK(errorOf("/{}").find("no name between its braces") != std::string::npos);
  CHECK(errorOf("/{id:[0-9]+}").find("use \"regex\"") != std::string::npos);
  CHECK(errorOf("/{1}").find("\"1\" is not a name") != std::string::npos);
  CHECK(errorOf("/{" + std::string(33, 'a') + "}").find("at most 32") != std::string::npos);
  CHECK(errorOf("/{a}-{b}").find("one segment cannot hold two names") != std::string::npos);
  CHECK(errorOf("/{a}/{a}") == "path \"/{a}/{a}\": \"a\" is named twice");
  CHECK(errorOf("/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}").find("9 names; a path has at most 8") !=
        std::string::npos);
  CHECK(errorOf("/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h...}").empty());
  CHECK(errorOf("/{rest...}/x").find("can only be the whole end") != std::string::npos);
  CHECK(errorOf("/a{rest...}").find("can only be the whole end") != std::string::npos);
  CHECK(errorOf("/{...}").find("is not a name") != std::string::npos);
  CHECK(errorOf("/{a}/../b").find("no request can have this path") != std::string::npos);
  CHECK(errorOf("/{a}//b").find("no request can have this path") != std::string::npos);
  CHECK(errorOf("/{a}?x").find("neither query nor fragment") != std::string::npos);
  CHECK(errorOf("/{a}/%20").find("written decoded") != std::string::npos);
  CHECK(errorOf(std::string("/a\0b", 4)).find("no request can have this path") != std::string::npos);
}

}  // namespace
}  // namespace roost::http
