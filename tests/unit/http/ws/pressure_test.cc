// What waits for what: peers that do not read, handlers that do not, and the memory that it costs.
#include <catch2/catch.hpp>

#include "http/ws/message_buffer.h"
#include "unit/http/ws/socket_fixture.h"

namespace roost::http::ws {
namespace {

TEST_CASE("websocket: a peer that does not read is not read, and not for ever", "[ws]") {
  EndpointOptions options;
  options.max_queued_bytes = 1 << 20;
  SECTION("echoes wait for it") {
    SocketFixture f(options);
    test::SimPeer peer = f.open();
    const std::string payload(200000, 'y');
    size_t sent = 0;
    for (int i = 0; i < 60; ++i) {
      peer.write(makeFrame(Opcode::kBinary, payload));
      sent += payload.size() + 10;
      f.server.settle();
    }
    CHECK(f.seen.socket != nullptr);
    CHECK(f.seen.socket->queuedBytes() < options.max_queued_bytes + payload.size() * 2);
    std::string got;
    for (int idle = 0; got.size() < sent && idle < 3;) {
      const std::string piece = peer.read();
      idle = piece.empty() ? idle + 1 : 0;
      got += piece;
      f.server.settle();
    }
    CHECK(got.size() == sent);
    CHECK(f.seen.log.find("writable") != std::string::npos);
  }
  SECTION("who sends on in spite of kBlocked loses the peer") {
    SocketFixture f(options);
    test::SimPeer peer = f.open();
    Socket* const socket = f.seen.socket;
    REQUIRE(socket != nullptr);
    const BufferRef payload = BufferRef::copyOf(std::string(100000, 'p'));
    int blocked = 0;
    SendResult last = SendResult::kAccepted;
    for (int i = 0; i < 1000 && last != SendResult::kClosed; ++i) {
      last = socket->send(Opcode::kBinary, payload);
      if (last == SendResult::kBlocked) ++blocked;
    }
    CHECK(last == SendResult::kClosed);
    CHECK(blocked > 0);
    CHECK(f.seen.log == "open close:1006:");
    f.server.settle();
  }
}

// Lets answers pile up until the peer's socket is full and more than may wait is queued.
void fillUp(Socket& socket) {
  const BufferRef payload = BufferRef::copyOf(std::string(100000, 'p'));
  for (int i = 0; i < 100 && socket.send(Opcode::kBinary, payload) != SendResult::kBlocked; ++i) continue;
  REQUIRE(socket.queuedBytes() > 0);
}

TEST_CASE("websocket: a peer that takes nothing is cut off whatever it sends", "[ws]") {
  EndpointOptions options;
  options.ping_interval_ms = 30000;
  SocketFixture f(options);
  f.server.options.send_timeout_ms = 5000;
  f.server.net.sys.setCapacity(10000);
  test::SimPeer peer = f.open();
  fillUp(*f.seen.socket);
  for (int second = 0; second < 10 && f.seen.socket != nullptr; ++second) {
    peer.write(makeFrame(Opcode::kPong, ""));
    REQUIRE(f.server.net.pass(1000));
  }
  CHECK(f.seen.log.find("close:1006") != std::string::npos);
  CHECK(peer.sawReset());
}

TEST_CASE("websocket: a peer that takes its time is not pinged to death meanwhile", "[ws]") {
  EndpointOptions options;
  options.ping_interval_ms = 1000;
  options.pong_timeout_ms = 1000;
  SocketFixture f(options);
  f.server.options.send_timeout_ms = 30000;
  f.server.net.sys.setCapacity(10000);
  test::SimPeer peer = f.open();
  fillUp(*f.seen.socket);
  for (int i = 0; i < 3; ++i) {
    peer.write(makeFrame(Opcode::kPong, ""));
    REQUIRE(f.server.net.pass(10000));
    peer.read(1000);
    f.server.settle();
  }
  CHECK(f.seen.socket != nullptr);
  while (!peer.read().empty()) f.server.settle();
  CHECK(f.seen.log.find("writable") != std::string::npos);
  REQUIRE(f.server.net.pass(1500));  // the deadline of the socket's own counts again
  CHECK(readFrames(peer.read()) == "<9:>");
}

TEST_CASE("websocket: pings that wait are told of as messages are", "[ws]") {
  SocketFixture f;
  f.server.net.sys.setCapacity(10000);
  test::SimPeer peer = f.open();
  const std::string payload(kMaxControlBytes, '?');
  SendResult last = SendResult::kAccepted;
  for (int i = 0; i < 5000 && last == SendResult::kAccepted; ++i) last = f.seen.socket->ping(payload);
  REQUIRE(last == SendResult::kBlocked);
  f.server.settle();
  CHECK(f.seen.log == "open ");
  while (!peer.read().empty()) f.server.settle();
  CHECK(f.seen.log == "open writable ");
}

TEST_CASE("websocket: a paused socket reads nothing until it is resumed", "[ws]") {
  EndpointOptions options;
  options.ping_interval_ms = 10000;
  options.pong_timeout_ms = 1000;
  SocketFixture f(options);
  const std::string two = makeFrame(Opcode::kText, "pause") + makeFrame(Opcode::kText, "later");
  test::SimPeer peer = f.open();
  Socket& socket = *f.seen.socket;
  SECTION("from within a message: the next one waits") {
    CHECK(f.ask(peer, two + makeFrame(Opcode::kPong, "too")) == "<1:pause>");
    CHECK(socket.paused());
    CHECK(f.ask(peer, makeFrame(Opcode::kText, "last")) == "");
    CHECK(f.seen.log == "open text:pause ");
    socket.resume();
    CHECK(f.ask(peer, "") == "<1:later><1:last>");
    CHECK(f.seen.log == "open text:pause text:later pong:too text:last ");
  }
  SECTION("resumed within the same message, nothing is to be noticed") {
    CHECK(f.ask(peer, makeFrame(Opcode::kText, "pause and resume") + makeFrame(Opcode::kText, "x")) ==
          "<1:pause and resume><1:x>");
    CHECK_FALSE(socket.paused());
  }
  SECTION("the peer has to wait once the kernel's buffer is full") {
    socket.pause();
    for (int i = 0; i < 100; ++i) {
      peer.write(makeFrame(Opcode::kBinary, std::string(10000, 'x')));
      f.server.settle();
    }
    CHECK(f.seen.log == "open ");
    f.server.net.io().forEach([](net::Connection& c) { CHECK(c.unreadBytes() == 0); });
    CHECK(socket.send(Opcode::kText, "sending goes on") == SendResult::kAccepted);
    f.server.settle();
    CHECK(readFrames(peer.read()) == "<1:sending goes on>");
    socket.resume();
    CHECK(f.ask(peer, "").size() == 100 * (10000 + 4));
  }
  SECTION("half a message that is there already is kept") {
    const std::string frame = makeFrame(Opcode::kText, "in two halves");
    f.ask(peer, frame.substr(0, 9));
    socket.pause();
    CHECK(f.ask(peer, frame.substr(9)) == "");
    socket.resume();
    CHECK(f.ask(peer, "") == "<1:in two halves>");
  }
  SECTION("silence is not held against the peer") {
    socket.pause();
    peer.write(makeFrame(Opcode::kText, "here"));
    REQUIRE(f.server.net.pass(60000, 500));
    CHECK(peer.read().empty());
    socket.resume();
    CHECK(f.ask(peer, "") == "<1:here>");
    REQUIRE(f.server.net.pass(10500));
    CHECK(readFrames(peer.read()) == "<9:>");
    SECTION("nor when a pong was due") {
      socket.pause();
      REQUIRE(f.server.net.pass(60000, 500));
      CHECK_FALSE(peer.gone());
      socket.resume();
      REQUIRE(f.server.net.pass(12000));
      CHECK(peer.gone());
    }
  }
  SECTION("the peer's Close and its end are heard after it") {
    socket.pause();
    CHECK(f.ask(peer, makeFrame(Opcode::kText, "words") + makeFrame(Opcode::kClose, "\x03\xe8")) == "");
    peer.shutdownWrite();
    f.server.settle();
    CHECK(f.seen.log == "open ");
    socket.resume();
    CHECK(f.ask(peer, "") == "<1:words><8:\x03\xe8>");
    CHECK(f.seen.log == "open text:words close:1000:");
  }
  SECTION("closing resumes") {
    socket.pause();
    f.ask(peer, makeFrame(Opcode::kText, "unheard"));
    socket.close(kNormal, {});
    CHECK_FALSE(socket.paused());
    CHECK(f.ask(peer, makeFrame(Opcode::kClose, "\x03\xe8")) == "<8:\x03\xe8>");
    CHECK(f.seen.log == "open close:1000:");
    CHECK(peer.sawEnd());
  }
  SECTION("and so does the end of the server") {
    socket.pause();
    f.server.net.io().forEach([](net::Connection& c) { c.session()->onShutdown(c, 0); });
    CHECK(f.ask(peer, makeFrame(Opcode::kClose, "\x03\xe9")) == "<8:\x03\xe9>");
    CHECK(peer.sawEnd());
  }
  SECTION("room to send does not resume it") {
    fillUp(socket);
    socket.pause();
    peer.write(makeFrame(Opcode::kText, "patience"));
    for (f.server.settle(); !peer.read().empty();) f.server.settle();
    CHECK(f.seen.log == "open writable ");
    socket.resume();
    CHECK(f.ask(peer, "") == "<1:patience>");
  }
}

TEST_CASE("websocket: a paused socket may still be idle for too long", "[ws]") {
  EndpointOptions options;
  options.idle_timeout_ms = 5000;
  SocketFixture f(options);
  test::SimPeer peer = f.open();
  f.seen.socket->pause();
  REQUIRE(f.server.net.pass(6000));
  CHECK(readFrames(peer.read()) ==
        "<8:\x03\xe8"
        "idle>");
}

TEST_CASE("websocket: putting a message together moves it a few times, however many pieces it has", "[ws]") {
  constexpr size_t kLimit = 1 << 20;
  for (const size_t piece : {size_t{1}, size_t{64}, size_t{1000}}) {
    INFO("pieces of " << piece);
    MessageBuffer message;
    size_t moves = 0;
    size_t moved = 0;
    while (message.size() + piece <= kLimit) {
      const size_t before = message.capacity();
      // A frame that is all there announces no more than itself.
      message.reserve(piece, message.size() + piece, kLimit);
      if (message.capacity() != before) {
        ++moves;
        moved += message.size();
      }
      if (message.room() < piece) FAIL("no room");
      std::memset(message.space(), static_cast<int>(message.size() % 251), piece);
      message.added(piece);
    }
    CHECK(moves <= 21);
    CHECK(moved <= 2 * kLimit);
    CHECK(message.capacity() <= kLimit);
    const size_t last = message.size() - piece;
    CHECK(static_cast<unsigned char>(message.data()[last]) == last % 251);
    CHECK(message.take().size() >= kLimit - piece);
    CHECK(message.size() == 0);
    CHECK(message.capacity() == 0);
  }
}

TEST_CASE("websocket: what a header announces costs little until it comes", "[ws]") {
  MessageBuffer message;
  message.reserve(1, 1 << 30, 1 << 30);
  CHECK(message.capacity() == MessageBuffer::kFirstBytes);
  CHECK(message.take());
  message.reserve(100, 5000, 1 << 20);
  CHECK(message.capacity() == 5000);
  message.added(5000);
  message.reserve(1, 1 << 20, 5500);
  CHECK(message.capacity() == 5500);
  CHECK(message.take());
  message.reserve(0, 0, 1 << 20);  // an empty message lies somewhere too
  CHECK(message.room() == 0);
  CHECK(message.take());
}

}  // namespace
}  // namespace roost::http::ws
