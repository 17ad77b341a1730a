// WebSockets while memory is out: the one whose message has no room closes with 1013, the others go on.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/no_memory.h"
#include "unit/http/ws/socket_fixture.h"

namespace roost::http::ws {
namespace {

const std::string kOutOfMemory = "<8:\x03\xf5out of memory>";

std::string deflated(std::string_view text) {
  Deflater deflater(15, 6);
  std::vector<char> out;
  REQUIRE(deflater.run(text, out));
  return {out.data(), out.size()};
}

TEST_CASE("websocket: a message in pieces that has no room closes its socket alone", "[ws]") {
  SocketFixture f;
  test::SimPeer peer = f.open();
  test::SimPeer other = f.server.connect();
  other.write(SocketFixture::request());
  f.server.settle();
  other.read();
  {
    const test::NoMemory none(60'000);
    f.ask(peer, makeFrame(Opcode::kBinary, std::string(1000, 'x'), false));
    CHECK(f.ask(peer, makeFrame(Opcode::kContinuation, std::string(100'000, 'x'), true)) == kOutOfMemory);
    CHECK(f.ask(other, makeFrame(Opcode::kText, "hello")) == "<1:hello>");
  }
  CHECK(f.ask(other, makeFrame(Opcode::kText, "again")) == "<1:again>");
}

TEST_CASE("websocket: without memory for contexts a message is not read, and is sent as it is", "[ws]") {
  EndpointOptions options;
  options.compression.on = true;
  options.compression.server_no_context_takeover = false;
  options.compression.client_no_context_takeover = false;
  options.compression.min_message_bytes = 1;
  SocketFixture f(options);
  const std::string offer = "Sec-WebSocket-Extensions: permessage-deflate\r\n";
  test::SimPeer peer = f.open(offer);
  const std::string compressed = makeFrame(Opcode::kText, deflated("compressed"), true, true);
  {
    const test::NoMemory none(2000);
    // What is sent needs no context.
    CHECK(f.ask(peer, makeFrame(Opcode::kText, "plain")) == "<1:plain>");
    CHECK(f.ask(peer, compressed) == kOutOfMemory);
  }
  test::SimPeer later = f.server.connect();
  later.write(SocketFixture::request(offer));
  f.server.settle();
  later.read();
  CHECK(f.ask(later, makeFrame(Opcode::kText, "with memory")).substr(0, 4) == "<1z:");
}

TEST_CASE("permessage-deflate: coders that had no memory are made when there is some", "[ws]") {
  char room[64];
  size_t written = 0;
  const std::string payload = deflated("hello");
  std::string_view input = payload;
  std::vector<char> out;
  {
    const test::NoMemory none;
    Inflater own(15);
    Deflater deflater(15, 1);
    CHECK(own.run(input, room, sizeof room, written) == Inflater::State::kNoMemory);
    CHECK_FALSE(own.complete());
    CHECK_FALSE(deflater.run("hello", out));
    CHECK(out.empty());
    memory::setSource(&std::malloc);
    own.reset(15);
    deflater.reset();
    CHECK(own.run(input, room, sizeof room, written) == Inflater::State::kNeedInput);
    CHECK(std::string_view(room, written) == "hello");
    CHECK(deflater.run("hello", out));
  }
}

}  // namespace
}  // namespace roost::http::ws
