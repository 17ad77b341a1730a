#include "net/connection.h"

#include <netinet/in.h>

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "net/acceptor.h"
#include "support/sim_loop.h"
#include "support/temp_file.h"

namespace roost::net {
namespace {

using test::Call;
using test::SimLoop;
using test::SimPeer;

// Writes every event down, and does what the test tells it to.
struct Recorder final : Session, SessionFactory {
  std::string log;
  std::string data;
  int last_errno = 0;
  std::function<void(Connection&, Chunk&)> on_read;
  std::function<void(Connection&)> on_connected, on_write_complete, on_read_end, on_timeout, on_close;

  Session& sessionFor(Connection&) noexcept override { return *this; }
  void onConnecting(Connection&) noexcept override { log += "connecting "; }
  void onConnected(Connection& c) noexcept override {
    log += "connected ";
    if (on_connected) on_connected(c);
  }
  void onRead(Connection& c, Chunk& in) noexcept override {
    log += "read ";
    data.append(in.data(), in.size());
    if (on_read) {
      on_read(c, in);
    } else {
      in.consume(in.size());
    }
  }
  void onPeerEnd(Connection&) noexcept override { log += "peer-end "; }
  void onReadEnd(Connection& c) noexcept override {
    log += "end ";
    if (on_read_end) {
      on_read_end(c);
    } else {
      Session::onReadEnd(c);
    }
  }
  void onWriteBlocked(Connection&, size_t) noexcept override { log += "blocked "; }
  void onWriteComplete(Connection& c) noexcept override {
    log += "written ";
    if (on_write_complete) on_write_complete(c);
  }
  void onTimeout(Connection& c) noexcept override {
    log += "timeout ";
    if (on_timeout) {
      on_timeout(c);
    } else {
      Session::onTimeout(c);
    }
  }
  void onError(Connection&, int sys_errno) noexcept override {
    log += "error ";
    last_errno = sys_errno;
  }
  void onClose(Connection& c) noexcept override {
    log += "close ";
    if (on_close) on_close(c);
  }
};

struct Fixture {
  Recorder session;
  SimLoop net;
  Fixture() { net.io().setFactory(0, session); }
  // The only connection there is.
  Connection& only() {
    Connection* found = nullptr;
    net.io().forEach([&](Connection& c) { found = &c; });
    REQUIRE(found != nullptr);
    return *found;
  }
};

void echo(Connection& c, Chunk& in) {
  c.write(std::string_view(in.data(), in.size()));
  in.consume(in.size());
}

TEST_CASE("connection: an echo server sees its events in order", "[connection]") {
  Fixture f;
  f.session.on_read = echo;
  SimPeer peer = f.net.connect();
  peer.write("hello");
  REQUIRE(f.net.settle());
  CHECK(peer.read() == "hello");
  peer.write("again");
  REQUIRE(f.net.settle());
  CHECK(peer.read() == "again");
  peer.shutdownWrite();
  REQUIRE(f.net.settle());
  CHECK(peer.sawEnd());
  CHECK(f.session.log == "connected read written read written end close ");
  CHECK(f.net.io().size() == 0);
}

TEST_CASE("connection: one read and one write per request", "[connection]") {
  Fixture f;
  f.session.on_read = echo;
  SimPeer peer = f.net.connect();
  REQUIRE(f.net.settle());
  f.net.sys.resetCounts();
  for (int i = 0; i < 10; ++i) {
    peer.write("ping");
    f.net.loop().runOnce(0);
  }
  CHECK(f.net.sys.calls(Call::kRecv) == 10);
  CHECK(f.net.sys.sendCalls() == 10);
  CHECK(f.net.sys.calls(Call::kEpollWait) == 10);
  CHECK(f.net.sys.calls(Call::kEpollCtl) == 0);
  CHECK(f.net.sys.calls(Call::kTimerfdSet) == 0);
}

TEST_CASE("connection: what is left unconsumed is offered again with more", "[connection]") {
  Fixture f;
  std::string seen;
  f.session.on_read = [&](Connection&, Chunk& in) {
    seen.assign(in.data(), in.size());
    const size_t line = seen.find('\n');
    if (line != std::string::npos) in.consume(line + 1);
  };
  SimPeer peer = f.net.connect();
  std::string sent;
  for (int i = 0; i < 3000; ++i) {
    peer.write("x");
    sent += 'x';
    f.net.loop().runOnce(0);
    REQUIRE(seen == sent);
  }
  CHECK(f.only().unreadBytes() == 3000);
  peer.write("\nrest");
  REQUIRE(f.net.settle());
  CHECK(f.only().unreadBytes() == 4);
  f.only().offerInput();
  CHECK(seen == "rest");
}

TEST_CASE("connection: a session that never consumes loses its connection at the bound", "[connection]") {
  Fixture f;
  f.net.sys.setCapacity(16 << 20);
  f.session.on_read = [](Connection&, Chunk&) {};
  SimPeer peer = f.net.connect();
  peer.write(std::string(Connection::kMaxUnreadBytes + (4 << 20), 'x'));
  f.session.data.reserve(1 << 20);
  REQUIRE(f.net.settle());
  CHECK(f.session.last_errno == ENOBUFS);
  CHECK(peer.sawReset());
  CHECK(f.net.io().size() == 0);
}

TEST_CASE("connection: a pause leaves bytes to the kernel until reading goes on", "[connection]") {
  Fixture f;
  f.session.on_read = [](Connection& c, Chunk& in) {
    in.consume(in.size());
    c.pauseRead();
  };
  SimPeer peer = f.net.connect();
  peer.write("one");
  REQUIRE(f.net.settle());
  peer.write("two");
  REQUIRE(f.net.settle());  // no spin while it is paused
  CHECK(f.session.data == "one");
  f.session.on_read = nullptr;
  f.only().resumeRead();
  REQUIRE(f.net.settle());
  CHECK(f.session.data == "onetwo");
}

TEST_CASE("connection: the peer's end is told while reading is paused, once, to who wants it",
          "[connection]") {
  Fixture f;
  f.session.on_read = [](Connection& c, Chunk& in) {
    in.consume(in.size());
    c.pauseRead();
  };
  SimPeer peer = f.net.connect();
  bool wanted = true;
  SECTION("before the pause") {
    f.only().watchEnd(true);
    peer.write("one");
    REQUIRE(f.net.settle());
    peer.write("two");
    peer.shutdownWrite();
  }
  SECTION("in the pause, of which the poller has been told") {
    peer.write("one");
    REQUIRE(f.net.settle());
    peer.write("two");
    peer.shutdownWrite();
    REQUIRE(f.net.settle());
    f.only().watchEnd(true);
  }
  SECTION("not at all") {
    wanted = false;
    f.only().watchEnd(true);
    f.only().watchEnd(false);
    peer.write("one");
    REQUIRE(f.net.settle());
    peer.write("two");
    peer.shutdownWrite();
  }
  REQUIRE(f.net.settle());  // no spin
  CHECK(f.session.log == (wanted ? "connected read peer-end " : "connected read "));
  f.session.on_read = nullptr;
  f.only().resumeRead();
  REQUIRE(f.net.settle());
  CHECK(f.session.data == "onetwo");
}

TEST_CASE("connection: a failure is noticed while reading is paused", "[connection]") {
  Fixture f;
  f.session.on_read = [](Connection& c, Chunk& in) {
    in.consume(in.size());
    c.pauseRead();
  };
  SimPeer peer = f.net.connect();
  peer.write("one");
  REQUIRE(f.net.settle());
  peer.reset();
  REQUIRE(f.net.settle());
  CHECK(f.session.log == "connected read error close ");
  CHECK(f.session.last_errno == ECONNRESET);
}

TEST_CASE("connection: what came before a reset is read before a write fails", "[connection][regression]") {
  Fixture f;
  f.net.sys.setCapacity(1000);
  f.session.on_connected = [](Connection& c) { c.write(std::string(3000, 'a')); };
  SimPeer peer = f.net.connect();
  REQUIRE(f.net.settle());
  CHECK(f.session.log == "connected blocked ");
  peer.write("last words");
  peer.reset();
  REQUIRE(f.net.settle());
  CHECK(f.session.data == "last words");
  CHECK(f.session.log == "connected blocked read error close ");
  CHECK(f.session.last_errno == ECONNRESET);
}

TEST_CASE("connection: a slow reader gets everything, and its writer hears of it", "[connection]") {
  Fixture f;
  f.net.sys.setCapacity(1000);
  SimPeer peer = f.net.connect();
  REQUIRE(f.net.settle());
  const std::string bytes = test::patternOf(50000);
  const std::string file = test::patternOf(30000, 9);
  f.only().write(std::string_view(bytes).substr(0, 20000));
  f.only().write(BufferRef::copyOf(bytes), 20000, 30000);
  f.only().writeFile(OpenFile(f.net.sys, test::tempFile(file)), 0, file.size());
  f.only().flush();
  std::string got;
  for (int i = 0; i < 1000 && got.size() < 80000; ++i) {
    REQUIRE(f.net.settle());
    if (got.size() < 78000) REQUIRE(f.session.log.find("written") == std::string::npos);
    got += peer.read(333);
  }
  REQUIRE(f.net.settle());
  CHECK(got == bytes + file);
  CHECK(f.session.log.find("written") != std::string::npos);
  CHECK_FALSE(f.only().writing());
}

TEST_CASE("connection: what a peer takes below the poller's notice is progress", "[connection][regression]") {
  Fixture f;
  f.net.sys.setCapacity(1000);
  SimPeer peer = f.net.connect();
  REQUIRE(f.net.settle());
  f.only().write(test::patternOf(5000));
  f.only().flush();
  REQUIRE(f.only().writing());
  CHECK_FALSE(f.only().writeProgressed());
  peer.read(1);
  CHECK(f.only().writeProgressed());
  CHECK_FALSE(f.only().writeProgressed());
  peer.read(1);
  peer.read(1);
  CHECK(f.only().writeProgressed());
  CHECK_FALSE(f.only().writeProgressed());
}

TEST_CASE("connection: the kernel tells what a peer has not taken", "[connection]") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  CHECK(realSys().outQueueBytes(ends[0]) == 0);
  REQUIRE(realSys().sendTo(ends[0], "bytes", 5, false) == 5);
  CHECK(realSys().outQueueBytes(ends[0]) > 0);
  char taken[5];
  REQUIRE(realSys().recvFrom(ends[1], taken, sizeof taken) == 5);
  CHECK(realSys().outQueueBytes(ends[0]) == 0);
  for (const int fd : ends) realSys().closeFd(fd);
  CHECK(realSys().outQueueBytes(-1) == -EBADF);
}

// Answers each 'x' with 300 KB, as long as no answer waits.
struct Repeater {
  int depth = 0;
  int deepest = 0;
  int answered = 0;
  int most_in_a_turn = 0;
  int in_this_turn = 0;
  static constexpr size_t kAnswer = 300'000;

