#include "http/router.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "http/host.h"

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
  RouteParams params;
  const Route& route = router.find(host, path, params);
  return &route == &route.site->fallback ? "none" : route.path;
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
      if (found(router.value(), host, path) != "none") return path[1] - '0';
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
  CHECK(found(no_default.value(), "c", "/1/") != "none");  // the first site
}

TEST_CASE("router: a site there must be", "[router]") {
  CHECK_FALSE(Router::build({}).ok());
}

TEST_CASE("router: longest hosts", "[router]") {
  const std::string longest(kMaxHostBytes, 'a');
  const auto router = build(site({"*"}, {"/1/"}), site({longest}, {"/2/"}));
  CHECK(found(router.value(), std::string(kMaxHostBytes, 'A'), "/2/") != "none");
  CHECK(found(router.value(), std::string(kMaxHostBytes + 1, 'A'), "/1/") != "none");
}

TEST_CASE("router: moved, it still finds", "[router]") {
  auto built = build(site({"short"}, {"/s/", "/e"}), site({"*.b"}, {"/w/"}));
  const Router router = std::move(built).value();
  CHECK(found(router, "short", "/s/x") == "/s/");
  CHECK(found(router, "short", "/e") == "/e");
  CHECK(found(router, "a.b", "/w/") == "/w/");
}

TEST_CASE("router: tens of thousands of prefixes agree with trying each", "[router][regression]") {
  std::vector<std::string> paths{"/"};
  for (int i = 0; i < 65535; ++i) {
    std::string path = "/";
    for (int part = i; part > 0; part /= 16)
      path += std::string(1 + part % 5, static_cast<char>('a' + part % 16)) + "/";
    paths.push_back(path + std::to_string(i) + "/");
  }
  const auto router = build(site({"*"}, paths));
  for (size_t i = 0; i < paths.size(); i += 997) {
    CHECK(found(router.value(), "x", paths[i] + "index.html") == paths[i]);
    const std::string deeper = paths[i].substr(0, paths[i].size() - 1) + "0x/y";
    std::string_view expected = "none";
    for (const std::string& path : paths) {
      const bool fits = deeper.compare(0, path.size(), path) == 0;
      if (fits && (expected == "none" || path.size() > expected.size())) expected = path;
    }
    CHECK(found(router.value(), "x", deeper) == expected);
  }
}

}  // namespace
}  // namespace roost::http
