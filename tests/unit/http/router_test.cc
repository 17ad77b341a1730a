#include "http/router.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

namespace roost::http {
namespace {

std::unique_ptr<Site> site(std::vector<std::string> hosts, const std::vector<std::string>& paths) {
  auto made = std::make_unique<Site>();
  made->hosts = std::move(hosts);
  for (const std::string& path : paths) {
    made->routes.push_back(std::make_unique<Route>());
    made->routes.back()->path = path;
  }
  return made;
}

template <class... Sites>
Result<Router> build(Sites... sites) {
  std::vector<std::unique_ptr<Site>> all;
  (all.push_back(std::move(sites)), ...);
  return Router::build(std::move(all));
}

std::string found(const Router& router, std::string_view host, std::string_view path) {
  const Route* route = router.find(host, path);
  return route == nullptr ? "none" : route->path;
}

TEST_CASE("router: the longest path that fits", "[router]") {
  const auto router = build(site({"*"}, {"/", "/docs/", "/docs/api/", "/docs", "/about"}));
  REQUIRE(router.ok());
  CHECK(found(router.value(), "", "/") == "/");
  CHECK(found(router.value(), "x", "/docs") == "/docs");
  CHECK(found(router.value(), "x", "/docs/") == "/docs/");
  CHECK(found(router.value(), "x", "/docs/a") == "/docs/");
  CHECK(found(router.value(), "x", "/docs/api") == "/docs/");
  CHECK(found(router.value(), "x", "/docs/api/v1") == "/docs/api/");
  CHECK(found(router.value(), "x", "/about") == "/about");
  CHECK(found(router.value(), "x", "/about/") == "/");
  CHECK(found(router.value(), "x", "/aboutus") == "/");
  CHECK(found(router.value(), "x", "*") == "none");
  const auto bare = build(site({"*"}, {"/a/"}));
  CHECK(found(bare.value(), "x", "/a") == "none");
}

TEST_CASE("router: exact host, then the longest wildcard, then the default", "[router]") {
  const auto router =
      build(site({"first.example"}, {"/1/"}), site({"example.org", "www.example.org"}, {"/2/"}),
            site({"*.example.org"}, {"/3/"}), site({"*.deep.example.org"}, {"/4/"}), site({"*"}, {"/5/"}));
  REQUIRE(router.ok());
  const auto which = [&](std::string_view host) {
    for (const char* path : {"/1/", "/2/", "/3/", "/4/", "/5/"}) {
      if (router.value().find(host, path) != nullptr) return path[1] - '0';
    }
    return 0;
  };
  CHECK(which("first.example") == 1);
  CHECK(which("example.org") == 2);
  CHECK(which("EXAMPLE.ORG") == 2);
  CHECK(which("example.org.") == 2);
  CHECK(which("www.example.org") == 2);
  CHECK(which("a.example.org") == 3);
  CHECK(which("deep.example.org") == 3);
  CHECK(which("a.b.deep.example.org") == 4);
  CHECK(which("otherexample.org") == 5);
  CHECK(which("") == 5);
  CHECK(which(std::string(5000, 'a')) == 5);
  CHECK(which(".") == 5);
  const auto no_default = build(site({"a"}, {"/1/"}), site({"b"}, {"/2/"}));
  CHECK(no_default.value().find("c", "/1/") != nullptr);  // the first site
}

TEST_CASE("router: what is named twice is an error", "[router]") {
  CHECK_FALSE(Router::build({}).ok());
  CHECK_FALSE(build(site({"a"}, {}), site({"a"}, {})).ok());
  CHECK_FALSE(build(site({"*"}, {}), site({"*"}, {})).ok());
  CHECK_FALSE(build(site({"*.a"}, {}), site({"*.a"}, {})).ok());
  CHECK_FALSE(build(site({"*"}, {"/a/", "/a/"})).ok());
  const auto twice = build(site({"*"}, {"/a", "/a"}));
  REQUIRE_FALSE(twice.ok());
  CHECK(twice.status().message().find("/a") != std::string::npos);
}

}  // namespace
}  // namespace roost::http
