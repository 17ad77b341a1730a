#include "http/route_table.h"

#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "http/router.h"
#include "unit/http/naive_routes.h"

namespace roost::http {
namespace {

// A route that begins with '^' or ends with '$' is an expression.
class Table {
 public:
  explicit Table(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      auto route = std::make_unique<Route>();
      route->path = path;
      route->is_regex = path[0] == '^' || path.back() == '$';
      naive_.push_back({path, route->is_regex});
      routes_.push_back(std::move(route));
    }
    table_ = std::make_unique<RouteTable>(RouteTable::build(routes_).value());
  }
  // "path name=value name=value", or "none".
  std::string find(std::string_view path) const {
    RouteParams params;
    const Route* route = table_->find(path, params);
    if (route == nullptr) return "none";
    std::string out = route->path;
    for (size_t i = 0; i < params.count; ++i) {
      const RouteParams::Param& param = params.params[i];
      out += ' ' + std::string(param.name) + '=' + std::string(path.substr(param.off, param.len));
    }
    return out;
  }
  std::string naive(std::string_view path) const {
    const auto found = test::naiveFind(naive_, path);
    if (!found.has_value()) return "none";
    const Route& route = *routes_[found->index];
    std::string out = route.path;
    for (size_t i = 0; i < found->values.size(); ++i)
      out += ' ' + route.param_names[i] + '=' + found->values[i];
    return out;
  }