  void attachTo(Recorder& session) {
    session.on_read = [this](Connection& c, Chunk& in) {
      if (in.empty()) return;
      c.write(std::string(kAnswer, static_cast<char>('a' + answered++ % 26)));
      most_in_a_turn = std::max(most_in_a_turn, ++in_this_turn);
      in.consume(1);
      if (!in.empty()) c.pauseRead();
    };
    session.on_write_complete = [this](Connection& c) {
      deepest = std::max(deepest, ++depth);
      c.resumeRead();
      c.offerInputSoon();
      --depth;
    };
  }
};

TEST_CASE("connection: answers that lead to the next take turns with others", "[connection][regression]") {
  Fixture f;
  f.net.sys.setCapacity(64 << 20);
  Repeater repeater;
  repeater.attachTo(f.session);
  SimPeer greedy = f.net.connect();
  SimPeer modest = f.net.connect();
  REQUIRE(f.net.settle());
  greedy.write(std::string(50, 'x'));
  modest.write("x");
  SECTION("") {}
  SECTION("and none is lost at the end of input") {
    greedy.shutdownWrite();
  }
  f.net.loop().runOnce(0);
  CHECK(modest.readable() == Repeater::kAnswer);
  std::string got;
  for (int turn = 0; turn < 200 && repeater.answered < 51; ++turn) {
    repeater.in_this_turn = 0;
    f.net.loop().runOnce(0);
    got += greedy.read();
  }
  REQUIRE(f.net.settle());
  got += greedy.read();
  CHECK(repeater.most_in_a_turn <= 4);
  CHECK(repeater.deepest == 1);
  REQUIRE(got.size() == 50 * Repeater::kAnswer);
  char last = 'a' - 1;
  for (size_t i = 0; i < got.size(); i += Repeater::kAnswer) {
    CHECK(got[i] != last);
    last = got[i];
  }
}

TEST_CASE("connection: many small flushes end a turn like one large", "[connection][regression]") {
  Fixture f;
  f.net.sys.setCapacity(64 << 20);
  SimPeer peer = f.net.connect();
  REQUIRE(f.net.settle());
  const std::string piece = test::patternOf(100'000);
  for (int i = 0; i < 100; ++i) {
    f.only().write(piece);
    f.only().flush();
  }
  CHECK(f.only().writing());
  CHECK(peer.readable() == 21 * piece.size());  // the first to go beyond 2 MiB is the last
  REQUIRE(f.net.settle());
  CHECK_FALSE(f.only().writing());
  CHECK(peer.readable() == 100 * piece.size());
}

TEST_CASE("connection: closing after writing sends everything first", "[connection]") {
  Fixture f;
  f.net.sys.setCapacity(100);
  f.session.on_connected = [](Connection& c) {
    c.write(test::patternOf(1000));
    c.closeAfterWrite(false);
  };
  SimPeer peer = f.net.connect();
  std::string got;
  for (int i = 0; i < 100 && !peer.sawEnd(); ++i) {
    REQUIRE(f.net.settle());
    got += peer.read(50);
  }
  CHECK(got == test::patternOf(1000));
  CHECK(f.net.io().size() == 0);
}

TEST_CASE("connection: lingering reads away what the peer still sends", "[connection]") {
  Fixture f;
  f.session.on_read = [](Connection& c, Chunk& in) {
    in.consume(in.size());
    c.write("refused");
    c.closeAfterWrite(true);
  };
  SimPeer peer = f.net.connect();
  peer.write("request");
  REQUIRE(f.net.settle());
  CHECK(f.session.log == "connected read close ");  // the session is done already
  for (int i = 0; i < 20; ++i) {
    peer.write(std::string(10000, 'x'));
    REQUIRE(f.net.settle());
  }
  CHECK_FALSE(peer.sawReset());
  CHECK(peer.read() == "refused");
  CHECK(peer.sawEnd());
  CHECK(f.net.io().size() == 1);
  SECTION("until the peer ends") {
    peer.close();
    REQUIRE(f.net.settle());
  }
  SECTION("or time is up") {
    REQUIRE(f.net.pass(6000));
  }
  CHECK(f.net.io().size() == 0);
}

TEST_CASE("connection: without a time to linger it closes at once", "[connection][regression]") {
  Fixture f;
  f.net.io().setLingerMs(0);
  f.session.on_read = [](Connection& c, Chunk& in) {
    in.consume(in.size());
    c.write("refused");
    c.closeAfterWrite(true);
  };
  SimPeer peer = f.net.connect();
  peer.write("request");
  REQUIRE(f.net.settle());
  CHECK(peer.read() == "refused");
  CHECK(peer.sawEnd());
  CHECK(f.net.io().size() == 0);
}

TEST_CASE("connection: lingering begins reading even where reading was paused before", "[connection]") {
  Fixture f;
  f.session.on_read = [](Connection& c, Chunk& in) {
    in.consume(in.size());
    c.pauseRead();
  };
  SimPeer peer = f.net.connect();
  peer.write("one");
  REQUIRE(f.net.settle());
  peer.write("two");
  REQUIRE(f.net.settle());
  f.only().write("refused");
  f.only().flush();
  f.only().closeAfterWrite(true);  // as from a task: no event of this connection is being handled
  REQUIRE(f.net.settle());
  peer.close();
  REQUIRE(f.net.settle());
  CHECK(f.net.io().size() == 0);
}

TEST_CASE("connection: closing from within any event is safe", "[connection]") {
  const auto closer = [](Connection& c) { c.close(); };
  SECTION("connected") {
    Fixture f;
    f.session.on_connected = closer;
    SimPeer peer = f.net.connect();
    REQUIRE(f.net.settle());
    CHECK(f.session.log == "connected close ");
    CHECK(peer.sawEnd());
  }
  SECTION("read, with bytes kept from before") {
    Fixture f;
    f.session.on_read = [n = 0](Connection& c, Chunk&) mutable {
      if (++n == 2) c.close();
    };
    SimPeer peer = f.net.connect();
    peer.write("a");
    REQUIRE(f.net.settle());
    peer.write("b");
    REQUIRE(f.net.settle());
    CHECK(f.session.log == "connected read read close ");
  }
  SECTION("read, with bytes queued") {
    Fixture f;
    f.session.on_read = [](Connection& c, Chunk&) {
      c.write("never sent");
      c.close();
      c.write("ignored");
      c.flush();
      c.setDeadline(10);
      c.resumeRead();
      c.offerInput();
      c.closeAfterWrite(true);
    };
    SimPeer peer = f.net.connect();
    peer.write("a");
    REQUIRE(f.net.settle());
    CHECK(f.session.log == "connected read close ");
    CHECK(peer.read().empty());
  }
  SECTION("written") {
    Fixture f;
    f.session.on_read = echo;
    f.session.on_write_complete = closer;
    SimPeer peer = f.net.connect();
    peer.write("a");
    REQUIRE(f.net.settle());
    CHECK(f.session.log == "connected read written close ");
    CHECK(peer.read() == "a");
  }
  SECTION("end and timeout") {
    Fixture f;
    f.session.on_read_end = [](Connection& c) { c.setDeadline(100); };
    SimPeer peer = f.net.connect();
    peer.shutdownWrite();
    REQUIRE(f.net.settle());
    CHECK(f.session.log == "connected end ");
    REQUIRE(f.net.pass(1000));
    CHECK(f.session.log == "connected end timeout close ");
  }
}

TEST_CASE("connection: another one may be closed while its event waits in the same batch", "[connection]") {
  Fixture f;
  std::vector<Connection*> all;
  f.session.on_connected = [&](Connection& c) { all.push_back(&c); };
  f.session.on_read = [&](Connection& c, Chunk& in) {
    in.consume(in.size());
    for (Connection* other : all) {
      if (other != &c) other->close();
    }
  };
  SimPeer a = f.net.connect();
  SimPeer b = f.net.connect();
  a.write("x");
  b.write("y");
  REQUIRE(f.net.settle());
  CHECK(f.session.data.size() == 1);
  CHECK(f.net.io().size() == 1);
}

TEST_CASE("connection: deadlines pass once, in time, and can be moved", "[connection]") {
  Fixture f;
  f.session.on_timeout = [](Connection&) {};
  SimPeer peer = f.net.connect();
  REQUIRE(f.net.settle());
  f.only().setDeadline(2000);
  REQUIRE(f.net.pass(1950));
  CHECK(f.session.log == "connected ");
  REQUIRE(f.net.pass(550));
  CHECK(f.session.log == "connected timeout ");
  f.only().setDeadline(1000);
  REQUIRE(f.net.pass(900));
  f.only().setDeadline(5000);  // later: a store
  REQUIRE(f.net.pass(4000));
  CHECK(f.session.log == "connected timeout ");
  f.only().setDeadline(250);  // earlier
  REQUIRE(f.net.pass(800));
  CHECK(f.session.log == "connected timeout timeout ");
  f.only().setDeadline(500);
  f.only().clearDeadline();
  REQUIRE(f.net.pass(5000));
  CHECK(f.session.log == "connected timeout timeout ");
}

TEST_CASE("connection: reset tells the peer by RST", "[connection]") {
  Fixture f;
  SimPeer peer = f.net.connect();
  REQUIRE(f.net.settle());
  f.only().write("dropped");
  f.only().reset();
  CHECK(peer.sawReset());
  REQUIRE(f.net.settle());
  CHECK(f.session.log == "connected close ");
}

TEST_CASE("connection: a file that shrinks ends its connection", "[connection]") {
  Fixture f;
  f.net.sys.setCapacity(1000);
  const int fd = test::tempFile(test::patternOf(10000));
  SimPeer peer = f.net.connect();
  REQUIRE(f.net.settle());
  f.only().writeFile(OpenFile(f.net.sys, fd), 0, 10000);
  f.only().flush();
  REQUIRE(::ftruncate(fd, 1500) == 0);
  for (int i = 0; i < 10; ++i) {
    peer.read();
    REQUIRE(f.net.settle());
  }
  CHECK(f.session.last_errno == EIO);
  CHECK(peer.gone());
}

TEST_CASE("connection: bytes written at once go out before all others", "[connection]") {
  Fixture f;
  SimPeer peer = f.net.connect();
  REQUIRE(f.net.settle());
  CHECK(f.only().writeNow("fast") == 4);
  f.only().write("queued");
  CHECK(f.only().writeNow("not now") == 0);
  f.only().flush();
  CHECK(peer.read() == "fastqueued");
}

TEST_CASE("connection: names of what is gone find nothing", "[connection]") {
  Fixture f;
  SimPeer first = f.net.connect();
  REQUIRE(f.net.settle());
  const uint32_t slot = f.only().slot();
  const uint32_t generation = f.net.io().generation(f.only());
  CHECK(f.net.io().find(slot, generation) == &f.only());
  first.close();
  REQUIRE(f.net.settle());
  CHECK(f.net.io().find(slot, generation) == nullptr);
  SimPeer second = f.net.connect();
  CHECK(f.only().slot() == slot);
  CHECK(f.net.io().find(slot, generation) == nullptr);
}

// ---- clients ----

TEST_CASE("connection: a client and a server meet on the simulated kernel", "[connection]") {
  Fixture f;
  f.session.on_read = echo;
  ListenOptions options;
  options.address = SocketAddress::parse("127.0.0.1", 0).value();
  auto listener = Listener::open(f.net.sys, options);
  REQUIRE(listener.ok());
  const SocketAddress address = listener.value().address();
  LocalSink sink(f.net.io(), 100);
  Acceptor acceptor(f.net.loop(), std::move(listener).value(), 0, sink, Acceptor::Trigger::kLevel);
  REQUIRE(acceptor.start().ok());
  Recorder client;
  client.on_connected = [](Connection& c) { c.write("hello from the client"); };
  std::string got;
  client.on_read = [&](Connection& c, Chunk& in) {
    got.assign(in.data(), in.size());
    in.consume(in.size());
    c.close();
  };
  REQUIRE(f.net.io().connect(address, client).ok());
  CHECK(client.log == "connecting ");
  REQUIRE(f.net.settle());
  CHECK(got == "hello from the client");
  CHECK(client.log == "connecting connected written read close ");
  CHECK(f.session.log == "connected read written end close ");
  CHECK(f.net.io().closedCount() == 1);  // clients do not count
}

TEST_CASE("connection: a refused client is told", "[connection]") {
  Fixture f;
  Recorder client;
  REQUIRE(f.net.io().connect(SocketAddress::parse("127.0.0.1", 9).value(), client).ok());
  REQUIRE(f.net.settle());
  CHECK(client.log == "connecting error close ");
  CHECK(client.last_errno == ECONNREFUSED);
  CHECK(f.net.io().closedCount() == 0);
}

TEST_CASE("connection: a client that waits in vain times out", "[connection]") {
  Fixture f;
  f.net.sys.holdConnects(true);
  Recorder client;
  REQUIRE(f.net.io().connect(SocketAddress::parse("127.0.0.1", 9).value(), client).ok());
  f.net.io().forEach([](Connection& c) { c.setDeadline(1000); });
  REQUIRE(f.net.pass(3000));
  CHECK(client.log == "connecting timeout close ");
}

TEST_CASE("connection: an immediate connect leaves the bytes being read alone", "[connection]") {
  Fixture f;
  ListenOptions options;
  options.address = SocketAddress::parse("@upstream", 0).value();
  auto listener = Listener::open(f.net.sys, options);
  REQUIRE(listener.ok());
  Recorder client;
  std::string after;
  f.session.on_read = [&](Connection& c, Chunk& in) {
    REQUIRE(c.context().connect(options.address, client).ok());
    CHECK(client.log == "connecting ");
    after.assign(in.data(), in.size());
    in.consume(in.size());
  };
  SimPeer peer = f.net.connect();
  peer.write("still here");
  REQUIRE(f.net.settle());
  CHECK(after == "still here");
  CHECK(client.log == "connecting connected ");
  f.net.shutDown();
}

TEST_CASE("connection: a client that cannot begin changes nothing", "[connection]") {
  Fixture f;
  Recorder client;
  f.net.sys.failNth(Call::kSocket, 1, EMFILE);
  CHECK(f.net.io().connect(SocketAddress::parse("127.0.0.1", 9).value(), client).sysErrno() == EMFILE);
  f.net.sys.failNth(Call::kConnect, 1, ENETUNREACH);
  CHECK(f.net.io().connect(SocketAddress::parse("127.0.0.1", 9).value(), client).sysErrno() == ENETUNREACH);
  const SocketAddress local = SocketAddress::parse("127.0.0.7", 0).value();
  f.net.sys.failNth(Call::kBind, 1, EADDRNOTAVAIL);
  CHECK(f.net.io().connect(SocketAddress::parse("127.0.0.1", 9).value(), client, &local).sysErrno() ==
        EADDRNOTAVAIL);
  CHECK(client.log.empty());
  CHECK(f.net.io().size() == 0);
}

TEST_CASE("connection: a client may say where it comes from", "[connection]") {
  Recorder client;  // hears of the end, when the fixture goes
  Fixture f;
  const SocketAddress local = SocketAddress::parse("127.0.0.7", 0).value();
  f.net.sys.resetCounts();
  REQUIRE(f.net.io().connect(SocketAddress::parse("127.0.0.1", 9).value(), client, &local).ok());
  CHECK(f.net.sys.calls(Call::kBind) == 1);
  CHECK(f.net.sys.calls(Call::kSetSockOpt) == 2);  // TCP_NODELAY, IP_BIND_ADDRESS_NO_PORT
}

// ---- every call failing in turn ----

TEST_CASE("connection: any call may fail without a leak or a hang", "[connection]") {
  for (uint64_t nth = 1;; ++nth) {
    test::SimSys* sys = nullptr;
    bool failed = false;
    size_t left = 0;
    {
      Fixture f;
      sys = &f.net.sys;
      const size_t before = sys->openFds();
      sys->setCapacity(700);
      f.session.on_read = echo;
      sys->failAnyNth(nth);
      SimPeer peer = f.net.connect();
      std::string got;
      for (int i = 0; i < 6; ++i) {
        peer.write(test::patternOf(500, static_cast<unsigned>(i)));
        REQUIRE(f.net.settle());
        got += peer.read(400);
      }
      peer.shutdownWrite();
      for (int i = 0; i < 20; ++i) {
        REQUIRE(f.net.settle());
        got += peer.read(400);
      }
      failed = sys->anyFailed();
      CHECK(f.net.io().size() == 0);
      CHECK(peer.gone());
      left = sys->openFds() - before;
      CHECK(left == 0);
    }
    if (!failed) {
      CHECK(nth > 20);
      break;
    }
  }
}

TEST_CASE("connection: echo over the real kernel", "[connection][threads]") {
  auto made = event::Loop::create(realSys(), 0);
  REQUIRE(made.ok());
  auto loop = std::move(made).value();
  IoContext io(*loop);
  Recorder server;
  server.on_read = echo;
  io.setFactory(0, server);
  ListenOptions options;
  options.address = SocketAddress::parse("127.0.0.1", 0).value();
  auto listener = Listener::open(realSys(), options);
  REQUIRE(listener.ok());
  const SocketAddress address = listener.value().address();
  CHECK(address.port() != 0);
  LocalSink sink(io, 100);
  Acceptor acceptor(*loop, std::move(listener).value(), 0, sink, Acceptor::Trigger::kLevel);
  REQUIRE(acceptor.start().ok());
  const std::string sent = test::patternOf(3 << 20);
  std::string got;
  Recorder client;
  client.on_connected = [&](Connection& c) { c.write(BufferRef::copyOf(sent), 0, sent.size()); };
  client.on_read = [&](Connection& c, Chunk& in) {
    got.append(in.data(), in.size());
    in.consume(in.size());
    if (got.size() >= sent.size()) c.closeAfterWrite(false);
  };
  client.on_close = [&](Connection&) { loop->stop(); };
  REQUIRE(io.connect(address, client).ok());
  loop->run();
  io.closeAll();
  CHECK(got == sent);
}

}  // namespace
}  // namespace roost::net
