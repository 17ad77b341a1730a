#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "http/template.h"
#include "support/h1_server.h"

namespace roost::http {
namespace {

// What `text` says as a Location for a request of /go/{a}/{b...}.
std::string location(std::string_view text, std::string_view target, std::string_view host = "example.org") {
  const Template made = Template::compileUri(text, {"a", "b"}).value();
  test::H1Server server;
  std::string out;
  server.on("/go/{a}/{b...}", [&](Exchange& e) {
    made.appendUri(out, e);
    e.replyError(404);
  });
  server.start();
  server.ask("GET " + std::string(target) + " HTTP/1.1\r\nHost: " + std::string(host) +
             "\r\nX-To: //evil.example/\\\r\nConnection: close\r\n\r\n");
  return out;
}

TEST_CASE("template: a value stays in its part of a URI", "[template]") {
  CHECK(location("https://{host}{target}", "/go/x/y?q=1&r=%2F") == "https://example.org/go/x/y?q=1&r=%2F");
  CHECK(location("{scheme}://www.{host}/{b}", "/go/x/y%20z/%3f") == "http://www.example.org/y%20z/%3F");
  CHECK(location("https://{a}.example.org/", "/go/evil.example%3f@:x/") ==
        "https://evil.example%3F%40%3Ax.example.org/");
  CHECK(location("https://example.org{b}", "/go/x/.evil.example/y") ==
        "https://example.org.evil.example%2Fy");
  CHECK(location("https://example.org{path}", "/go/x/%25") == "https://example.org/go/x/%25");
  CHECK(location("/new/{b}", "/go/x/%3fa=b%23c") == "/new/%3Fa=b%23c");
  CHECK(location("/find?q={a}&n={b}", "/go/x&y=z+1/%c3%bc/%25") == "/find?q=x%26y%3Dz%2B1&n=%C3%BC/%25");
  CHECK(location("/find?q={query.q}", "/go/x/?q=a%26b+c") == "/find?q=a%26b%20c");
  CHECK(location("/login?next={target}", "/go/x/?a=1&b=2") == "/login?next=/go/x/%3Fa%3D1%26b%3D2");
  CHECK(location("/x?{query}&y=1", "/go/x/?a=1&b=%20") == "/x?a=1&b=%20&y=1");
  CHECK(location("/x#{a}", "/go/%23%20/") == "/x#%23%20");
  CHECK(location("{encoded_path}", "/go/x%20y/") == "/go/x%20y/");
  CHECK(location("https://[::1]:8080/{a}", "/go/x/") == "https://[::1]:8080/x");
  CHECK(location("/t\u00fcr und tor", "/go/x/") == "/t%C3%BCr%20und%20tor");
}

TEST_CASE("template: another server's variables are refused with ours", "[template][regression]") {
  const auto error_of = [](std::string_view text) {
    const Result<Template> made = Template::compileUri(text);
    return made.ok() ? std::string() : made.status().message();
  };
  CHECK(error_of("https://$host$request_uri") == "\"$host\" would stand for itself: write \"{host}\"");
  CHECK(error_of("/x$request_uri") == "\"$request_uri\" would stand for itself: write \"{target}\"");
  CHECK(error_of("/new/$1").find("\"{1}\"") != std::string::npos);
  CHECK(error_of("/x?y=$arg_id").find("\"{query.id}\"") != std::string::npos);
  CHECK(error_of("/x?y=$http_x_real_ip").find("\"{header.x-real-ip}\"") != std::string::npos);
  for (const char* good : {"/$", "/$$", "/$metadata", "/$hostess", "/a$"}) CHECK(error_of(good).empty());
  CHECK_FALSE(Template::compileQuery("a=$args").ok());
  CHECK(checkForeignVariables("{host}").ok());
}

TEST_CASE("template: no value leads to another host", "[template]") {
  CHECK(location("{header.X-To}", "/go/x/") == "/evil.example/%5C");
  CHECK(location("/{header.X-To}", "/go/x/") == "/evil.example/%5C");
  CHECK(location("{query.to}", "/go/x/?to=https://evil.example/") == "/https://evil.example/");
  CHECK(location("{query.to}", "/go/x/?to=%2f%09%2fevil.example") == "/%09/evil.example");
  CHECK(location("{query.to}", "/go/x/?to=%5c%5cevil.example") == "/%5C%5Cevil.example");
  CHECK(location("{target}", "//go/x/?y") == "/go/x/?y");
  CHECK(location("{target}", "http://evil.example/go/x/?y") == "/go/x/?y");
  CHECK(location("https://{host}{target}", "http://example.org/go/x/?y") == "https://example.org/go/x/?y");
  CHECK(location("other/{a}", "/go/x/") == "/other/x");
  CHECK(location("{a}", "/go/javascript:alert(1)/") == "/javascript:alert(1)");
  CHECK(location("https://{query.h}/", "/go/x/?h=a.example/b?c%0d%0aX:y") ==
        "https://a.example%2Fb%3Fc%0D%0AX%3Ay/");
}

TEST_CASE("template: values in HTML and JSON", "[template]") {
  std::string html, json;
  appendEscaped(html, "<a href=\"x\">'&", Escape::kHtml);
  CHECK(html == "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
  appendEscaped(json, "\"\\\n</script>\x7f", Escape::kJson);
  CHECK(json == "\\\"\\\\\\u000a\\u003c/script>\\u007f");
}

TEST_CASE("template: a value leaves no string of a script", "[template]") {
  std::string script;
  appendEscaped(script, "'\"`${x}\\</script>\u2028\u2029\xc3\xa9\n", Escape::kScript);
  CHECK(script == "\\u0027\\\"\\u0060\\u0024{x}\\\\\\u003c/script>\\u2028\\u2029\xc3\xa9\\u000a");
}

TEST_CASE("template: groups of an expression are names", "[template]") {
  const PathRegex regex = PathRegex::compile("^/go/(\\w+)/(?P<tail>.*)$").value();
  const Template made = Template::compile("{1}-{tail}-{a}-{method}", {"1", "tail", "a"}).value();
  test::H1Server server;
  std::string out;
  server.on("/go/{a}/x", [&](Exchange& e) {
    Captures captures;
    REQUIRE(regex.match(e.path(), captures));
    made.append(out, e, &captures);
    e.replyError(404);
  });
  server.start();
  server.ask("GET /go/5/x HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(out == "5-x-5-GET");
}

}  // namespace
}  // namespace roost::http
