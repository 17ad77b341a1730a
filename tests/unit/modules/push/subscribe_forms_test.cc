#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "http/framed.h"
#include "http/ws/frame_decoder.h"
#include "modules/push/subscribe_forms.h"
#include "modules/push/subscribe_request.h"
#include "support/h1_server.h"

using namespace roost;
using namespace roost::modules::push;

namespace {

constexpr hub::MessageId kId{1763668666, 17, 0x5f3a9c01};
const std::string kIdText = "1763668666:17-5f3a9c01";

hub::Message::Ref message(std::string_view payload, std::string type = {}, std::string event = {}) {
  return hub::Message::make(kId, 0, BufferRef::copyOf(payload), std::move(type), std::move(event), nullptr);
}

std::string event(std::string_view payload, std::string name = {}) {
  const BufferRef framed = encodeEvent(*message(payload, {}, std::move(name)));
  return std::string(http::contentOf(framed));
}

// "t:..." or "b:..."; "?" where it is not one whole frame.
std::string frameOf(const BufferRef& block) {
  std::string bytes(block.view());
  http::ws::FrameRules rules;
  rules.role = http::ws::Role::kClient;
  rules.max_frame_bytes = rules.max_message_bytes = 1 << 30;
  http::ws::FrameDecoder decoder;
  http::ws::FramePiece piece;
  if (decoder.next(bytes.data(), bytes.size(), rules, piece) != http::ws::FrameDecoder::Step::kPiece)
    return "?";
  if (!piece.ends || piece.consumed != bytes.size()) return "?";
  return (piece.opcode == http::ws::Opcode::kText ? "t:" : "b:") + std::string(piece.data, piece.size);
}

TEST_CASE("An event has its id, its name and a data line for each line of the payload") {
  const std::string id = "id: " + kIdText + "\n";
  CHECK(event("hello") == id + "data: hello\n\n");
  CHECK(event("hello", "tick") == id + "event: tick\ndata: hello\n\n");
  CHECK(event("") == id + "data: \n\n");
  CHECK(event("a\nb\rc\r\nd") == id + "data: a\ndata: b\ndata: c\ndata: d\n\n");
  CHECK(event("\n\r\r\n") == id + "data: \ndata: \ndata: \ndata: \n\n");
  CHECK(event("a\n\nevent: gap\n\n") == id + "data: a\ndata: \ndata: event: gap\ndata: \ndata: \n\n");
  CHECK(event(" a") == id + "data:  a\n\n");
  CHECK(event("x", "a\nid: 1\r\0\n") == id + "event: aid: 1\ndata: x\n\n");
  const BufferRef framed = encodeEvent(*message("hello"));
  CHECK(framed.view().substr(0, 4) == "28\r\n");
  CHECK(framed.view().substr(framed.size() - 4) == "\n\n\r\n");
}

TEST_CASE("A frame is text where the payload is") {
  CHECK(frameOf(encodePlainFrame(*message("hello"))) == "t:hello");
  CHECK(frameOf(encodePlainFrame(*message(""))) == "t:");
  CHECK(frameOf(encodePlainFrame(*message("hello", "application/json"))) == "t:hello");
  CHECK(frameOf(encodePlainFrame(*message("hello", "application/octet-stream"))) == "b:hello");
  CHECK(frameOf(encodePlainFrame(*message("hello", "Application/Octet-Stream ; a=b"))) == "b:hello");
  CHECK(frameOf(encodePlainFrame(*message("\xff"))) == "b:\xff");
  CHECK(frameOf(encodePlainFrame(*message("cut \xc3"))) == "b:cut \xc3");
  const std::string large(70000, 'x');
  CHECK(frameOf(encodePlainFrame(*message(large))) == "t:" + large);
}

TEST_CASE("A frame with meta has a head that a payload cannot forge") {
  CHECK(frameOf(encodeMetaFrame(*message("hello"))) == "t:id: " + kIdText + "\n\nhello");
  CHECK(frameOf(encodeMetaFrame(*message("\nid: 1", "text/plain", "tick"))) ==
        "t:id: " + kIdText + "\ncontent-type: text/plain\nevent: tick\n\n\nid: 1");
  CHECK(frameOf(encodeMetaFrame(*message("x", "a\nb", "c\r\nd"))) ==
        "t:id: " + kIdText + "\ncontent-type: ab\nevent: cd\n\nx");
  CHECK(frameOf(encodeNchanFrame(*message("x", "text/plain", "tick"))) ==
        "t:id: " + kIdText + "\ncontent-type: text/plain\n\nx");
  CHECK(frameOf(encodeMetaFrame(*message("x", {}, "\xff"))) == "b:id: " + kIdText + "\nevent: \xff\n\nx");
}

TEST_CASE("A gap says behind which message, and how many") {
  const hub::MessageId position{1763668667, 22, 0x5f3a9c01};
  const hub::Gap gap{kId, 5, position};
  const std::string id = "id: 1763668667:22-5f3a9c01\n";
  CHECK(gapJson(gap) == R"({"after":")" + kIdText + R"(","missed":5})");
  CHECK(gapJson({kId, 0, {}}) == R"({"after":")" + kIdText + R"(","missed":null})");
  CHECK(http::contentOf(gapEvent(gap)) == id + "event: gap\ndata: " + gapJson(gap) + "\n\n");
  CHECK(frameOf(gapFrame(gap, kMetaFrameForm)) == "t:" + id + "event: gap\n\n" + gapJson(gap));
  const std::string named = R"({"event":"gap","after":")" + kIdText + R"(","missed":5})";
  CHECK(frameOf(gapFrame(gap, kPlainFrameForm)) == "t:" + named);
  CHECK(frameOf(gapFrame(gap, kNchanFrameForm)) == "t:" + id + "\n" + named);
}

// What readPosition makes of a request: "-" nothing, "!" malformed, or the id.
std::string position(const std::string& target, const std::string& fields, std::string_view key = "since",
                     std::string_view header = "X-Id") {
  std::string got = "?";
  test::H1Server server;
  server.on("/", [&](http::Exchange& exchange) {
    hub::MessageId id;
    const Asked asked = readPosition(exchange, key, header, id);
    got = asked == Asked::kNothing ? "-" : asked == Asked::kMalformed ? "!" : id.text();
    http::ResponseHead head(204);
    exchange.begin(head, true);
  });
  server.start();
  server.ask("GET /" + target + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n");
  return got;
}

TEST_CASE("The id comes from the query, a field of choice, Last-Event-ID or conditions") {
  CHECK(position("", "") == "-");
  CHECK(position("?since=1", "X-Id: " + kIdText + "\r\nLast-Event-ID: 2\r\n") == kIdText);
  CHECK(position("?since=1", "Last-Event-ID: " + kIdText + "\r\n") == kIdText);
  CHECK(position("?since=" + kIdText, "If-None-Match: 1-00000001\r\n") == kIdText);
  CHECK(position("?since=1763668666%3a17-5f3a9c01", "") == kIdText);
  CHECK(position("?since=", "X-Id: " + kIdText + "\r\nLast-Event-ID: 2\r\n") == kIdText);
  CHECK(position("?since=" + kIdText, "", "") == "-");
  CHECK(position("", "X-Id: " + kIdText + "\r\n", "", "") == "-");
  CHECK(position("", "Last-Event-ID: " + kIdText + "\r\nIf-None-Match: 1-00000001\r\n") == kIdText);
  CHECK(position("?since=%", "") == "!");
  CHECK(position("?since=%4", "") == "!");
  CHECK(position("?since=" + std::string(5000, '1'), "") == "!");
  CHECK(position("?since=" + kIdText + "%00", "") == "1763668666:1-00000000");  // a tag that is not ours
  CHECK(position("", "Last-Event-ID: nonsense\r\n") == "0:1-00000000");  // which is foreign, not refused
  CHECK(position("", "X-Id: nonsense\r\n") == "!");
  CHECK(position("?xsince=1&sinc=1&since", "") == "-");
}

TEST_CASE("Conditions are read as caches write them") {
  const std::string date = "If-Modified-Since: Thu, 20 Nov 2025 19:57:46 GMT\r\n";
  const std::string tag = "17-5f3a9c01";
  CHECK(position("", date + "If-None-Match: \"" + tag + "\"\r\n") == kIdText);
  CHECK(position("", date + "If-None-Match: W/\"" + tag + "\"\r\n") == kIdText);
  CHECK(position("", date + "If-None-Match: " + tag + "\r\n") == kIdText);
  CHECK(position("", date + "If-None-Match: \"a,b\", ,W/\"" + tag + "\"\r\n") == kIdText);
  CHECK(position("", date + "If-None-Match: \"a\"\r\nIf-None-Match: \"" + tag + "\"\r\n") == kIdText);
  CHECK(position("", date) == "1763668666:0-00000000");
  CHECK(position("", "If-None-Match: \"" + tag + "\"\r\n") == "0:" + tag);
  CHECK(position("", "If-None-Match: *\r\n") == "0:1-00000000");
  CHECK(position("", date + "If-None-Match: \"0\"\r\n") == "1763668666:1-00000000");
  CHECK(position("", "If-None-Match: \r\n") == "0:0-00000000");
  CHECK(position("", "If-Modified-Since: yesterday\r\n") == "-");
  CHECK(position("", date + date + "If-None-Match: \"" + tag + "\"\r\n") == "0:" + tag);
}

}  // namespace
