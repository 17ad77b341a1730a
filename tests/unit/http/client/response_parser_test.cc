#include "http/client/response_parser.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bench/parser_inputs.h"
#include "http/client/body_reader.h"
#include "unit/http/h1/request_corpus.h"

namespace roost::http::client {
namespace {

using h1::withLineEnds;

// A response's head, "|" for CRLF, and what comes of it: a status, or the reason of an error.
struct Case {
  const char* outcome;
  std::string text;
};

std::vector<Case> corpus() {
  using namespace std::string_literals;
  std::vector<Case> cases = {
      {"200", "HTTP/1.1 200 OK||"},
      {"200", "HTTP/1.0 200 OK|Server: x||"},
      {"200", "HTTP/1.9 200 OK||"},
      {"200", "HTTP/1.1 200 ||"},
      {"200", "HTTP/1.1 200||"},
      {"200", "HTTP/1.1 200|A: b||"},
      {"204", "HTTP/1.1 204 \tNo  Content\x80\xff ||"},
      {"100", "HTTP/1.1 100 Continue||"},
      {"999", "HTTP/1.1 999 ?||"},
      {"404", "HTTP/1.1 404 Not Found|Content-Length: 3||abc"},
      {"200", "HTTP/1.1 200 OK|A:|B:  b \t|C:c||"},
      {"200", "HTTP/1.1 200 OK|X!#$%&'*+.^_`~: 1|content-LENGTH: 1|Content-Length: 1||x"},
      {"200", "HTTP/1.1 200 OK|Long: " + std::string(3000, 'v') + "|Z: z||"},
      {"200", "HTTP/1.1 200 " + std::string(300, 'r') + "||"},
      {"malformed status line", "HTTP/1.1 099 OK||"},
      {"malformed status line", "HTTP/1.1 20 OK||"},
      {"malformed status line", "HTTP/1.1 2000 OK||"},
      {"malformed status line", "HTTP/1.1 2x0 OK||"},
      {"malformed status line", "HTTP/1.1  200 OK||"},
      {"malformed status line", "HTTP/1.1\t200 OK||"},
      {"malformed status line", "HTTP/11 200 OK||"},
      {"malformed status line", "HTTP/1. 200 OK||"},
      {"malformed status line", "http/1.1 200 OK||"},
      {"malformed status line", "|HTTP/1.1 200 OK||"},
      {"malformed status line", "HTTQ/1.1 200 OK||"},
      {"malformed status line", "<html>|"},
      {"HTTP version not supported", "HTTP/2.0 200 OK||"},
      {"HTTP version not supported", "HTTP/0.9 200 OK||"},
      {"line feed without carriage return", "HTTP/1.1 200 OK\nA: b\n\n"},
      {"line feed without carriage return", "HTTP/1.1 200\nA: b\n\n"},
      {"carriage return without line feed", "HTTP/1.1 200 OK\rA: b||"},
      {"carriage return without line feed", "HTTP/1.1 200 OK|A: b\rC: d||"},
      {"control character in the head", "HTTP/1.1 200 O\x01K||"},
      {"control character in the head", "HTTP/1.1 200 O\0K||"s},
      {"control character in the head", "HTTP/1.1 200 OK|A: b\x7f||"},
      {"line begins with whitespace", "HTTP/1.1 200 OK|A: b| c||"},
      {"whitespace in or after a field name", "HTTP/1.1 200 OK|A : b||"},
      {"field without a name", "HTTP/1.1 200 OK|: b||"},
      {"malformed field name", "HTTP/1.1 200 OK|A(: b||"},
  };
  for (Case& entry : cases) entry.text = withLineEnds(entry.text);
  return cases;
}

struct Parsed {
  std::string outcome = "more";
  std::string all;  // everything a head tells
  friend bool operator==(const Parsed& a, const Parsed& b) {
    return a.outcome == b.outcome && a.all == b.all;
  }
};

// Parses `text` in pieces that end at the given places and at its end, each from a buffer of its own.
Parsed parse(ResponseParser parser, std::string_view text, std::vector<size_t> ends = {},
             const HeadLimits& limits = {}) {
  ReceivedHead head;
  ends.push_back(text.size());
  for (const size_t end : ends) {
    const std::unique_ptr<char[]> bytes(new char[end + ResponseParser::kSlack]);
    std::memcpy(bytes.get(), text.data(), end);
    std::memset(bytes.get() + end, end % 2 == 0 ? ':' : '\n', ResponseParser::kSlack);
    const ParseState state = parser.parse(bytes.get(), end, limits, head);
    if (state == ParseState::kNeedMore) continue;
    if (state == ParseState::kError) return {parser.errorReason(), ""};
    Parsed parsed{std::to_string(head.status), std::to_string(head.size) + " " +
                                                   std::to_string(head.version_minor) + " " +
                                                   std::string(head.view(head.reason))};
    for (size_t i = 0; i < head.field_count; ++i) {
      const Field& field = head.fields[i];
      parsed.all += "|" + std::string(head.name(field)) + "=" + std::string(head.value(field)) + "," +
                    std::to_string(static_cast<int>(field.id)) + "," + std::to_string(field.next);
    }
    return parsed;
  }
  return {};
}

std::vector<h1::HeadMachine> machines() {
  h1::HeadMachine all[h1::kMaxHeadMachines];
  return {all, all + h1::headMachines(all)};
}

TEST_CASE("responses parse as RFC 9112 section 4 says, on every machine and wherever they are split") {
  for (const Case& entry : corpus()) {
    INFO(entry.text);
    const Parsed whole = parse(ResponseParser(), entry.text);
    CHECK(whole.outcome == entry.outcome);
    std::vector<size_t> bytes(entry.text.size());
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = i;
    for (const h1::HeadMachine& machine : machines()) {
      INFO(machine.name);
      const ResponseParser parser(machine.scan_response);
      REQUIRE(parse(parser, entry.text) == whole);
      REQUIRE(parse(parser, entry.text, bytes) == whole);
      for (size_t split = 0; split < std::min<size_t>(entry.text.size(), 200); ++split) {
        REQUIRE(parse(parser, entry.text, {split}) == whole);
      }
    }
  }
}

TEST_CASE("a response's fields are found by name and by place") {
  const std::string text =
      withLineEnds("HTTP/1.1 302 Moved  on |Location:  /a?b |SET-COOKIE: a=1|Set-Cookie: b=2|X-Own: y||body");
  const std::unique_ptr<char[]> bytes(new char[text.size() + ResponseParser::kSlack]());
  std::memcpy(bytes.get(), text.data(), text.size());
  ReceivedHead head;
  ResponseParser parser;
  REQUIRE(parser.parse(bytes.get(), text.size(), {}, head) == ParseState::kDone);
  CHECK(head.status == 302);
  CHECK_FALSE(head.isInterim());
  CHECK(head.view(head.reason) == "Moved  on ");
  CHECK(text.substr(head.size) == "body");
  CHECK(head.get(FieldId::kLocation) == "/a?b");
  CHECK(head.get("set-cookie") == "a=1");
  CHECK(head.get("x-own") == "y");
  CHECK(head.field_count == 4);
}

TEST_CASE("heads beyond the limits are refused, wherever they are split") {
  HeadLimits limits;
  limits.max_head_bytes = 100;
  limits.max_fields = 3;
  const std::string fits = withLineEnds("HTTP/1.1 200 OK|A: " + std::string(74, 'a') + "||");
  REQUIRE(fits.size() == 98);
  const std::string longer = withLineEnds("HTTP/1.1 200 OK|A: " + std::string(78, 'a') + "||");
  const std::string many = withLineEnds("HTTP/1.1 200 OK|A: 1|B: 2|C: 3|D: 4||");
  for (size_t split = 0; split < 98; ++split) {
    REQUIRE(parse(ResponseParser(), fits, {split}, limits).outcome == "200");
    REQUIRE(parse(ResponseParser(), longer, {split}, limits).outcome == "head too large");
    if (split >= many.size()) continue;
    REQUIRE(parse(ResponseParser(), many, {split}, limits).outcome == "too many field lines");
  }
}

// --- what the fields say of the body ---

struct Framed {
  int status;
  Method method;
  const char* fields;  // "|" for CRLF
  h1::BodyKind kind;
  bool keep_alive;
  uint64_t length;
  const char* reason;  // "" where there is no error
};

h1::ResponseFraming framingOf(const std::string& text, Method method) {
  const std::unique_ptr<char[]> bytes(new char[text.size() + ResponseParser::kSlack]());
  std::memcpy(bytes.get(), text.data(), text.size());
  ReceivedHead head;
  REQUIRE(ResponseParser().parse(bytes.get(), text.size(), {}, head) == ParseState::kDone);
  return h1::responseFraming(head, head.status, method);
}

TEST_CASE("the body of a response is where RFC 9112 section 6.3 says") {
  using K = h1::BodyKind;
  const auto kGet = Method::kGet;
  const Framed cases[] = {
      {200, kGet, "Content-Length: 5|", K::kLength, true, 5, ""},
      {200, kGet, "Content-Length: 5|Content-Length: 5|", K::kLength, true, 5, ""},
      {200, kGet, "Content-Length: 5, 05|", K::kLength, true, 5, ""},
      {200, kGet, "Content-Length: 5|Content-Length: 6|", K::kNone, false, 0, "differing Content-Lengths"},
      {200, kGet, "Content-Length: 5,6|", K::kNone, false, 0, "differing Content-Lengths"},
      {200, kGet, "Content-Length: |", K::kNone, false, 0, "empty Content-Length"},
      {200, kGet, "Content-Length: -1|", K::kNone, false, 0, "Content-Length is not a number"},
      {200, kGet, "Content-Length: 99999999999999999999|", K::kNone, false, 0, "Content-Length is too large"},
      {200, kGet, "Transfer-Encoding: chunked|", K::kChunked, true, 0, ""},
      {200, kGet, "Transfer-Encoding: Chunked|Connection: close|", K::kChunked, false, 0, ""},
      {200, kGet, "Transfer-Encoding: chunked|Content-Length: 5|", K::kNone, false, 0,
       "both Transfer-Encoding and Content-Length"},
      {200, kGet, "Transfer-Encoding: gzip, chunked|", K::kNone, false, 0, "transfer coding not supported"},
      {200, kGet, "Transfer-Encoding: chunked, gzip|", K::kNone, false, 0, "chunked is not last"},
      {200, kGet, "Transfer-Encoding: chunked, chunked|", K::kNone, false, 0, "chunked more than once"},
      {200, kGet, "Transfer-Encoding: \"chunked\"|", K::kNone, false, 0, "malformed Transfer-Encoding"},
      {200, kGet, "", K::kUntilClose, false, 0, ""},
      {200, kGet, "Connection: keep-alive|", K::kUntilClose, false, 0, ""},
      {200, kGet, "Content-Length: 0|Connection: x, CLOSE|", K::kLength, false, 0, ""},
      {200, Method::kHead, "Content-Length: 5|", K::kNone, true, 0, ""},
      {200, Method::kHead, "Transfer-Encoding: chunked|", K::kNone, true, 0, ""},
      {200, Method::kHead, "", K::kNone, true, 0, ""},
      {200, Method::kHead, "Content-Length: x|", K::kNone, false, 0, "Content-Length is not a number"},
      {304, kGet, "Content-Length: 5|", K::kNone, true, 0, ""},
      {204, kGet, "Content-Length: 0|", K::kNone, true, 0, ""},
      {204, kGet, "Content-Length: 5|", K::kNone, false, 0, ""},
      {204, kGet, "Transfer-Encoding: chunked|", K::kNone, false, 0, ""},
      {103, kGet, "Content-Length: 5|", K::kNone, true, 0, ""},
      {101, kGet, "Upgrade: websocket|", K::kNone, false, 0, ""},
      {200, Method::kConnect, "Content-Length: 5|", K::kUntilClose, false, 0, ""},
      {407, Method::kConnect, "Content-Length: 5|", K::kLength, true, 5, ""},
  };
  for (const Framed& one : cases) {
    INFO(one.status << " " << one.fields);
    const auto framing = framingOf(
        withLineEnds("HTTP/1.1 " + std::to_string(one.status) + " x|" + one.fields + "|"), one.method);
    CHECK(framing.kind == one.kind);
    CHECK(framing.keep_alive == one.keep_alive);
    if (framing.error_reason == nullptr) CHECK(framing.content_length == one.length);
    CHECK((framing.error_reason == nullptr ? std::string() : framing.error_reason) == one.reason);
  }
}

TEST_CASE("HTTP/1.0 keeps its connection only where both say so, and has no chunks") {
  const auto framing = [](const char* fields) {
    return framingOf(withLineEnds(std::string("HTTP/1.0 200 OK|") + fields + "|"), Method::kGet);
  };
  CHECK_FALSE(framing("Content-Length: 1|").keep_alive);
  CHECK(framing("Content-Length: 1|Connection: keep-alive|").keep_alive);
  CHECK_FALSE(framing("Connection: keep-alive|").keep_alive);
  CHECK(framing("Transfer-Encoding: chunked|").error_reason == std::string("Transfer-Encoding in HTTP/1.0"));
}

TEST_CASE("how long a server keeps a connection is read where it says so") {
  const auto seconds = [](const char* value) {
    return framingOf(withLineEnds(std::string("HTTP/1.1 200 OK|Keep-Alive: ") + value + "||"), Method::kHead)
        .keep_alive_s;
  };
  CHECK(seconds("timeout=5, max=100") == 5);
  CHECK(seconds("max=3,TIMEOUT=70000") == 65535);
  CHECK(seconds("timeout=x") == 0);
  CHECK(seconds("timeout=") == 0);
  CHECK(seconds("timeouts=5") == 0);
}

// --- taking the body off ---

// What of `bytes`, arriving `step` at a time, is the body; then "!" where it ended, "?" where it may go on,
// or the error; then what is left.
std::string bodyOf(h1::BodyKind kind, uint64_t length, std::string_view bytes, size_t step) {
  h1::ResponseFraming framing;
  framing.kind = kind;
  framing.content_length = length;
  BodyReader reader;
  reader.start(framing);
  std::string body;
  std::string pending;
  for (size_t at = 0; at <= bytes.size(); at += step) {
    pending += bytes.substr(at, step);
    for (;;) {
      const h1::ChunkPiece piece = reader.next(pending.data(), pending.size(), {});
      if (piece.step == h1::ChunkStep::kData) body.append(piece.data, piece.size);
      pending.erase(0, piece.consumed);
      if (piece.step == h1::ChunkStep::kError) return body + " " + reader.errorReason();
      if (piece.step == h1::ChunkStep::kDone) {
        return body + "!" + pending + std::string(bytes.substr(std::min(at + step, bytes.size())));
      }
      if (piece.step == h1::ChunkStep::kNeedMore) break;
    }
  }
  return body + (reader.endsHere() ? "." : "?");
}

TEST_CASE("bodies are cut out of what comes, in whatever pieces") {
  using K = h1::BodyKind;
  for (size_t step = 1; step < 40; ++step) {
    CHECK(bodyOf(K::kNone, 0, "next", step) == "!next");
    CHECK(bodyOf(K::kLength, 0, "next", step) == "!next");
    CHECK(bodyOf(K::kLength, 5, "hellonext", step) == "hello!next");
    CHECK(bodyOf(K::kLength, 9, "hello", step) == "hello?");
    CHECK(bodyOf(K::kUntilClose, 0, "hello", step) == "hello.");
    CHECK(bodyOf(K::kChunked, 0, "3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nT: t\r\n\r\nnext", step) == "hello!next");
    CHECK(bodyOf(K::kChunked, 0, "3\r\nhel\r\n2\r\nl", step) == "hell?");
    CHECK(bodyOf(K::kChunked, 0, "3\r\nhelx", step) == "hel malformed chunk");
  }
}

}  // namespace
}  // namespace roost::http::client