 private:
  std::vector<test::NaiveRoute> naive_;
  std::vector<std::unique_ptr<Route>> routes_;
  std::unique_ptr<RouteTable> table_;
};

TEST_CASE("route table: names stand for segments and parts of them", "[routes]") {
  const Table table({"/user/{id}", "/user/{id}/posts", "/u/{id}/", "/file-{id}.json", "/old/{rest...}"});
  CHECK(table.find("/user/5") == "/user/{id} id=5");
  CHECK(table.find("/user/5/posts") == "/user/{id}/posts id=5");
  CHECK(table.find("/user/") == "none");
  CHECK(table.find("/user/5/") == "none");
  CHECK(table.find("/user/5/post") == "none");
  CHECK(table.find("/user//posts") == "none");
  CHECK(table.find("/u/7/") == "/u/{id}/ id=7");
  CHECK(table.find("/u/7/a/b") == "/u/{id}/ id=7");
  CHECK(table.find("/u/7") == "none");
  CHECK(table.find("/file-12.json") == "/file-{id}.json id=12");
  CHECK(table.find("/file-.json") == "none");
  CHECK(table.find("/file-12.jso") == "none");
  CHECK(table.find("/old/") == "/old/{rest...} rest=");
  CHECK(table.find("/old/a/b") == "/old/{rest...} rest=a/b");
  CHECK(table.find("/old") == "none");
  CHECK(table.find("/") == "none");
  CHECK(table.find("*") == "none");
  CHECK(table.find("") == "none");
}

TEST_CASE("route table: the most specific answers", "[routes]") {
  const Table table({"/", "/{a}/", "/docs/", "/docs/{page}", "/docs/index", "/docs/{page}/edit",
                     "/{a}/{b}/edit", "/docs/v{n}", "/docs/v{n}.html", "/docs/ver{n}"});
  CHECK(table.find("/docs/index") == "/docs/index");
  CHECK(table.find("/docs/other") == "/docs/{page} page=other");
  CHECK(table.find("/docs/v1") == "/docs/v{n} n=1");
  CHECK(table.find("/docs/v1.html") == "/docs/v{n}.html n=1");
  CHECK(table.find("/docs/ver1") == "/docs/ver{n} n=1");
  CHECK(table.find("/docs/v") == "/docs/{page} page=v");
  CHECK(table.find("/docs/") == "/docs/");
  CHECK(table.find("/docs/index/edit") == "/docs/{page}/edit page=index");
  CHECK(table.find("/docs/x/y") == "/docs/");
  CHECK(table.find("/x/y/edit") == "/{a}/{b}/edit a=x b=y");
  CHECK(table.find("/x/y") == "/{a}/ a=x");
  CHECK(table.find("/x") == "/");
}

TEST_CASE("route table: a branch that leads nowhere is left", "[routes]") {
  const Table table({"/a/{x}/c/", "/{y}/b/d", "/a/b/e"});
  CHECK(table.find("/a/b/e") == "/a/b/e");
  CHECK(table.find("/a/b/d") == "/{y}/b/d y=a");
  CHECK(table.find("/a/b/c/") == "/a/{x}/c/ x=b");
  CHECK(table.find("/a/b/c") == "none");
}

TEST_CASE("route table: expressions stand between exact paths and the rest", "[routes]") {
  const Table table({"/", "/img/", "/img/{name}", "/img/logo.png", "^/img/(?P<file>[^/]+)\\.(png|jpg)$",
                     "^/img/.*\\.png$", "\\.php$", "/index.php"});
  CHECK(table.find("/img/logo.png") == "/img/logo.png");
  CHECK(table.find("/img/a.png") == "^/img/(?P<file>[^/]+)\\.(png|jpg)$ file=a 2=png");
  CHECK(table.find("/img/x/a.png") == "^/img/.*\\.png$");
  CHECK(table.find("/img/a.gif") == "/img/{name} name=a.gif");
  CHECK(table.find("/img/a.php") == "\\.php$");
  CHECK(table.find("/index.php") == "/index.php");
  CHECK(table.find("/index.html") == "/");
}

TEST_CASE("route table: of two alike the first counts", "[routes]") {
  const Table table({"/a/{x}", "/a/{y}", "/b/", "/b/{rest...}", "/c", "/c"});
  CHECK(table.find("/a/1") == "/a/{x} x=1");
  CHECK(table.find("/b/1") == "/b/");
}

TEST_CASE("route table: names go as far as a route can have them", "[routes]") {
  const Table table({"/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h...}", "/{a}/{b}/{c}/{d}/{e}/{f}/{g}/x"});
  CHECK(table.find("/1/2/3/4/5/6/7/") ==
        "/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h...} a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=");
  CHECK(table.find("/1/2/3/4/5/6/7/x/y").substr(0, 20) == "/{a}/{b}/{c}/{d}/{e}");
  CHECK(table.find("/1/2/3/4/5/6/7/x") == "/{a}/{b}/{c}/{d}/{e}/{f}/{g}/x a=1 b=2 c=3 d=4 e=5 f=6 g=7");
}

TEST_CASE("route table: random tables agree with trying each", "[routes]") {
  std::mt19937 random(20261120);
  const auto pick = [&random](const std::vector<std::string>& from) { return from[random() % from.size()]; };
  const std::vector<std::string> pieces{"a", "b", "ab", "{x}", "a{x}", "{x}b", "a{x}b", "b{x}"};
  const std::vector<std::string> ends{"", "/", "/", "/{r...}"};
  const std::vector<std::string> regexes{"^/a/[ab]+$", "^/b/(.*)b$", "b/a$", "^/ab(/.*)?$",
                                         "^/[^/]+/(a|b)/$"};
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> paths;
    for (size_t i = 0; i < 12; ++i) {
      std::string path;
      for (size_t depth = random() % 4, d = 0; d < depth; ++d) {
        std::string piece = pick(pieces);
        const size_t name = piece.find('x');
        if (name != std::string::npos) piece.insert(name, std::string(1, static_cast<char>('c' + d)));
        path += '/' + piece;
      }
      path += pick(ends);
      if (path.empty()) path = pick(regexes);
      paths.push_back(path);
    }
    const Table table(paths);
    for (int i = 0; i < 200; ++i) {
      std::string path;
      for (size_t depth = random() % 5, d = 0; d < depth; ++d)
        path += '/' + pick({"a", "b", "ab", "aab", "abb", "c"});
      if (path.empty() || random() % 3 == 0) path += '/';
      CAPTURE(round, path);
      REQUIRE(table.find(path) == table.naive(path));
    }
  }
}

}  // namespace
}  // namespace roost::http
