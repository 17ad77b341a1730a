#include "net/acceptor.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "net/evictor.h"
#include "net/fd_handoff.h"
#include "support/sim_loop.h"

namespace roost::net {
namespace {

using test::Call;
using test::SimLoop;
using test::SimPeer;

struct Echo final : Session, SessionFactory {
  Session& sessionFor(Connection&) noexcept override { return *this; }
  void onRead(Connection& c, Chunk& in) noexcept override {
    c.write(std::string_view(in.data(), in.size()));
    in.consume(in.size());
  }
};

struct Fixture {
  Echo echo;
  SimLoop net;
  std::unique_ptr<LocalSink> sink;
  std::unique_ptr<Acceptor> acceptor;

  explicit Fixture(Acceptor::Trigger trigger, uint64_t limit = UINT64_MAX) {
    net.io().setFactory(0, echo);
    sink = std::make_unique<LocalSink>(net.io(), limit);
    ListenOptions options;
    options.address = SocketAddress::parse("127.0.0.1", 0).value();
    auto listener = Listener::open(net.sys, options);
    REQUIRE(listener.ok());
    acceptor = std::make_unique<Acceptor>(net.loop(), std::move(listener).value(), 0, *sink, trigger);
    REQUIRE(acceptor->start().ok());
  }
  ~Fixture() {
    acceptor.reset();
    net.shutDown();
  }
  SimPeer client(std::string_view ip = "127.0.0.1") {
    return net.sys.connectTo(acceptor->listener().fd(), ip);
  }
  bool answers(SimPeer& peer) {
    peer.write("ping");
    REQUIRE(net.settle());
    return peer.read() == "ping";
  }
};

TEST_CASE("acceptor: takes all that wait, edge- or level-triggered", "[acceptor]") {
  for (const auto trigger : {Acceptor::Trigger::kEdge, Acceptor::Trigger::kLevel}) {
    Fixture f(trigger);
    std::vector<SimPeer> clients;
    for (int i = 0; i < 100; ++i) clients.push_back(f.client());
    REQUIRE(f.net.settle());
    CHECK(f.acceptor->counts().accepted == 100);
    for (SimPeer& peer : clients) CHECK(f.answers(peer));
    SimPeer later = f.client();
    REQUIRE(f.net.settle());
    CHECK(f.answers(later));
  }
}

TEST_CASE("acceptor: an address has only so many connections", "[acceptor]") {
  AddressLimit::Options options;
  options.max = 2;
  options.exempt = std::move(CidrSet::parse({"192.0.2.0/24"})).value();
  const auto limit = std::move(AddressLimit::create(std::move(options))).value();
  Fixture f(Acceptor::Trigger::kEdge);
  f.net.io().setAddressLimit(limit.get());
  f.acceptor->setAddressLimit(limit.get());
  std::vector<SimPeer> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(f.client("198.51.100.1"));
  REQUIRE(f.net.settle());
  CHECK(f.answers(clients[0]));
  CHECK(f.answers(clients[1]));
  CHECK(clients[2].gone());
  CHECK(clients[3].gone());
  CHECK(f.acceptor->counts().over_limit == 2);
  SECTION("others have their own") {
    SimPeer other = f.client("198.51.100.2");
    REQUIRE(f.net.settle());
    CHECK(f.answers(other));
  }
  SECTION("some have none") {
    for (int i = 0; i < 5; ++i) clients.push_back(f.client("192.0.2.9"));
    REQUIRE(f.net.settle());
    for (size_t i = 4; i < clients.size(); ++i) CHECK(f.answers(clients[i]));
  }
  SECTION("one that ends makes room") {
    clients[0].close();
    REQUIRE(f.net.settle());
    SimPeer next = f.client("198.51.100.1");
    REQUIRE(f.net.settle());
    CHECK(f.answers(next));
    SimPeer beyond = f.client("198.51.100.1");
    REQUIRE(f.net.settle());
    CHECK(beyond.gone());
  }
}

TEST_CASE("acceptor: an IPv6 network is one client", "[acceptor]") {
  AddressLimit::Options options;
  options.max = 1;
  const auto limit = std::move(AddressLimit::create(std::move(options))).value();
  const auto enter = [&limit](std::string_view ip) { return limit->enter(SimLoop::address(ip)); };
  const auto first = enter("2001:db8:0:1::1");
  CHECK(first.admitted);
  CHECK_FALSE(enter("2001:db8:0:1:ffff::2").admitted);
  CHECK(enter("2001:db8:0:2::1").admitted);
  CHECK(enter("::ffff:192.0.2.1").admitted);
  CHECK_FALSE(enter("192.0.2.1").admitted);
  limit->leave(first.hash);
  CHECK(enter("2001:db8:0:1::3").admitted);
}

TEST_CASE("acceptor: an overloaded loop is given no connections until it has recovered", "[acceptor]") {
  Fixture f(Acceptor::Trigger::kLevel);
  LoadGate gate(nullptr);
  f.sink->setGate(&gate);
  SimPeer held = f.client();
  REQUIRE(f.net.settle());
  gate.setOwn(Load::kNoConnections);
  SimPeer waits = f.client();
  REQUIRE(f.net.settle());
  REQUIRE(f.net.pass(3000));
  CHECK(f.acceptor->counts().accepted == 1);
  CHECK(f.answers(held));
  CHECK_FALSE(waits.gone());
  gate.setOwn(Load::kFine);
  REQUIRE(f.net.pass(1000));
  CHECK(f.answers(waits));
}

TEST_CASE("acceptor: a flood of clients leaves other listeners their turn", "[acceptor][regression]") {
  Fixture f(Acceptor::Trigger::kEdge);
  ListenOptions options;
  options.address = SocketAddress::parse("127.0.0.1", 0).value();
  Acceptor other(f.net.loop(), std::move(Listener::open(f.net.sys, options)).value(), 0, *f.sink,
                 Acceptor::Trigger::kEdge);
  REQUIRE(other.start().ok());
  std::vector<SimPeer> clients;
  for (int i = 0; i < 1500; ++i) clients.push_back(f.client());
  SimPeer patient = f.net.sys.connectTo(other.listener().fd());
  f.net.loop().runOnce(0);
  CHECK(f.acceptor->counts().accepted == 512);
  CHECK(other.counts().accepted == 1);
  f.net.loop().runOnce(0);
  CHECK(f.acceptor->counts().accepted == 1024);
  SECTION("the rest follows by itself") {
    REQUIRE(f.net.settle());
    CHECK(f.acceptor->counts().pauses == 0);
  }
  SECTION("even where asking for it fails") {
    f.net.sys.failNth(Call::kEpollCtl, 1, ENOMEM, UINT64_MAX / 2);
    f.net.loop().runOnce(0);
    f.net.sys.clearFaults();
    REQUIRE(f.net.pass(100, 1));
  }
  CHECK(f.acceptor->counts().accepted == 1500);
}

TEST_CASE("acceptor: out of descriptors it pauses, doubling, and never spins", "[acceptor][regression]") {
  for (const auto trigger : {Acceptor::Trigger::kEdge, Acceptor::Trigger::kLevel}) {
    Fixture f(trigger);
    SimPeer alive = f.client();
    REQUIRE(f.net.settle());
    f.net.sys.setFdLimit(f.net.sys.openFds());
    std::vector<SimPeer> waiting;
    for (int i = 0; i < 20; ++i) waiting.push_back(f.client());
    f.net.sys.resetCounts();
    REQUIRE(f.net.settle());  // no spin
    CHECK(f.acceptor->counts().pauses == 1);
    CHECK(f.acceptor->counts().turned_away == 1);
    CHECK(waiting[0].sawEnd());  // told by the spare descriptor
    CHECK(f.net.sys.calls(Call::kAccept) == 2);
    CHECK(f.answers(alive));
    // 10 + 20 + 40 ... + 640 ms, then every second.
    for (uint64_t round = 1; round <= 6; ++round) {
      REQUIRE(f.net.pass(10 << (round - 1), 1));
      CHECK(f.acceptor->counts().pauses == round + 1);
    }
    REQUIRE(f.net.pass(640, 10));
    REQUIRE(f.net.pass(10000, 100));
    CHECK(f.acceptor->counts().pauses <= 8 + 10);
    CHECK(f.acceptor->counts().pauses >= 8 + 8);
    CHECK(f.answers(alive));
    // Descriptors come back: the rest is served within the longest pause.
    f.net.sys.setFdLimit(SIZE_MAX);
    REQUIRE(f.net.pass(1100, 10));
    SimPeer& last = waiting.back();
    CHECK(f.answers(last));
    CHECK(f.acceptor->counts().accepted + f.acceptor->counts().turned_away == 21);
  }
}

// Answers as Echo, and is idle from then on.
struct Idler final : Session, SessionFactory {
  Session& sessionFor(Connection&) noexcept override { return *this; }
  void onConnected(Connection& c) noexcept override { c.setDeadline(60000); }
  void onRead(Connection& c, Chunk& in) noexcept override {
    c.write(std::string_view(in.data(), in.size()));
    c.setDeadline(60000);
    in.consume(in.size());
  }
  uint32_t idleMs(const Connection& c) const noexcept override { return 61000 - c.deadlineLeftMs(); }
};

TEST_CASE("acceptor: out of descriptors, idle connections go before anyone is refused",
          "[acceptor][regression]") {
  for (const auto trigger : {Acceptor::Trigger::kEdge, Acceptor::Trigger::kLevel}) {
    Fixture f(trigger);
    Idler idler;
    f.net.io().setFactory(0, idler);
    Evictor evictor(f.net.io());
    std::vector<SimPeer> clients;
    for (int i = 0; i < 20; ++i) {
      clients.push_back(f.client());
      REQUIRE(f.net.pass(500));
    }
    CHECK(f.answers(clients[0]));  // the oldest is now the second
    f.net.sys.setFdLimit(f.net.sys.openFds());
    std::vector<SimPeer> newcomers;
    for (int i = 0; i < 10; ++i) {
      newcomers.push_back(f.client());
      REQUIRE(f.net.settle());
      CHECK(f.answers(newcomers.back()));
    }
    CHECK(f.acceptor->counts().turned_away == 0);
    CHECK(f.acceptor->counts().pauses == 0);
    CHECK(f.answers(clients[0]));
    CHECK(clients[1].gone());
    CHECK(clients[8].gone());
    CHECK_FALSE(clients[15].gone());
    f.net.io().closeAll();
  }
}

TEST_CASE("acceptor: at the limit of connections idle ones make room", "[acceptor][regression]") {
  for (const auto trigger : {Acceptor::Trigger::kEdge, Acceptor::Trigger::kLevel}) {
    Fixture f(trigger, 2);
    Idler idler;
    f.net.io().setFactory(0, idler);
    Evictor evictor(f.net.io());
    SimPeer a = f.client();
    REQUIRE(f.net.pass(1000));
    SimPeer b = f.client();
    REQUIRE(f.net.pass(1000));
    SimPeer c = f.client();
    REQUIRE(f.net.settle());
    CHECK(f.answers(c));
    CHECK(a.gone());
    CHECK(f.answers(b));
    CHECK(f.acceptor->counts().pauses == 0);
    f.net.io().closeAll();
  }
}

TEST_CASE("hand-off: out of descriptors, the loops are asked for room", "[acceptor][handoff][regression]") {
  SimLoop net;
  Idler idler;
  net.io().setFactory(0, idler);
  Evictor evictor(net.io());
  FdHandoff handoff(net.io(), UINT64_MAX);
  REQUIRE(handoff.open().ok());
  RoundRobinSink sink({&handoff});
  sink.setEvictors({&evictor});
  ListenOptions options;
  options.address = SocketAddress::parse("127.0.0.1", 0).value();
  auto acceptor = std::make_unique<Acceptor>(net.loop(), std::move(Listener::open(net.sys, options)).value(),
                                             0, sink, Acceptor::Trigger::kEdge);
  REQUIRE(acceptor->start().ok());
  std::vector<SimPeer> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(net.sys.connectTo(acceptor->listener().fd()));
  REQUIRE(net.pass(1000));
  net.sys.setFdLimit(net.sys.openFds());
  SimPeer newcomer = net.sys.connectTo(acceptor->listener().fd());
  REQUIRE(net.pass(100, 1));
  newcomer.write("ping");
  REQUIRE(net.settle());
  CHECK(newcomer.read() == "ping");
  CHECK(acceptor->counts().turned_away == 0);
  CHECK(evictor.evictedCount() > 0);
  net.io().closeAll();
  acceptor.reset();
}

TEST_CASE("acceptor: memory running out pauses too, without the spare", "[acceptor]") {
  Fixture f(Acceptor::Trigger::kEdge);
  f.net.sys.failNth(Call::kAccept, 1, ENOBUFS, 3);
  SimPeer peer = f.client();
  REQUIRE(f.net.settle());
  CHECK(f.acceptor->counts().pauses == 1);
  CHECK(f.acceptor->counts().turned_away == 0);
  REQUIRE(f.net.pass(100, 1));
  CHECK(f.acceptor->counts().pauses == 3);
  CHECK(f.answers(peer));
}

TEST_CASE("acceptor: goes on after a pause where no file can be opened", "[acceptor][regression]") {
  for (const int error : {ENOENT, EACCES, EMFILE}) {
    Fixture f(Acceptor::Trigger::kEdge);
    f.net.sys.failNth(Call::kOpen, 1, error, 1'000'000);  // no /dev/null in a chroot
    f.net.sys.failNth(Call::kAccept, 1, ENOBUFS, 1);
    SimPeer peer = f.client();
    REQUIRE(f.net.settle());
    REQUIRE(f.acceptor->counts().pauses == 1);
    REQUIRE(f.net.pass(100, 1));
    CHECK(f.acceptor->counts().pauses == 1);
    CHECK(f.answers(peer));
  }
}

TEST_CASE("acceptor: one connection's trouble is not the listener's", "[acceptor]") {
  for (const int error : {ECONNABORTED, EINTR, EPROTO, ENETDOWN}) {
    Fixture f(Acceptor::Trigger::kEdge);
    f.net.sys.failNth(Call::kAccept, 1, error, 5);
    SimPeer peer = f.client();
    REQUIRE(f.net.settle());
    CHECK(f.acceptor->counts().pauses == 0);
    CHECK(f.answers(peer));
  }
}

TEST_CASE("acceptor: blocked addresses are refused at once", "[acceptor]") {
  Fixture f(Acceptor::Trigger::kEdge);
  const auto blocked = CidrSet::parse({"10.0.0.0/8", "192.0.2.7"});
  REQUIRE(blocked.ok());
  f.acceptor->setBlocked(&blocked.value());
  SimPeer bad = f.client("10.1.2.3");
  SimPeer good = f.client("192.0.2.8");
  SimPeer worse = f.client("192.0.2.7");
  REQUIRE(f.net.settle());
  CHECK(bad.gone());
  CHECK(worse.gone());
  CHECK(f.answers(good));
  CHECK(f.acceptor->counts().refused == 2);
  CHECK(f.acceptor->counts().accepted == 1);
}

TEST_CASE("acceptor: at the limit new clients wait for room", "[acceptor]") {
  Fixture f(Acceptor::Trigger::kEdge, 2);
  SimPeer a = f.client();
  SimPeer b = f.client();
  SimPeer c = f.client();
  REQUIRE(f.net.settle());
  CHECK(f.acceptor->counts().accepted == 2);
  REQUIRE(f.net.pass(3000, 10));
  CHECK(f.acceptor->counts().accepted == 2);
  CHECK_FALSE(c.gone());
  a.close();
  REQUIRE(f.net.pass(1100, 10));
  CHECK(f.answers(c));
  CHECK(f.answers(b));
}

TEST_CASE("acceptor: after stopping nobody is accepted", "[acceptor]") {
  Fixture f(Acceptor::Trigger::kLevel);
  f.acceptor->stop();
  SimPeer peer = f.client();
  REQUIRE(f.net.pass(2000, 100));
  CHECK(f.acceptor->counts().accepted == 0);
}

TEST_CASE("hand-off: round robin passes over loops that are full", "[handoff]") {
  test::SimSys sys;
  Echo echo;
  std::vector<std::unique_ptr<event::Loop>> loops;
  std::vector<std::unique_ptr<IoContext>> contexts;
  std::vector<std::unique_ptr<FdHandoff>> handoffs;
  std::vector<FdHandoff*> targets;
  for (uint32_t i = 0; i < 3; ++i) {
    loops.push_back(std::move(event::Loop::create(sys, i)).value());
    contexts.push_back(std::make_unique<IoContext>(*loops[i]));
    contexts[i]->setFactory(0, echo);
    handoffs.push_back(std::make_unique<FdHandoff>(*contexts[i], i == 1 ? 2 : 100));
    REQUIRE(handoffs[i]->open().ok());
    targets.push_back(handoffs[i].get());
  }
  RoundRobinSink sink(targets);
  std::vector<SimPeer> peers;
  for (int i = 0; i < 10; ++i) {
    REQUIRE(sink.accepts());
    auto [fd, peer] = sys.connectedPair();
    sink.give({fd, SimLoop::address("127.0.0.1"), 0});
    peers.push_back(peer);
  }
  CHECK(sys.calls(Call::kEventfdSignal) == 0);
  sink.endOfBatch();
  CHECK(sys.calls(Call::kEventfdSignal) == 3);  // one per loop
  for (const auto& loop : loops) loop->runOnce(0);
  CHECK(contexts[0]->size() == 4);
  CHECK(contexts[1]->size() == 2);
  CHECK(contexts[2]->size() == 4);
  peers[1].close();
  loops[1]->runOnce(0);
  CHECK(contexts[1]->size() == 1);
  CHECK(targets[1]->accepts());
  RoundRobinSink nobody({});
  CHECK_FALSE(nobody.accepts());
  for (const auto& context : contexts) context->closeAll();
}

TEST_CASE("hand-off: adopting many leaves the loop's other events their turn", "[handoff][regression]") {
  Echo echo;
  SimLoop net;
  net.io().setFactory(0, echo);
  FdHandoff handoff(net.io(), UINT64_MAX);
  REQUIRE(handoff.open().ok());
  std::vector<SimPeer> peers;
  for (int i = 0; i < 1000; ++i) {
    auto [fd, peer] = net.sys.connectedPair();
    REQUIRE(handoff.accepts());
    handoff.offer({fd, SimLoop::address("127.0.0.1"), 0});
    peers.push_back(peer);
  }
  handoff.wake();
  SECTION("in turns") {
    net.loop().runOnce(0);
    CHECK(net.io().size() == FdHandoff::kTurn);
    net.loop().runOnce(0);
    CHECK(net.io().size() == 2 * FdHandoff::kTurn);
    REQUIRE(net.settle());
  }
  SECTION("or all at once, before the end") {
    handoff.adoptAll();
  }
  CHECK(net.io().size() == 1000);
  net.io().closeAll();
}

TEST_CASE("hand-off: the obstacle is named", "[handoff]") {
  SimLoop net;
  FdHandoff small(net.io(), 1);
  FdHandoff large(net.io(), UINT64_MAX);
  const auto fill = [&](FdHandoff& handoff) {
    while (handoff.accepts()) {
      handoff.offer({net.sys.connectedPair().first, SimLoop::address("127.0.0.1"), 0});
    }
  };
  fill(small);
  fill(large);  // its ring
  RoundRobinSink both({&small, &large});
  CHECK_FALSE(both.accepts());
  CHECK(std::string(both.obstacle()).find("worker_connections") == std::string::npos);
  RoundRobinSink limited({&small});
  CHECK_FALSE(limited.accepts());
  CHECK(std::string(limited.obstacle()).find("worker_connections") != std::string::npos);
}

TEST_CASE("hand-off: sockets that were never taken are closed with it", "[handoff]") {
  SimLoop net;
  const size_t before = net.sys.openFds();
  {
    FdHandoff handoff(net.io(), 10);
    REQUIRE(handoff.open().ok());
    auto [fd, peer] = net.sys.connectedPair();
    handoff.offer({fd, SimLoop::address("127.0.0.1"), 0});
  }
  CHECK(net.sys.openFds() == before);
}

TEST_CASE("hand-off: accepting thread and IO threads on the real kernel", "[handoff][threads]") {
  constexpr uint32_t kLoops = 2;
  constexpr int kClients = 200;
  Echo echo;
  std::vector<std::unique_ptr<event::Loop>> loops;
  std::vector<std::unique_ptr<IoContext>> contexts;
  std::vector<std::unique_ptr<FdHandoff>> handoffs;
  std::vector<FdHandoff*> targets;
  for (uint32_t i = 0; i < kLoops; ++i) {
    loops.push_back(std::move(event::Loop::create(realSys(), i)).value());
    contexts.push_back(std::make_unique<IoContext>(*loops[i]));
    contexts[i]->setFactory(0, echo);
    handoffs.push_back(std::make_unique<FdHandoff>(*contexts[i], 1000));
    REQUIRE(handoffs[i]->open().ok());
    targets.push_back(handoffs[i].get());
  }
  auto main_loop = std::move(event::Loop::create(realSys(), 99)).value();
  RoundRobinSink sink(targets);
  ListenOptions options;
  options.address = SocketAddress::parse("127.0.0.1", 0).value();
  auto listener = Listener::open(realSys(), options);
  REQUIRE(listener.ok());
  const SocketAddress address = listener.value().address();
  Acceptor acceptor(*main_loop, std::move(listener).value(), 0, sink, Acceptor::Trigger::kEdge);
  REQUIRE(acceptor.start().ok());
  std::vector<std::thread> threads;
  for (const auto& loop : loops) threads.emplace_back([&loop] { loop->run(); });
  threads.emplace_back([&main_loop] { main_loop->run(); });

  // The clients: a loop of their own on this thread.
  auto client_loop = std::move(event::Loop::create(realSys(), 50)).value();
  IoContext client_io(*client_loop);
  struct Client final : Session {
    void onConnected(Connection& c) noexcept override { c.write(std::string_view("ping")); }
    void onRead(Connection& c, Chunk& in) noexcept override {
      if (std::string_view(in.data(), in.size()) != "ping") return;
      in.consume(in.size());
      ++answered;
      c.close();
    }
    void onClose(Connection&) noexcept override {
      if (++closed == kClients) loop->stop();
    }
    event::Loop* loop = nullptr;
    int answered = 0;
    int closed = 0;
  } client;
  client.loop = client_loop.get();
  for (int i = 0; i < kClients; ++i) REQUIRE(client_io.connect(address, client).ok());
  client_loop->run();
  CHECK(client.answered == kClients);
  for (const auto& loop : loops) loop->stop();
  main_loop->stop();
  for (std::thread& thread : threads) thread.join();
  CHECK(acceptor.counts().accepted == kClients);
  for (const auto& context : contexts) context->closeAll();
}

TEST_CASE("listener: errors name the address and the cause", "[listener]") {
  test::SimSys sys;
  ListenOptions options;
  options.address = SocketAddress::parse("127.0.0.1", 8080).value();
  const auto failing = [&](Call call, int error) {
    sys.failNth(call, 1, error);
    const auto made = Listener::open(sys, options);
    REQUIRE_FALSE(made.ok());
    CHECK(sys.openFds() == 0);
    CHECK(made.status().sysErrno() == error);
    return made.status().message();
  };
  CHECK(failing(Call::kBind, EADDRINUSE).find("127.0.0.1:8080") != std::string::npos);
  CHECK(failing(Call::kBind, EADDRINUSE).find("another process") != std::string::npos);
  CHECK(failing(Call::kBind, EACCES).find("below 1024") != std::string::npos);
  CHECK(failing(Call::kBind, EADDRNOTAVAIL).find("no interface") != std::string::npos);
  CHECK_FALSE(failing(Call::kListen, EADDRINUSE).empty());
  CHECK_FALSE(failing(Call::kSocket, EMFILE).empty());
  CHECK_FALSE(failing(Call::kSetSockOpt, ENOPROTOOPT).empty());
  const auto first = Listener::open(sys, options);
  REQUIRE(first.ok());
  const auto second = Listener::open(sys, options);
  REQUIRE_FALSE(second.ok());
  CHECK(second.status().sysErrno() == EADDRINUSE);
}

TEST_CASE("listener: a Unix socket's file comes, replaces a stale one, and goes", "[listener]") {
  const std::string path = "/tmp/roost-listener-" + std::to_string(::getpid()) + ".sock";
  ListenOptions options;
  options.address = SocketAddress::parse(path, 0).value();
  options.unix_mode = 0600;
  {
    auto listener = Listener::open(realSys(), options);
    REQUIRE(listener.ok());
    struct stat info {};
    REQUIRE(::stat(path.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    CHECK(Listener::open(realSys(), options).status().sysErrno() ==
          EADDRINUSE);  // somebody answers: left alone
    CHECK(::link(path.c_str(), (path + "2").c_str()) == 0);
  }
  struct stat info {};
  CHECK(::stat(path.c_str(), &info) != 0);
  REQUIRE(::rename((path + "2").c_str(), path.c_str()) == 0);  // stale: nobody listens behind it
  CHECK(Listener::open(realSys(), options).ok());
  CHECK(::stat(path.c_str(), &info) != 0);
}

TEST_CASE("listener: a Unix socket's file that a successor has put there stays", "[listener][regression]") {
  const std::string path = "/tmp/roost-successor-" + std::to_string(::getpid()) + ".sock";
  ListenOptions options;
  options.address = SocketAddress::parse(path, 0).value();
  auto first = std::make_unique<Listener>(std::move(Listener::open(realSys(), options)).value());
  REQUIRE(::unlink(path.c_str()) == 0);
  auto second = std::make_unique<Listener>(std::move(Listener::open(realSys(), options)).value());
  first.reset();
  struct stat info {};
  CHECK(::stat(path.c_str(), &info) == 0);
  second.reset();
  CHECK(::stat(path.c_str(), &info) != 0);
}

TEST_CASE("listener: a shared port that a stranger shares is in use", "[listener][regression]") {
  ListenOptions options;
  options.address = SocketAddress::parse("127.0.0.1", 0).value();
  options.reuse_port = true;
  CHECK(Listener::probe(realSys(), options).ok());
  const auto stranger = Listener::open(realSys(), options);
  REQUIRE(stranger.ok());
  options.address = stranger.value().address();
  CHECK(Listener::open(realSys(), options).ok());  // sharing alone does not tell
  const Status status = Listener::probe(realSys(), options);
  CHECK(status.sysErrno() == EADDRINUSE);
  CHECK(status.message().find("another process") != std::string::npos);
}

}  // namespace
}  // namespace roost::net
