#include "http/client_address.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "http/exchange.h"
#include "http/template.h"
#include "support/h1_server.h"

namespace roost::http {
namespace {

std::vector<std::string> elementsOf(std::string_view value, bool quotes) {
  std::vector<std::string> out;
  std::string_view element;
  while (takeLastElement(value, element, quotes)) out.emplace_back(element);
  return out;
}

using Texts = std::vector<std::string>;

TEST_CASE("list elements are taken from the end", "[client_address]") {
  CHECK(elementsOf("", false).empty());
  CHECK(elementsOf(" , ,\t", false).empty());
  CHECK(elementsOf("a", false) == Texts{"a"});
  CHECK(elementsOf("a, b ,\tc", false) == Texts{"c", "b", "a"});
  CHECK(elementsOf(R"(a="x,y",b)", true) == Texts{"b", R"(a="x,y")"});
  CHECK(elementsOf(R"(a="x,y",b)", false) == Texts{"b", "y\"", "a=\"x"});
  CHECK(elementsOf(R"(a="\",\\",b="\"")", true) == Texts{R"(b="\"")", R"(a="\",\\")"});
  CHECK(elementsOf(R"(a=",b)", true) == Texts{"b", "a=\""});
  CHECK(elementsOf(R"(a=\",b=\")", true).size() == 2);
}

TEST_CASE("nodes as proxies write them", "[client_address]") {
  CHECK(parseNode("192.0.2.1:80").toString() == "192.0.2.1:80");
  CHECK(parseNode("192.0.2.1").toString() == "192.0.2.1:0");
  CHECK(parseNode("[2001:db8::1]:65535").toString() == "[2001:db8::1]:65535");
  CHECK(parseNode("2001:db8::1").toString() == "[2001:db8::1]:0");
  CHECK(parseNode("::ffff:192.0.2.1").toString() == "192.0.2.1:0");
  for (const char* none :
       {"", "unknown", "_x", "1.2.3", "1.2.3.4:", "1.2.3.4:65536", "1.2.3.4:+1", "[1.2.3.4]", "[::1", "::1]",
        "[::1]80", "[::1]:", "[]", "fe80::1%1", "1.2.3.4 ", "a.b.c.d:1"}) {
    INFO(none);
    CHECK(parseNode(none).family == 0);
  }
}

TEST_CASE("elements of Forwarded", "[client_address]") {
  ForwardedElement element;
  REQUIRE(parseForwardedElement(R"(For="[2001:db8::1]:80";Proto=https;by=_a ; host="a;b")", element));
  CHECK(element.node == "[2001:db8::1]:80");
  CHECK(element.proto == "https");
  REQUIRE(parseForwardedElement("by=x", element));
  CHECK(element.node.empty());
  REQUIRE(parseForwardedElement(R"(for="\1\2")", element));
  CHECK(element.node == "12");
  for (const char* bad :
       {"for", "for=", "=x", "for=a b", "for=a;for=b", "for=\"a", "for=\"a\"b", "for =a", "for=\"\\"}) {
    INFO(bad);
    CHECK_FALSE(parseForwardedElement(bad, element));
  }
  CHECK_FALSE(parseForwardedElement("for=\"" + std::string(129, 'x') + "\"", element));
}

TEST_CASE("request ids", "[client_address]") {
  CHECK(isRequestId("a"));
  CHECK(isRequestId("0f8fad5b-d9cb-469f-a165-70867728950e"));
  CHECK(isRequestId("Root=1-67891233:abc/def+x@y_z."));
  CHECK(isRequestId(std::string(128, 'x')));
  CHECK_FALSE(isRequestId(""));
  CHECK_FALSE(isRequestId(std::string(129, 'x')));
  for (const char* bad : {"a b", "a\"b", "a\tb", "a{b", "\xc3\xbc", "a;b", "a,b"})
    CHECK_FALSE(isRequestId(bad));
}

// What a handler sees of a request whose peer is 127.0.0.1.
std::string seen(ClientAddress::Options options, const std::string& fields,
                 const char* trusted = "127.0.0.0/8") {
  options.trusted = std::move(net::CidrSet::parse({trusted})).value();
  test::H1Server server;
  server.options.client_address = std::make_shared<const ClientAddress>(std::move(options));
  const Template text =
      std::move(Template::compile("{client} {client_port} {peer} {scheme} {request_id} {user}|")).value();
  server.on("/", [&](Exchange& exchange) {
    exchange.setUser("me");
    std::string body;
    text.append(body, exchange);
    ResponseHead head(200);
    exchange.reply(head, body);
  });
  server.start();
  const auto got = test::parseAnswers(server.ask("GET / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n"));
  REQUIRE(got.answers.size() == 1);
  return got.answers[0].body;
}

TEST_CASE("a trusted peer's word on client, scheme and request id", "[client_address]") {
  const std::string fields =
      "X-Forwarded-For: 192.0.2.1:99, 127.0.0.5\r\nX-Forwarded-Proto: http, HTTPS\r\nX-Request-Id: abc-1\r\n";
  CHECK(seen({}, fields) == "192.0.2.1 99 127.0.0.1 https abc-1 me|");
  const std::string untrusted = seen({}, fields, "10.0.0.0/8");
  CHECK(untrusted.substr(0, 31) == "127.0.0.1 40000 127.0.0.1 http ");
  CHECK(untrusted.size() == 31 + 32 + 4);
  ClientAddress::Options quiet;
  quiet.scheme_header = "";
  quiet.take_request_id = false;
  CHECK(seen(quiet, fields).substr(0, 28) == "192.0.2.1 99 127.0.0.1 http ");
  CHECK(seen(quiet, fields).find("abc-1") == std::string::npos);
  CHECK(seen({}, "X-Request-Id: a\r\nX-Request-Id: b\r\n").size() == 31 + 32 + 4);
  CHECK(seen({}, "X-Forwarded-Proto: ftp\r\n").substr(0, 31) == "127.0.0.1 40000 127.0.0.1 http ");
}

TEST_CASE("Forwarded names the scheme itself", "[client_address]") {
  ClientAddress::Options options;
  options.header = "Forwarded";
  options.take_request_id = false;
  const auto start = [&](const std::string& fields) { return seen(options, fields).substr(0, 29); };
  CHECK(start("Forwarded: for=192.0.2.1;proto=https\r\nX-Forwarded-Proto: http\r\n").find(" https ") !=
        std::string::npos);
  CHECK(start("Forwarded: for=192.0.2.1;proto=https\r\n").substr(0, 28) == "192.0.2.1 0 127.0.0.1 https ");
  CHECK(start("Forwarded: for=192.0.2.1\r\nX-Forwarded-Proto: https\r\n").substr(0, 27) ==
        "192.0.2.1 0 127.0.0.1 http ");
  CHECK(seen(options, "Forwarded: for=_hidden;proto=https\r\n").find(" https ") != std::string::npos);
}

}  // namespace
}  // namespace roost::http
