// The simulated kernel against the real one: the same steps, the same outcomes.
#include <catch2/catch.hpp>
#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/sim_sys.h"

namespace roost::test {
namespace {

// A connected pair through a listener of `sys`, all by its calls, and an epoll.
struct Pair {
  explicit Pair(Sys& on) : sys(on) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t len = sizeof address;
    listener = sys.socketCreate(AF_INET, SOCK_STREAM, 0);
    REQUIRE(sys.bindTo(listener, reinterpret_cast<sockaddr*>(&address), len) == 0);
    REQUIRE(sys.listenOn(listener, 10) == 0);
    REQUIRE(sys.getSockName(listener, reinterpret_cast<sockaddr*>(&address), &len) == 0);
    epoll = sys.epollCreate();
    CHECK(sys.acceptOn(listener, nullptr, nullptr) == -EAGAIN);
    a = sys.socketCreate(AF_INET, SOCK_STREAM, 0);
    watch(a, EPOLLOUT, EPOLL_CTL_ADD);
    const int rc = sys.connectTo(a, reinterpret_cast<sockaddr*>(&address), len);
    CHECK((rc == 0 || rc == -EINPROGRESS));
    CHECK(ready() == EPOLLOUT);
    CHECK(sys.socketError(a) == 0);
    b = sys.acceptOn(listener, nullptr, nullptr);
    REQUIRE(b >= 0);
  }
  ~Pair() {
    for (const int fd : {listener, epoll, a, b}) {
      if (fd >= 0) sys.closeFd(fd);
    }
  }
  void watch(int fd, uint32_t events, int op) {
    epoll_event event{};
    event.events = events;
    CHECK(sys.epollCtl(epoll, op, fd, &event) == 0);
  }
  // Events of the one watched descriptor. The real loopback delivers before the call returns.
  uint32_t ready() {
    epoll_event event{};
    return sys.epollWait(epoll, &event, 1, 0) == 1 ? event.events : 0;
  }
  std::string receive(int fd) {
    char data[100];
    const ssize_t n = sys.recvFrom(fd, data, sizeof data);
    return n >= 0 ? std::string(data, static_cast<size_t>(n)) : "errno " + std::to_string(-n);
  }
  void drop(int& fd) {
    sys.closeFd(fd);
    fd = -1;
  }
  Sys& sys;
  int listener = -1, epoll = -1, a = -1, b = -1;
};

void onBoth(const std::function<void(Pair&)>& steps) {
  SECTION("simulated") {
    SimSys sim;
    {
      Pair pair(sim);
      steps(pair);
    }
    CHECK(sim.openFds() == 0);
  }
  SECTION("real") {
    Pair pair(realSys());
    steps(pair);
  }
}

TEST_CASE("sim: level-triggered events repeat, edge-triggered ones come once per wake-up", "[sim]") {
  onBoth([](Pair& p) {
    p.watch(p.a, EPOLLIN, EPOLL_CTL_MOD);
    CHECK(p.ready() == 0);
    p.sys.sendTo(p.b, "x", 1, false);
    CHECK(p.ready() == EPOLLIN);
    CHECK(p.ready() == EPOLLIN);
    p.watch(p.a, EPOLLIN | EPOLLET, EPOLL_CTL_MOD);
    CHECK(p.ready() == EPOLLIN);
    CHECK(p.ready() == 0);
    p.sys.sendTo(p.b, "y", 1, false);
    CHECK(p.ready() == EPOLLIN);
    CHECK(p.ready() == 0);
    CHECK(p.receive(p.a) == "xy");
    CHECK(p.receive(p.a) == "errno 11");
  });
}

TEST_CASE("sim: an ended side", "[sim]") {
  onBoth([](Pair& p) {
    p.watch(p.a, EPOLLIN | EPOLLRDHUP, EPOLL_CTL_MOD);
    p.sys.sendTo(p.b, "last", 4, false);
    CHECK(p.sys.shutdownWrite(p.b) == 0);
    CHECK(p.ready() == (EPOLLIN | EPOLLRDHUP));
    CHECK(p.receive(p.a) == "last");
    CHECK(p.receive(p.a).empty());
    CHECK(p.sys.sendTo(p.b, "x", 1, false) == -EPIPE);
    CHECK(p.sys.sendTo(p.a, "back", 4, false) == 4);
    CHECK(p.receive(p.b) == "back");
    CHECK(p.sys.shutdownWrite(p.a) == 0);
    CHECK((p.ready() & EPOLLHUP) != 0);
  });
}

TEST_CASE("sim: closing with bytes unread resets", "[sim]") {
  onBoth([](Pair& p) {
    p.watch(p.a, 0, EPOLL_CTL_MOD);
    p.sys.sendTo(p.a, "never read", 10, false);
    p.drop(p.b);
    CHECK((p.ready() & (EPOLLERR | EPOLLHUP)) == (EPOLLERR | EPOLLHUP));
    CHECK(p.receive(p.a) == "errno 104");
    CHECK(p.receive(p.a).empty());
    CHECK(p.sys.sendTo(p.a, "x", 1, false) == -EPIPE);
  });
}

TEST_CASE("sim: writing to one that is gone", "[sim]") {
  onBoth([](Pair& p) {
    p.drop(p.b);
    CHECK(p.receive(p.a).empty());
    CHECK(p.sys.sendTo(p.a, "x", 1, false) == 1);
    CHECK(p.sys.sendTo(p.a, "y", 1, false) == -EPIPE);
  });
}

TEST_CASE("sim: a linger of zero resets", "[sim]") {
  onBoth([](Pair& p) {
    const linger hard{1, 0};
    p.sys.setSockOpt(p.b, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    p.drop(p.b);
    CHECK(p.receive(p.a) == "errno 104");
  });
}

TEST_CASE("sim: a full socket is not writable until it is read", "[sim]") {
  onBoth([](Pair& p) {
    const std::string block(65536, 'x');
    ssize_t n = 0;
    size_t sent = 0;
    while ((n = p.sys.sendTo(p.a, block.data(), block.size(), false)) > 0) sent += static_cast<size_t>(n);
    CHECK(n == -EAGAIN);
    CHECK(p.ready() == 0);
    std::string buffer(1 << 20, '\0');
    size_t got = 0;
    while (got < sent) {
      n = p.sys.recvFrom(p.b, buffer.data(), buffer.size());
      if (n <= 0 && n != -EAGAIN) break;
      if (n > 0) got += static_cast<size_t>(n);
    }
    CHECK(got == sent);
    CHECK(p.ready() == EPOLLOUT);
  });
}

TEST_CASE("sim: eventfd and timerfd under edge-triggered epoll need no reading", "[sim]") {
  SimSys sim;
  for (Sys* sys : {static_cast<Sys*>(&sim), &realSys()}) {
    const int epoll = sys->epollCreate();
    const int event_fd = sys->eventfdCreate();
    const int timer_fd = sys->timerfdCreate();
    epoll_event event{};
    const auto wait = [&] { return sys->epollWait(epoll, &event, 1, 0) == 1 ? event.data.fd : -1; };
    for (const int fd : {event_fd, timer_fd}) {
      event.events = EPOLLIN | EPOLLET;
      event.data.fd = fd;
      REQUIRE(sys->epollCtl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
    }
    CHECK(wait() == -1);
    sys->eventfdSignal(event_fd);
    CHECK(wait() == event_fd);
    CHECK(wait() == -1);
    sys->eventfdSignal(event_fd);
    CHECK(wait() == event_fd);
    for (int i = 0; i < 2; ++i) {
      sys->timerfdSet(timer_fd, 1);  // past: at once
      CHECK(wait() == timer_fd);
      CHECK(wait() == -1);
    }
    sys->timerfdSet(timer_fd, sys->monotonicNs() + 3'600'000'000'000);
    CHECK(wait() == -1);
    for (const int fd : {epoll, event_fd, timer_fd}) sys->closeFd(fd);
  }
  CHECK(sim.openFds() == 0);
}

TEST_CASE("sim: scripted failures hit the call they name", "[sim]") {
  SimSys sim;
  auto [fd, peer] = sim.connectedPair();
  peer.write("abcdef");
  sim.failNth(Call::kRecv, 2, EIO, 2);
  sim.setMaxRecv(2);
  char data[10];
  CHECK(sim.recvFrom(fd, data, 10) == 2);
  CHECK(sim.recvFrom(fd, data, 10) == -EIO);
  CHECK(sim.recvFrom(fd, data, 10) == -EIO);
  CHECK(sim.recvFrom(fd, data, 10) == 2);
  CHECK(sim.calls(Call::kRecv) == 4);
  CHECK(sim.closeFd(fd) == 0);
  CHECK(peer.sawReset());  // two bytes were left unread
}

}  // namespace
}  // namespace roost::test
