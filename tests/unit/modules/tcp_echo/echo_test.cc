#include <catch2/catch.hpp>

#include <future>

#include "modules/tcp_echo/echo_session.h"
#include "modules/tcp_echo/working_echo.h"
#include "support/sim_loop.h"

using namespace roost;
using modules::tcp_echo::EchoSession;
using modules::tcp_echo::Work;
using modules::tcp_echo::WorkingEcho;

namespace {

std::string pattern(size_t size) {
  std::string text(size, 'x');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i % 23);
  return text;
}

// Everything that can be read, letting the server go on after each piece.
std::string readAll(test::SimLoop& net, test::SimPeer& peer) {
  std::string all;
  while (peer.readable() > 0) {
    all += peer.read(40'000);
    REQUIRE(net.settle());
  }
  return all;
}

// A WorkingEcho on a simulated kernel, its task threads real.
class Working {
 public:
  test::SimLoop net;
  event::TaskPool tasks;

  explicit Working(const Work& work, size_t threads = 0, size_t queue_limit = 4096)
      : tasks(threads, queue_limit), context_(std::make_unique<http::LoopContext>(net.io(), tasks)) {
    echo_ = std::make_unique<WorkingEcho>(*context_, work, 1000);
    net.io().setFactory(0, *echo_);
  }
  ~Working() {
    tasks.stop();
    net.settle();
    net.io().closeAll();
    echo_.reset();
    context_.reset();
  }

 private:
  std::unique_ptr<http::LoopContext> context_;
  std::unique_ptr<WorkingEcho> echo_;
};

}  // namespace

TEST_CASE("tcp_echo: one read and one write for a message", "[tcp_echo]") {
  test::SimLoop net;
  EchoSession echo(1000);
  net.io().setFactory(0, echo);
  test::SimPeer peer = net.connect();
  REQUIRE(net.settle());
  for (const std::string& message : {std::string("hello"), pattern(10'000)}) {
    net.sys.resetCounts();
    peer.write(message);
    REQUIRE(net.settle());
    CHECK(peer.read() == message);
    CHECK(net.sys.calls(test::Call::kRecv) == 1);
    CHECK(net.sys.sendCalls() == 1);
  }
}

TEST_CASE("tcp_echo: a peer that does not take its echo is not read from", "[tcp_echo]") {
  test::SimLoop net;
  net.sys.setCapacity(100'000);
  EchoSession echo(1000);
  net.io().setFactory(0, echo);
  test::SimPeer peer = net.connect();
  const std::string much = pattern(3'000'000);
  peer.write(much);
  REQUIRE(net.settle());
  CHECK(peer.readable() <= 100'000);
  uint64_t held = 0;
  net.io().forEach([&](net::Connection& c) { held = c.queuedBytes() + c.unreadBytes(); });
  CHECK(held <= 1'000'000);
  CHECK(readAll(net, peer) == much);
  peer.write("more");
  peer.shutdownWrite();
  REQUIRE(net.settle());
  CHECK(peer.read() == "more");
  CHECK(peer.sawEnd());
}

TEST_CASE("tcp_echo: who is silent or takes nothing is closed", "[tcp_echo]") {
  test::SimLoop net;
  net.sys.setCapacity(1000);
  EchoSession echo(1000);
  net.io().setFactory(0, echo);
  test::SimPeer silent = net.connect(), stuck = net.connect(), lively = net.connect();
  stuck.write(pattern(5000));
  for (int i = 0; i < 8; ++i) {
    lively.write("x");
    REQUIRE(net.pass(250));
    CHECK(lively.read() == "x");
  }
  CHECK(silent.gone());
  stuck.read();
  CHECK(stuck.gone());
  CHECK_FALSE(lively.gone());
  CHECK(net.io().size() == 1);
}

TEST_CASE("tcp_echo: work on the loop", "[tcp_echo]") {
  Working f({Work::Kind::kCpu, Work::Where::kLoop, 50});
  f.net.sys.setCapacity(10'000);
  test::SimPeer peer = f.net.connect();
  const std::string much = pattern(100'000);
  peer.write(much);
  REQUIRE(f.net.settle());
  CHECK(readAll(f.net, peer) == much);
}

TEST_CASE("tcp_echo: a wait by timer, one message after the other", "[tcp_echo]") {
  Working f({Work::Kind::kSleep, Work::Where::kTimer, 100'000});
  test::SimPeer peer = f.net.connect(), leaver = f.net.connect();
  peer.write("one");
  leaver.write("gone");
  REQUIRE(f.net.settle());
  peer.write("two");
  leaver.reset();
  REQUIRE(f.net.pass(90, 10));
  CHECK(peer.read().empty());
  REQUIRE(f.net.pass(20, 10));
  CHECK(peer.read() == "one");
  peer.shutdownWrite();
  REQUIRE(f.net.pass(110, 10));
  CHECK(peer.read() == "two");
  CHECK(peer.sawEnd());
}

TEST_CASE("tcp_echo: task threads, and a queue that is full", "[tcp_echo]") {
  Working f({Work::Kind::kSleep, Work::Where::kTask, 1}, 1, 1);
  std::promise<void> gate;
  auto closed = event::makeTask([open = gate.get_future().share()] { open.wait(); });
  REQUIRE(f.tasks.submit(closed));
  std::vector<test::SimPeer> peers;
  for (int i = 0; i < 5; ++i) {
    peers.push_back(f.net.connect());
    peers.back().write("message " + std::to_string(i));
    REQUIRE(f.net.settle());
  }
  test::SimPeer leaver = f.net.connect();
  leaver.write("gone before it is its turn");
  REQUIRE(f.net.settle());
  leaver.close();
  REQUIRE(f.net.settle());
  for (test::SimPeer& peer : peers) CHECK(peer.read().empty());

  gate.set_value();
  const auto all_answered = [&] {
    for (const test::SimPeer& peer : peers) {
      if (peer.readable() == 0) return false;
    }
    return true;
  };
  while (!all_answered()) REQUIRE(f.net.pass(1, 1));
  for (size_t i = 0; i < peers.size(); ++i) CHECK(peers[i].read() == "message " + std::to_string(i));
}

TEST_CASE("tcp_echo: a connection that goes while a task thread has its message", "[tcp_echo]") {
  Working f({Work::Kind::kSleep, Work::Where::kTask, 1}, 1);
  std::promise<void> gate;
  auto closed = event::makeTask([open = gate.get_future().share()] { open.wait(); });
  REQUIRE(f.tasks.submit(closed));
  test::SimPeer leaver = f.net.connect();
  leaver.write("secret");
  REQUIRE(f.net.settle());
  leaver.close();
  REQUIRE(f.net.settle());
  test::SimPeer next = f.net.connect();  // in the same slot
  REQUIRE(f.net.settle());
  gate.set_value();
  f.tasks.stop();
  REQUIRE(f.net.settle());
  CHECK(next.read().empty());
}
