#include "http/h1/framing.h"

#include <catch2/catch.hpp>
#include <string>

#include "http/h1/request_parser.h"

namespace roost::http::h1 {
namespace {

// Of a request with these field lines ("|" for CRLF), which must parse.
FramingResult framingOf(std::string_view lines, const char* version = "1.1", const char* method = "POST") {
  std::string text = std::string(method) + " / HTTP/" + version + "\r\n";
  for (const char c : lines) c == '|' ? text += "\r\n" : text += c;
  text += "\r\n";
  const size_t size = text.size();
  text.append(RequestParser::kSlack, '\0');
  RequestParser parser;
  RequestHead head;
  REQUIRE(parser.parse(text.data(), size, HeadLimits{}, head) == ParseState::kDone);
  return requestFraming(head);
}

int statusOf(std::string_view lines, const char* version = "1.1") {
  const FramingResult framing = framingOf(lines, version);
  CHECK((framing.error_status == 0) == (std::string_view(framing.error_reason).empty()));
  if (framing.error_status != 0) CHECK_FALSE(framing.keep_alive);
  return framing.error_status;
}

TEST_CASE("a request without framing fields has no body", "[RFC 9112 section 6.3]") {
  for (const char* method : {"GET", "POST", "PUT", "BREW"}) {
    const FramingResult framing = framingOf("Host: a|Accept: */*|", "1.1", method);
    CHECK(framing.kind == BodyKind::kNone);
    CHECK(framing.error_status == 0);
    CHECK(framing.keep_alive);
  }
}

TEST_CASE("Content-Length is one number", "[RFC 9112 section 6.3, RFC 9110 section 8.6]") {
  CHECK(framingOf("Host: a|Content-Length: 0|").kind == BodyKind::kLength);
  CHECK(framingOf("Host: a|Content-Length: 42|").content_length == 42);
  CHECK(framingOf("Host: a|CONTENT-length:\t042 |").content_length == 42);
  CHECK(framingOf("Host: a|Content-Length: 9223372036854775807|").content_length == INT64_MAX);
  for (const char* bad :
       {"", "-1", "+1", "1,1", "1, 1", "0x10", "1 1", "1e3", "1.0", "a", "9223372036854775808",
        "18446744073709551616", "99999999999999999999999", "\"1\"", "1;", "\xb9"}) {
    INFO(bad);
    CHECK(statusOf(std::string("Host: a|Content-Length: ") + bad + "|") == 400);
  }
  CHECK(statusOf("Host: a|Content-Length: 1|Content-Length: 1|") == 400);
  CHECK(statusOf("Host: a|Content-Length: 1|content-length: 2|") == 400);
  CHECK(statusOf("Content-Length: 1|content-length: 2|", "1.0") == 400);
}

TEST_CASE("Transfer-Encoding is chunked and nothing else", "[RFC 9112 sections 6.1 and 6.3]") {
  CHECK(framingOf("Host: a|Transfer-Encoding: chunked|").kind == BodyKind::kChunked);
  CHECK(framingOf("Host: a|transfer-encoding:CHUNKED|").kind == BodyKind::kChunked);
  CHECK(framingOf("Host: a|Transfer-Encoding: , chunked ,|").kind == BodyKind::kChunked);
  for (const char* bad : {"", ",", "chunked, chunked", "chunked, gzip", "chunked;q=1", "\"chunked\"",
                          "chunked\tx", "'chunked'", "x chunked", "chunked\xa0", "chunked, identity",
                          "xchunked", "gzip", "identity", "chunke", "x-gzip,deflate"}) {
    INFO(bad);
    CHECK(statusOf(std::string("Host: a|Transfer-Encoding: ") + bad + "|") == 400);
  }
  for (const char* unknown : {"gzip, chunked", "identity,chunked", "x-gzip,deflate, chunked"}) {
    INFO(unknown);
    CHECK(statusOf(std::string("Host: a|Transfer-Encoding: ") + unknown + "|") == 501);
  }
  CHECK(statusOf("Host: a|Transfer-Encoding: chunked|Transfer-Encoding: chunked|") == 400);
  CHECK(statusOf("Host: a|Transfer-Encoding: chunked|Transfer-Encoding: identity|") == 400);
  CHECK(statusOf("Host: a|Transfer-Encoding: gzip|Transfer-Encoding: chunked|") == 501);
  CHECK(statusOf("Transfer-Encoding: chunked|", "1.0") == 400);
}

TEST_CASE("Content-Length beside Transfer-Encoding is refused", "[RFC 9112 section 6.1]") {
  CHECK(statusOf("Host: a|Content-Length: 5|Transfer-Encoding: chunked|") == 400);
  CHECK(statusOf("Host: a|Transfer-Encoding: chunked|Content-Length: 0|") == 400);
  CHECK(statusOf("Host: a|Transfer-Encoding: xchunked|Content-Length: 5|") == 400);
  CHECK(statusOf("Content-Length: 5|Transfer-Encoding: chunked|", "1.0") == 400);
}

TEST_CASE("persistence follows version and Connection", "[RFC 9112 section 9.3]") {
  CHECK(framingOf("Host: a|").keep_alive);
  CHECK_FALSE(framingOf("Host: a|", "1.0").keep_alive);
  CHECK(framingOf("Connection: keep-alive|", "1.0").keep_alive);
  CHECK(framingOf("connection: x, Keep-Alive|", "1.0").keep_alive);
  CHECK_FALSE(framingOf("Host: a|Connection: Close|").keep_alive);
  CHECK_FALSE(framingOf("Host: a|Connection: keep-alive|Connection: close|").keep_alive);
  CHECK_FALSE(framingOf("Connection: close, keep-alive|", "1.0").keep_alive);
  CHECK(framingOf("Host: a|Connection: closed|").keep_alive);
  CHECK(framingOf("Host: a|Connection: xclose, close-x|").keep_alive);
  CHECK(framingOf("Host: a|Connection: , ,|").keep_alive);
  CHECK(framingOf("Host: a|Connection: Upgrade|").upgrade);
  CHECK(framingOf("Host: a|Connection: keep-alive, upgrade|").upgrade);
  CHECK_FALSE(framingOf("Host: a|Upgrade: websocket|").upgrade);
}

TEST_CASE("Host comes exactly once in HTTP/1.1", "[RFC 9112 section 3.2]") {
  CHECK(statusOf("Host: a|") == 0);
  CHECK(statusOf("Host:|") == 0);
  CHECK(statusOf("") == 400);
  CHECK(statusOf("Accept: */*|") == 400);
  CHECK(statusOf("Host: a|Host: a|") == 400);
  CHECK(statusOf("Host: a|X: y|host: b|") == 400);
  CHECK(statusOf("", "1.0") == 0);
  CHECK(statusOf("Host: a|", "1.0") == 0);
  CHECK(statusOf("Host: a|Host: b|", "1.0") == 400);
}

TEST_CASE("Expect", "[RFC 9110 section 10.1.1]") {
  CHECK(framingOf("Host: a|Content-Length: 5|Expect: 100-continue|").expects_continue);
  CHECK(framingOf("Host: a|Transfer-Encoding: chunked|Expect: 100-Continue|").expects_continue);
  CHECK_FALSE(framingOf("Host: a|Content-Length: 5|").expects_continue);
  CHECK_FALSE(framingOf("Host: a|Content-Length: 0|Expect: 100-continue|").expects_continue);
  CHECK_FALSE(framingOf("Host: a|Expect: 100-continue|").expects_continue);
  CHECK_FALSE(framingOf("Content-Length: 5|Expect: 100-continue|", "1.0").expects_continue);
  CHECK(statusOf("Host: a|Content-Length: 5|Expect: 200-ok|") == 417);
  CHECK(statusOf("Host: a|Expect: 100-continue, x|") == 417);
  CHECK(statusOf("Expect: x|", "1.0") == 0);
  CHECK(statusOf("Host: a|Content-Length: x|Expect: y|") == 400);
}

}  // namespace
}  // namespace roost::http::h1
