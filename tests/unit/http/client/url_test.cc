#include "http/client/url.h"

#include <catch2/catch.hpp>
#include <string>

namespace roost::http::client {
namespace {

std::string told(const Result<Url>& url) {
  if (!url.ok()) return "error";
  return (url.value().is_https ? "https " : "http ") + url.value().origin.key() + " " +
         url.value().origin.hostField() + " " + url.value().target;
}

TEST_CASE("URLs are read, or refused") {
  CHECK(told(parseUrl("http://Example.org")) == "http example.org:80 example.org /");
  CHECK(told(parseUrl("HTTP://example.org:8080/a?b#c")) == "http example.org:8080 example.org:8080 /a?b");
  CHECK(told(parseUrl("http://example.org?b/c")) == "http example.org:80 example.org /?b/c");
  CHECK(told(parseUrl("http://[::1]:81/")) == "http [::1]:81 [::1]:81 /");
  CHECK(told(parseUrl("unix:/run/x.sock")) == "http unix:/run/x.sock localhost /");
  CHECK(told(parseUrl("unix:/run/x.sock:/a?b")) == "http unix:/run/x.sock localhost /a?b");
  CHECK(told(parseUrl("unix:@name:/a")) == "http unix:@name localhost /a");
  for (const char* bad :
       {"", "example.org", "/a", "ftp://a/", "http:a", "http:///a", "http://", "http://a:0/",
        "http://a:66000/", "http://u@a/", "http://u:p@a/", "http://a b/", "http://a/ b",
        "unix:", "http://a/\x80", "http://[::1/", "http://a,b/", "https://a/", "HTTPS://a:80/"}) {
    INFO(bad);
    CHECK(told(parseUrl(bad)) == "error");
  }
  CHECK(parseUrl("https://a/").status().message().find("https is not supported") != std::string::npos);
}

// RFC 3986 section 5.4, as far as a fragment and another scheme do not come in.
TEST_CASE("references mean what RFC 3986 says") {
  const Url base = parseUrl("http://a/b/c/d;p?q").value();
  const auto target = [&](const char* reference) {
    const Result<Url> url = resolveReference(base, reference);
    return url.ok() ? url.value().origin.host + url.value().target : std::string("error");
  };
  CHECK(target("g") == "a/b/c/g");
  CHECK(target("./g") == "a/b/c/g");
  CHECK(target("g/") == "a/b/c/g/");
  CHECK(target("/g") == "a/g");
  CHECK(target("//g") == "g/");
  CHECK(target("//g:81/x") == "g/x");
  CHECK(target("?y") == "a/b/c/d;p?y");
  CHECK(target("g?y") == "a/b/c/g?y");
  CHECK(target("#s") == "a/b/c/d;p?q");
  CHECK(target("g#s") == "a/b/c/g");
  CHECK(target(";x") == "a/b/c/;x");
  CHECK(target("") == "a/b/c/d;p?q");
  CHECK(target(".") == "a/b/c/");
  CHECK(target("./") == "a/b/c/");
  CHECK(target("..") == "a/b/");
  CHECK(target("../") == "a/b/");
  CHECK(target("../g") == "a/b/g");
  CHECK(target("../..") == "a/");
  CHECK(target("../../g") == "a/g");
  CHECK(target("../../../g") == "a/g");
  CHECK(target("/./g") == "a/g");
  CHECK(target("/../g") == "a/g");
  CHECK(target("g.") == "a/b/c/g.");
  CHECK(target("..g") == "a/b/c/..g");
  CHECK(target("./../g") == "a/b/g");
  CHECK(target("g;x=1/../y") == "a/b/c/y");
  CHECK(target("g?y/../x") == "a/b/c/g?y/../x");
  CHECK(target("http://x/y") == "x/y");
  CHECK(told(resolveReference(base, "https://x/y")) == "https x:443 x:443 /y");
  CHECK(target("/a b") == "error");
  CHECK(target("mailto:x") == "error");
}

}  // namespace
}  // namespace roost::http::client
