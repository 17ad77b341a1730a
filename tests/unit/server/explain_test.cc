#include "server/explain.h"

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

using namespace roost;
using namespace roost::server;

namespace {

std::string wireOf(std::string_view text, const std::vector<std::string>& fields = {}) {
  const auto request = parseExplainRequest(text, fields, "127.0.0.1");
  return request.ok() ? request->wire() : "error: " + request.status().message();
}

std::string errorOf(std::string_view text, const std::vector<std::string>& fields = {},
                    std::string_view client = "127.0.0.1") {
  return parseExplainRequest(text, fields, client).status().message();
}

// The same bytes whole and one by one.
void readBoth(const std::string& bytes, bool head_only,
              const std::function<void(const AnswerReader&)>& check) {
  AnswerReader whole(head_only);
  whole.take(bytes);
  check(whole);
  AnswerReader pieces(head_only);
  for (const char c : bytes) pieces.take({&c, 1});
  check(pieces);
}

}  // namespace

TEST_CASE("explain: a request is written as people say it", "[server]") {
  CHECK(wireOf("GET http://example.org/a?b") == "GET /a?b HTTP/1.1\r\nHost: example.org\r\n\r\n");
  CHECK(wireOf("http://example.org") == "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n");
  CHECK(wireOf("http://example.org:8080?q#part") == "GET /?q HTTP/1.1\r\nHost: example.org:8080\r\n\r\n");
  CHECK(wireOf(" POST   /path ") == "POST /path HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(wireOf("/", {"Accept-Encoding:  br ", "X-Empty:"}) ==
        "GET / HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: br\r\nX-Empty: \r\n\r\n");
  CHECK(wireOf("http://a/", {"host: b"}) == "GET / HTTP/1.1\r\nHost: b\r\n\r\n");
}

TEST_CASE("explain: what is no request is said in one line", "[server]") {
  CHECK(errorOf("").find("no URL") != std::string::npos);
  CHECK(errorOf("GET ftp://a/").find("no URL") != std::string::npos);
  CHECK(errorOf("GET https://a/").find("https") != std::string::npos);
  CHECK(errorOf("GET http:///a").find("no host") != std::string::npos);
  CHECK(errorOf("GET http://a/b c").find("no spaces") != std::string::npos);
  CHECK(errorOf("G(T http://a/").find("no method") != std::string::npos);
  CHECK(errorOf("/", {"no colon"}).find("Name: value") != std::string::npos);
  CHECK(errorOf("/", {": empty"}).find("Name: value") != std::string::npos);
  CHECK(errorOf("/", {"A: b\r\nC: d"}).find("control characters") != std::string::npos);
  CHECK(errorOf("/", {"Content-Length: 3"}).find("no body") != std::string::npos);
  CHECK(errorOf("/", {}, "localhost").find("--from") != std::string::npos);
  CHECK(errorOf("/", {}, "/run/x.sock").find("--from") != std::string::npos);
  CHECK(errorOf("/", {}, "2001:db8::1").empty());
}

TEST_CASE("explain: answers of every framing are read to their end and no further", "[server]") {
  readBoth("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbodyHTTP", false, [](const AnswerReader& reader) {
    CHECK(reader.done());
    CHECK(reader.answer().begin == "body");
    CHECK(reader.answer().content_bytes == 4);
  });
  readBoth("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", false,
           [](const AnswerReader& reader) {
             CHECK(reader.done());
             CHECK(reader.answer().interim.size() == 1);
             CHECK(reader.answer().head == "HTTP/1.1 204 No Content");
           });
  readBoth("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n",
           false, [](const AnswerReader& reader) {
             CHECK(reader.done());
             CHECK(reader.answer().begin == "abc0123456789");
           });
  readBoth("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", true,
           [](const AnswerReader& reader) { CHECK(reader.done()); });
  AnswerReader open(false);
  open.take("HTTP/1.1 200 OK\r\n\r\nabc");
  CHECK_FALSE(open.done());
  open.end();
  CHECK(open.answer().complete);
  CHECK_FALSE(open.answer().given_up);
  AnswerReader cut(false);
  cut.take("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc");
  cut.end();
  CHECK_FALSE(cut.answer().complete);
  CHECK(cut.answer().given_up);
}
