#include "tools/swarm/publisher.h"

#include <catch2/catch.hpp>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "net/acceptor.h"
#include "support/sim_loop.h"
#include "tools/swarm/sequence.h"

namespace roost::swarm {
namespace {

using test::SimLoop;

constexpr int64_t kMs = 1'000'000;
const std::string kTaken = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";

// A server on the simulated kernel that notes each publication and answers as the test says.
struct PublicationServer final : net::Session, net::SessionFactory {
  SimLoop net;
  net::LocalSink sink{net.io(), 1000};
  std::unique_ptr<net::Acceptor> acceptor;
  uint16_t port = 0;
  std::deque<std::string> answers;  // one each, then kTaken; "": the connection ends instead
  std::vector<std::string> heads, bodies;

  PublicationServer() {
    net.io().setFactory(0, *this);
    net::ListenOptions options;
    options.address = net::SocketAddress::parse("127.0.0.1", 0).value();
    auto listener = net::Listener::open(net.sys, options);
    port = listener.value().address().port();
    acceptor = std::make_unique<net::Acceptor>(net.loop(), std::move(listener).value(), 0, sink,
                                               net::Acceptor::Trigger::kLevel);
    REQUIRE(acceptor->start().ok());
  }
  net::Session& sessionFor(net::Connection&) noexcept override { return *this; }
  void onRead(net::Connection& connection, net::Chunk& in) noexcept override {
    const std::string_view text(in.data(), in.size());
    const size_t end = text.find("\r\n\r\n");
    if (end == std::string_view::npos || text.size() < end + 4 + 64) return;  // "publish_bytes": 64
    heads.emplace_back(text.substr(0, end + 4));
    bodies.emplace_back(text.substr(end + 4));
    in.consume(in.size());
    const std::string answer = answers.empty() ? kTaken : answers.front();
    if (!answers.empty()) answers.pop_front();
    if (answer.empty()) return connection.close();
    connection.write(answer);
  }
};

struct Fixture {
  PublicationServer server;
  Plan plan;
  Control control;
  Stats stats;
  std::unique_ptr<Publisher> publisher;

  explicit Fixture(const std::string& keys, uint16_t port = 0)
      : plan(scenario(port == 0 ? server.port : port, keys)) {
    auto made = Publisher::create(server.net.sys, plan, control, stats);
    INFO(made.status().message());
    REQUIRE(made.ok());
    publisher = std::move(made).value();
  }
  static Scenario scenario(uint16_t port, const std::string& keys) {
    const std::string overlay = R"({"url": "http://127.0.0.1:)" + std::to_string(port) +
                                R"(/sub/a", "kind": "sse", "publish_url": "/pub/a", "publish_bytes": 64, )" +
                                keys + "}";
    auto loaded = loadScenario("", overlay, {}, false);
    INFO(loaded.status().message());
    REQUIRE(loaded.ok());
    return std::move(loaded).value();
  }
  void start(int64_t measure_ms) {
    control.measure_from_ns = server.net.sys.monotonicNs() + 10 * kMs;
    control.measure_to_ns = control.measure_from_ns + measure_ms * kMs;
  }
  void settle() {
    for (int round = 0; round < 10000; ++round) {
      publisher->loop().runOnce(0);
      const int own = server.net.sys.lastReady();
      server.net.loop().runOnce(0);
      if (own <= 0 && server.net.sys.lastReady() <= 0 && !server.net.loop().skipsWait() &&
          !publisher->loop().skipsWait())
        return;
    }
    FAIL("it spins");
  }
  void pass(int64_t ms) {
    for (int64_t i = 0; i < ms; ++i) {
      server.net.sys.advanceMs(1);
      settle();
    }
  }
  std::vector<uint64_t> numbers() const {
    std::vector<uint64_t> list;
    for (const std::string& body : server.bodies) list.push_back(readNumbered(body).sequence);
    return list;
  }
  uint64_t errors() const { return stats.errors[static_cast<size_t>(ErrorKind::kPublish)].value(); }
};

using Numbers = std::vector<uint64_t>;

TEST_CASE("swarm: messages are published when they are due, numbered and stamped", "[swarm]") {
  Fixture f(
      R"("publish_messages": 3, "publish_interval_s": 0.1, "headers": ["Host: news", "Authorization: Basic x"])");
  f.pass(100);
  CHECK(f.server.bodies.empty());  // before the measured time
  f.start(1000);
  f.pass(115);
  CHECK(f.numbers() == Numbers{1, 2});
  f.pass(2000);
  CHECK(f.numbers() == Numbers{1, 2, 3});
  CHECK_THAT(f.server.heads[0],
             Catch::StartsWith("POST /pub/a HTTP/1.1\r\n") && Catch::Contains("Host: news\r\n") &&
                 Catch::Contains("Authorization: Basic x\r\n") && Catch::Contains("Content-Length: 64\r\n"));
  const int64_t first = readNumbered(f.server.bodies[0]).sent_ns;
  CHECK(first >= f.control.measure_from_ns);
  CHECK(readNumbered(f.server.bodies[2]).sent_ns - first >= 190 * kMs);
  CHECK(f.stats.published.value() == 3);
  CHECK(f.control.published == 3);
  CHECK(f.errors() == 0);
}

TEST_CASE("swarm: a message that is refused is published again, one whose answer is lost is not", "[swarm]") {
  Fixture f(R"("publish_messages": 3, "publish_interval_s": 0, "reconnect_delay_ms": 50)");
  f.server.answers = {"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", kTaken, "", kTaken};
  f.start(1000);
  f.pass(30);
  CHECK(f.numbers() == Numbers{1});
  CHECK(f.control.published == 0);
  f.pass(500);
  CHECK(f.numbers() == Numbers{1, 1, 2, 3});
  CHECK(f.stats.published.value() == 2);
  CHECK(f.control.published == 3);
  CHECK(f.errors() == 2);
  CHECK(f.stats.first_error[static_cast<size_t>(ErrorKind::kPublish)] == "message 1: status 503");
}

TEST_CASE("swarm: a message that found no server is published once there is one", "[swarm]") {
  Fixture f(R"("publish_messages": 1, "reconnect_delay_ms": 50)", 9);
  f.start(1000);
  f.pass(500);
  CHECK(f.errors() >= 5);
  CHECK(f.control.published == 0);
}

TEST_CASE("swarm: nothing is published after the measured time", "[swarm]") {
  Fixture f(R"("publish_messages": 5, "publish_interval_s": 0.1)");
  f.start(1000);
  f.pass(150);
  f.control.measure_to_ns = f.server.net.sys.monotonicNs();
  f.pass(1000);
  CHECK(f.numbers() == Numbers{1, 2});
}

}  // namespace
}  // namespace roost::swarm
