#include "http/ws/compression.h"

#include <catch2/catch.hpp>

#include "unit/http/ws/socket_fixture.h"

namespace roost::http::ws {
namespace {

std::string deflated(Deflater& deflater, std::string_view text) {
  std::vector<char> out;
  deflater.run(text, out);
  return {out.data(), out.size()};
}

std::string inflated(Inflater& inflater, std::string_view payload, size_t room = 1 << 20) {
  std::string out;
  for (std::string_view input : {payload, kMessageTail}) {
    for (auto state = Inflater::State::kNeedRoom; state == Inflater::State::kNeedRoom;) {
      std::string more(room, '\0');
      size_t written = 0;
      state = inflater.run(input, more.data(), more.size(), written);
      if (state == Inflater::State::kError) return out + "|error";
      out.append(more, 0, written);
    }
  }
  return out;
}

TEST_CASE("permessage-deflate: what is compressed with a window can be inflated with that window", "[ws]") {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += std::to_string(i * 7919 % 1009) + (i % 3 == 0 ? " and so on " : ",");
  for (unsigned bits = 8; bits <= 15; ++bits) {
    INFO(bits << " bits");
    Deflater deflater(bits, 6);
    Inflater inflater(bits);
    for (int message = 0; message < 3; ++message) {
      const std::string payload = deflated(deflater, text);
      CHECK(payload.size() < text.size());
      CHECK(inflated(inflater, payload, 1 + bits * 100) == text);
    }
    deflater.reset();
    inflater.reset(bits);
    CHECK(inflated(inflater, deflated(deflater, "again")) == "again");
  }
  Inflater inflater(15);
  CHECK(inflated(inflater, "\xff\xff\xff") == "|error");
}

TEST_CASE("permessage-deflate: a context makes the second message small, and sockets keep it", "[ws]") {
  EndpointOptions options;
  options.compression.on = true;
  options.compression.server_no_context_takeover = false;
  options.compression.client_no_context_takeover = false;
  options.compression.min_message_bytes = 1;
  SocketFixture f(options);
  test::SimPeer peer = f.open("Sec-WebSocket-Extensions: permessage-deflate\r\n");
  CHECK(f.head.find("\r\nSec-WebSocket-Extensions: permessage-deflate\r\n") != std::string::npos);
  Deflater deflater(15, 6);
  Inflater inflater(15);
  const std::string text = "a text of some length, which comes twice";
  std::vector<size_t> sizes;
  for (int i = 0; i < 3; ++i) {
    const std::string answer = f.ask(peer, makeFrame(Opcode::kText, deflated(deflater, text), true, true));
    REQUIRE(answer.substr(0, 4) == "<1z:");
    const std::string payload = answer.substr(4, answer.size() - 5);
    CHECK(inflated(inflater, payload) == text);
    sizes.push_back(payload.size());
  }
  CHECK(sizes[1] < sizes[0] / 2);
  CHECK(f.seen.log.find("text:" + text) != std::string::npos);
}

TEST_CASE("permessage-deflate: what is cut off is refused, what is whole is not", "[ws]") {
  const bool context = GENERATE(false, true);
  INFO("context " << context);
  EndpointOptions options;
  options.compression.on = true;
  options.compression.server_no_context_takeover = options.compression.client_no_context_takeover = !context;
  options.compression.min_message_bytes = 1000;
  SocketFixture f(options);
  const std::string offer = "Sec-WebSocket-Extensions: permessage-deflate\r\n";
  const std::string text = "hello world, hello world, and hello once more";
  Deflater deflater(15, 6);
  const std::string whole = deflated(deflater, text);
  test::SimPeer peer = f.open(offer);
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    INFO("cut at " << cut);
    test::SimPeer other = f.server.connect();
    other.write(SocketFixture::request(offer));
    f.server.settle();
    other.read();
    const std::string frames = makeFrame(Opcode::kBinary, whole, true, true) +
                               makeFrame(Opcode::kBinary, whole.substr(0, cut), true, true);
    const std::string answer = f.ask(other, frames);
    CHECK(answer.substr(0, text.size() + 4) == "<2:" + text + ">");
    CHECK((answer.find("<8:\x03\xef") == text.size() + 4));
    CHECK(answer.find("<2:", 1) == std::string::npos);
  }
  // The last payload of a stream, behind which another begins; with and without a flushed block after it.
  const std::string ended("\xf3\x48\xcd\xc9\xc9\x07\x00", 7);
  const std::string empty(1, '\0');
  for (int i = 0; i < 2; ++i) {
    CHECK(f.ask(peer, makeFrame(Opcode::kText, empty, true, true)) == "<1:>");
    CHECK(f.ask(peer, makeFrame(Opcode::kText, ended + empty, true, true)) == "<1:Hello>");
    CHECK(f.ask(peer, makeFrame(Opcode::kText, ended, true, true)) == "<1:Hello>");
    CHECK(f.ask(peer, makeFrame(Opcode::kText, ended, false, true) + makeFrame(Opcode::kContinuation, "")) ==
          "<1:Hello>");
    CHECK(f.ask(peer, makeFrame(Opcode::kText, ended, false, true) +
                          makeFrame(Opcode::kContinuation, empty)) == "<1:Hello>");
    CHECK(f.ask(peer, makeFrame(Opcode::kText, ended.substr(0, 3), false, true) +
                          makeFrame(Opcode::kContinuation, ended.substr(3))) == "<1:Hello>");
  }
}

// One read brings 60 messages of 1 MB each, which is seconds of work where nobody else has a turn.
TEST_CASE("permessage-deflate: a flood of what inflates gives way to others between its frames", "[ws]") {
  EndpointOptions options;
  options.compression.on = true;
  SocketFixture f(options);
  f.seen.echo = false;
  const std::string offer = "Sec-WebSocket-Extensions: permessage-deflate\r\n";
  test::SimPeer flood = f.open(offer);
  test::SimPeer other = f.server.connect();
  other.write(SocketFixture::request(offer));
  f.server.settle();
  f.seen.log.clear();
  Deflater deflater(15, 9);
  const std::string frame =
      makeFrame(Opcode::kBinary, deflated(deflater, std::string(1 << 20, '\0')), true, true);
  constexpr int kFrames = 50;
  REQUIRE(frame.size() * kFrames < net::ChunkPool::kHuge);  // one read takes them all
  std::string frames;
  for (int i = 0; i < kFrames; ++i) {
    deflater.reset();
    frames += frame;
  }
  flood.write(frames);
  other.write(makeFrame(Opcode::kText, "me too"));
  REQUIRE(f.server.settle());
  const auto count = [](std::string_view text, std::string_view what) {
    int found = 0;
    for (size_t at = 0; (at = text.find(what, at)) != std::string_view::npos; ++at) ++found;
    return found;
  };
  CHECK(count(f.seen.log, "binary:") == kFrames);
  const size_t mine = f.seen.log.find("text:me too");
  REQUIRE(mine != std::string::npos);
  CHECK(count(f.seen.log.substr(0, mine), "binary:") <= 2);
}

// What waits for its turn keeps its place: a Close behind it, and the end of the connection.
TEST_CASE("permessage-deflate: messages that gave way come before the end", "[ws]") {
  EndpointOptions options;
  options.compression.on = true;
  SocketFixture f(options);
  f.seen.echo = false;
  test::SimPeer peer = f.open("Sec-WebSocket-Extensions: permessage-deflate\r\n");
  Deflater deflater(15, 9);
  const std::string frame =
      makeFrame(Opcode::kBinary, deflated(deflater, std::string(300 << 10, 'a')), true, true);
  f.seen.log.clear();
  peer.write(frame + frame + frame + makeFrame(Opcode::kText, "last"));
  peer.shutdownWrite();
  REQUIRE(f.server.settle());
  const std::string forty(40, 'a');
  CHECK(f.seen.log == "binary:" + forty + " binary:" + forty + " binary:" + forty + " text:last close:1006:");
}

TEST_CASE("permessage-deflate: memory for a large message is given back", "[ws]") {
  std::string noise;
  for (uint32_t i = 0, x = 1; i < 500000; ++i)
    noise += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  {
    Scratch scratch;
    Deflater deflater(15, 1);
    for (int i = 0; i < 5; ++i) deflater.run(noise, scratch.bytes());
    CHECK(scratch.bytes().capacity() > Scratch::kKeptBytes);
  }
  {
    Scratch scratch;
    CHECK(scratch.bytes().capacity() == 0);
    noise.resize(Scratch::kKeptBytes / 4 * 3);
    Deflater(15, 1).run(noise, scratch.bytes());
    CHECK(scratch.bytes().size() > noise.size());
    CHECK(scratch.bytes().capacity() < noise.size() + noise.size() / 8);  // of its size at once
    const char* const kept = scratch.bytes().data();
    Scratch again;
    CHECK(again.bytes().empty());
    CHECK(again.bytes().capacity() > 0);
    CHECK(again.bytes().data() == kept);
  }
}

TEST_CASE("permessage-deflate: a client checks the server's answer", "[ws]") {
  CompressionOptions ours;
  ours.on = true;
  ours.server_no_context_takeover = false;
  ours.client_no_context_takeover = false;
  CHECK(compressionOffer(ours) == "permessage-deflate; client_max_window_bits");
  const auto read = [&](std::string_view value) { return readCompressionAnswer(value, ours); };
  CHECK_FALSE(read("").value().on);
  CHECK(read("permessage-deflate").value().on);
  CHECK(read("permessage-deflate; client_max_window_bits=10").value().client_bits == 10);
  CHECK(read("permessage-deflate; server_max_window_bits=9").value().server_bits == 9);
  CHECK(read("permessage-deflate; client_no_context_takeover").value().client_no_context_takeover);
  for (const char* bad :
       {"x-other", "permessage-deflate, permessage-deflate", "permessage-deflate; x",
        "permessage-deflate; client_max_window_bits", "permessage-deflate; server_max_window_bits=7"}) {
    INFO(bad);
    CHECK_FALSE(read(bad).ok());
  }
  ours.server_max_window_bits = 10;
  ours.server_no_context_takeover = true;
  CHECK(compressionOffer(ours) ==
        "permessage-deflate; server_no_context_takeover; server_max_window_bits=10; client_max_window_bits");
  CHECK_FALSE(read("permessage-deflate; server_no_context_takeover").ok());
  CHECK_FALSE(read("permessage-deflate; server_max_window_bits=10").ok());
  CHECK_FALSE(read("permessage-deflate; server_no_context_takeover; server_max_window_bits=11").ok());
  CHECK(read("permessage-deflate; server_no_context_takeover; server_max_window_bits=9").ok());
  ours.on = false;
  CHECK_FALSE(read("permessage-deflate").ok());
}

}  // namespace
}  // namespace roost::http::ws
