// Against a server by hand, on the simulated kernel.
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "net/resolver.h"
#include "redis/client.h"
#include "redis/subscriber.h"
#include "support/sim_loop.h"
#include "support/sim_server.h"
#include "support/temp_file.h"

namespace roost::redis {
namespace {

using test::SimLoop;
using test::SimServer;

std::string shown(const Reply& reply) {
  switch (reply.type) {
    case Reply::Type::kNil:
      return "nil";
    case Reply::Type::kInteger:
      return std::to_string(reply.integer);
    case Reply::Type::kString:
      return "'" + reply.text + "'";
    case Reply::Type::kStatus:
      return "+" + reply.text;
    case Reply::Type::kError:
      return "-" + reply.text;
    case Reply::Type::kArray:
      break;
  }
  std::string text = "[";
  for (const Reply& element : reply.elements) text += shown(element) + " ";
  return text + "]";
}

std::string readAll(std::string_view bytes, size_t step, const ReplyLimits& limits = {}) {
  ReplyReader reader(limits);
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += step) {
    reader.feed(bytes.substr(at, step));
    while (const auto reply = reader.next()) text += shown(*reply) + ";";
    if (reader.failed()) return text + " " + reader.error();
  }
  return text;
}

TEST_CASE("redis: replies are read in any pieces") {
  constexpr std::string_view kBytes =
      "+OK\r\n-ERR "
      "no\r\n:-12\r\n$5\r\nhe\r\nl\r\n$0\r\n\r\n$-1\r\n*-1\r\n*0\r\n*3\r\n:1\r\n*2\r\n$1\r\na\r\n+b\r\n$-"
      "1\r\n";
  for (size_t step = 1; step <= kBytes.size(); ++step) {
    CHECK(readAll(kBytes, step) == "+OK;-ERR no;-12;'he\r\nl';'';nil;nil;[];[1 ['a' +b ] nil ];");
  }
}

TEST_CASE("redis: what is no reply, or too large a one, is told") {
  ReplyLimits limits;
  limits.max_bytes = 100;
  limits.max_elements = 5;
  CHECK(readAll("hello\r\n", 3) == " Protocol error, got \"h\" as reply type byte");
  CHECK(readAll(":abc\r\n", 9) == " Bad integer value");
  CHECK(readAll("$9999999999999999999\r\n", 9).find("Bad") != std::string::npos);
  CHECK(readAll("*2147483647\r\n", 9, limits) == " a reply with too many elements");
  CHECK(readAll("*3\r\n*2\r\n:1\r\n:2\r\n*1\r\n:3\r\n*0\r\n", 9, limits) ==
        " a reply with too many elements");
  CHECK(readAll("*5\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n*5\r\n", 9, limits) == "[1 1 1 1 1 ];");
  CHECK(readAll("$200\r\n" + std::string(200, 'a') + "\r\n", 50, limits) == " a reply of too many bytes");
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "*1\r\n";
  CHECK(readAll(deep, 9).find("nested") != std::string::npos);
}

struct Deaf final : SubscriptionListener {
  void onSubscribed(std::string_view, bool) noexcept override {}
  void onMessage(std::string_view, std::string_view, std::string_view) noexcept override {}
  void onLost(const RedisFailure&) noexcept override {}
};

struct Fixture {
  Fixture() : server(std::make_unique<SimServer>(net.sys, "127.0.0.1", 6379)) {
    net::Resolver::Options names;
    names.hosts_path = "";
    resolver = std::move(net::Resolver::create(net.loop(), names)).value();
    options.jitter_seed = 7;
  }
  ~Fixture() {
    client.reset();
    subscriber.reset();
    resolver.reset();
    net.shutDown();
  }
  void makeClient() {
    client = std::make_unique<Client>(net.io(), *resolver, options);
    REQUIRE(net.settle());
  }
  int connected() {
    makeClient();
    const int fd = server->accept();
    REQUIRE(fd >= 0);
    return fd;
  }
  void ask(std::initializer_list<std::string_view> args, std::function<void()> then = {}) {
    const std::string name(args.size() == 0 ? "" : *args.begin());
    client->command(args, [this, name, then](const CommandResult& result) {
      log += name + "=" + (result.reply != nullptr ? shown(*result.reply) : result.failure.toString()) + ";";
      if (then) then();
    });
  }
  void write(int fd, std::string_view bytes) {
    server->write(fd, bytes);
    REQUIRE(net.settle());
  }
  // Lets time pass until the client has come back; answers how many milliseconds that took.
  int64_t untilConnected(int& fd) {
    for (int64_t ms = 0; ms < 20'000; ms += 10) {
      fd = server->accept();
      if (fd >= 0) return ms;
      REQUIRE(net.pass(10, 10));
    }
    return -1;
  }

  SimLoop net;
  RedisOptions options;
  std::unique_ptr<SimServer> server;
  std::unique_ptr<net::Resolver> resolver;
  std::unique_ptr<Client> client;
  std::unique_ptr<Subscriber> subscriber;
  std::string log;
};

TEST_CASE("redis: commands go out together, and replies come in order") {
  Fixture f;
  const int fd = f.connected();
  f.net.sys.resetCounts();
  f.ask({"SET", "key", std::string_view("a\r\n\0b", 5)});
  f.ask({"GET", "key"});
  f.ask({"INCR", "n"});
  CHECK(f.log.empty());
  REQUIRE(f.net.settle());
  CHECK(f.net.sys.sendCalls() == 1);
  using namespace std::string_view_literals;
  CHECK(
      f.server->read(fd) ==
      "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\na\r\n\0b\r\n*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n"sv);
  f.write(fd, "+OK\r\n$1\r\nx\r");
  CHECK(f.log == "SET=+OK;");
  f.write(fd, "\n-ERR not a number\r\n");
  CHECK(f.log == "SET=+OK;GET='x';INCR=-ERR not a number;");
  CHECK(f.client->stats().in_flight == 0);
}

TEST_CASE("redis: AUTH and SELECT come first") {
  Fixture f;
  f.options.password = "secret";
  f.options.database = 3;
  SECTION("with a user") {
    f.options.user = "me";
  }
  SECTION("without") {}
  const int fd = f.connected();
  f.ask({"PING"});
  REQUIRE(f.net.settle());
  const std::string auth =
      f.options.user.empty() ? "*2\r\n$4\r\nAUTH\r\n" : "*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n";
  CHECK(f.server->read(fd) == auth + "$6\r\nsecret\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n");
  CHECK_FALSE(f.client->connected());
  f.write(fd, "+OK\r\n");
  CHECK(f.server->read(fd).empty());
  f.write(fd, "+OK\r\n");
  CHECK(f.client->connected());
  CHECK(f.server->read(fd) == "*1\r\n$4\r\nPING\r\n");
}

TEST_CASE("redis: a server that does not let it in is asked again, and commands say why") {
  Fixture f;
  f.options.password = "wrong";
  f.options.command_timeout_ms = 100;
  const int fd = f.connected();
  f.ask({"PING"});
  f.write(fd, "-WRONGPASS invalid\r\n");
  CHECK(f.server->read(fd).back() == '!');
  REQUIRE(f.net.pass(200));
  CHECK(f.log == "PING=timeout: auth: WRONGPASS invalid;");
}

TEST_CASE("redis: what was under way when the connection died fails, what had not begun waits") {
  Fixture f;
  int fd = f.connected();
  f.ask({"ONE"}, [&] { f.ask({"THREE"}); });
  f.ask({"TWO"});
  REQUIRE(f.net.settle());
  f.server->read(fd);
  const bool resets = GENERATE(true, false);
  resets ? f.server->reset(fd) : f.server->close(fd);
  REQUIRE(f.net.settle());
  CHECK(f.log ==
        (resets
             ? "ONE=connection_lost: Connection reset by peer;TWO=connection_lost: Connection reset by peer;"
             : "ONE=connection_lost;TWO=connection_lost;"));
  CHECK(f.client->stats().queued == 1);
  CHECK(f.client->stats().losses == 1);
  CHECK(f.untilConnected(fd) <= 60);
  REQUIRE(f.net.settle());
  CHECK(f.server->read(fd) == "*1\r\n$5\r\nTHREE\r\n");
  f.log.clear();
  f.write(fd, ":3\r\n");
  CHECK(f.log == "THREE=3;");
}

TEST_CASE("redis: it comes back less and less often, and never at the same pace") {
  Fixture f;
  f.options.backoff_min_ms = 100;
  f.options.backoff_max_ms = 1000;
  f.server->stopListening();
  f.makeClient();
  std::vector<int64_t> pauses;
  uint64_t attempts = f.client->stats().attempts;
  for (int64_t ms = 0, last = 0; pauses.size() < 8 && ms < 60'000; ms += 10) {
    REQUIRE(f.net.pass(10, 10));
    if (f.client->stats().attempts == attempts) continue;
    attempts = f.client->stats().attempts;
    pauses.push_back(ms - last);
    last = ms;
  }
  REQUIRE(pauses.size() == 8);
  for (size_t i = 0; i < pauses.size(); ++i) {
    const int64_t most = std::min<int64_t>(100 << i, 1000);
    CHECK(pauses[i] >= most / 2 - 10);
    CHECK(pauses[i] <= most + 10);
  }
  CHECK((pauses[5] != pauses[6] || pauses[6] != pauses[7]));
  // Once it has been answered, it is quick again.
  f.server = std::make_unique<SimServer>(f.net.sys, "127.0.0.1", 6379);
  int fd = -1;
  REQUIRE(f.untilConnected(fd) >= 0);
  f.ask({"PING"});
  f.write(fd, "+PONG\r\n");
  f.server->close(fd);
  CHECK(f.untilConnected(fd) <= 110);
}

TEST_CASE("redis: who is only ever refused comes back less and less often, too", "[regression]") {
  Fixture f;
  f.options.backoff_min_ms = 50;
  f.options.backoff_max_ms = 5000;
  Deaf deaf;
  const char* refusal = "-LOADING the data set\r\n";
  SECTION("when it says who it is") {
    f.options.password = "wrong";
    refusal = "-WRONGPASS invalid\r\n";
    f.makeClient();
  }
  SECTION("with every command") {
    f.makeClient();
  }
  SECTION("when it subscribes") {
    refusal = "-NOPERM no\r\n";
    f.subscriber = std::make_unique<Subscriber>(f.net.io(), *f.resolver, f.options, deaf);
    f.subscriber->subscribe("a");
  }
  int attempts = 0;
  for (int64_t ms = 0; ms < 6000; ms += 10) {
    REQUIRE(f.net.pass(10, 10));
    const int fd = f.server->accept();
    if (fd < 0) continue;
    ++attempts;
    if (f.client != nullptr) f.client->command({"PING"}, nullptr);
    REQUIRE(f.net.settle());
    f.write(fd, refusal);
    f.server->close(fd);
  }
  CHECK(attempts >= 4);
  CHECK(attempts <= 12);
}

TEST_CASE("redis: an address that does not answer leaves time for the next", "[regression]") {
  Fixture f;
  const UniqueFd hosts(test::tempFile("127.0.0.2 twins\n127.0.0.1 twins\n"));
  net::Resolver::Options names;
  names.hosts_path = "/proc/self/fd/" + std::to_string(hosts.get());
  f.resolver = std::move(net::Resolver::create(f.net.loop(), names)).value();
  SimServer other(f.net.sys, "127.0.0.2", 6379);
  f.options.host = "twins";
  SECTION("when it does not connect") {
    f.net.sys.holdConnects(true);
    f.makeClient();
    REQUIRE(f.net.pass(2000));  // of 3000
    f.net.sys.holdConnects(false);
    REQUIRE(f.net.settle());
    CHECK(other.accept() == -1);
    CHECK(f.server->accept() >= 0);
    CHECK(f.client->stats().attempts == 1);
  }
  SECTION("when it is connected and says nothing") {
    f.options.password = "secret";
    f.makeClient();
    CHECK(other.accept() >= 0);
    REQUIRE(f.net.pass(3200));
    CHECK(other.accept() == -1);
    CHECK(f.server->accept() >= 0);
  }
}

TEST_CASE("redis: a connection that stood long is made anew soon", "[regression]") {
  Fixture f;
  f.options.backoff_min_ms = 50;
  f.options.backoff_max_ms = 1000;
  int fd = f.connected();
  for (int i = 0; i < 6; ++i) {  // at once, though nothing was ever asked
    f.server->close(fd);
    REQUIRE(f.untilConnected(fd) >= 0);
  }
  REQUIRE(f.net.pass(1500));
  f.server->close(fd);
  CHECK(f.untilConnected(fd) <= 60);
}

TEST_CASE("redis: a reply that does not come takes its connection with it") {
  Fixture f;
  f.options.command_timeout_ms = 1000;
  const int fd = f.connected();
  f.ask({"SLOW"});
  REQUIRE(f.net.pass(800));
  f.ask({"BEHIND"});
  REQUIRE(f.net.settle());
  f.server->read(fd);
  REQUIRE(f.net.pass(800));
  CHECK(f.log == "SLOW=timeout: no reply in time;BEHIND=connection_lost: behind a command without a reply;");
  CHECK(f.server->read(fd) == "!");
}

TEST_CASE("redis: waiting is bounded in time and number") {
  Fixture f;
  f.options.max_commands = 2;
  f.options.command_timeout_ms = 1000;
  f.server->stopListening();
  f.makeClient();
  f.ask({"ONE"});
  f.ask({"TWO"});
  f.ask({"THREE"});
  CHECK(f.log.empty());
  REQUIRE(f.net.settle());
  CHECK(f.log == "THREE=overload;");
  REQUIRE(f.net.pass(1100));
  CHECK(f.log ==
        "THREE=overload;ONE=timeout: connect: Connection refused: Connection refused;"
        "TWO=timeout: connect: Connection refused: Connection refused;");
}

TEST_CASE("redis: commands that would change the connection are refused") {
  Fixture f;
  f.connected();
  f.ask({"subscribe", "a"});
  f.ask({"MONITOR"});
  f.ask({});
  REQUIRE(f.net.settle());
  CHECK(f.log == "subscribe=bad_command: subscribe;MONITOR=bad_command: MONITOR;=bad_command;");
}

TEST_CASE("redis: so are those that would leave commands without replies", "[regression]") {
  Fixture f;
  const int fd = f.connected();
  f.ask({"CLIENT", "reply", "OFF"});
  f.ask({"RESET"});
  f.ask({"SUNSUBSCRIBE"});
  f.ask({"CLIENT", "ID"});
  REQUIRE(f.net.settle());
  CHECK(f.log ==
        "CLIENT=bad_command: CLIENT;RESET=bad_command: RESET;SUNSUBSCRIBE=bad_command: SUNSUBSCRIBE;");
  CHECK(f.server->read(fd) == "*2\r\n$6\r\nCLIENT\r\n$2\r\nID\r\n");
}

TEST_CASE("redis: commands that belong together are taken or refused together", "[regression]") {
  Fixture f;
  f.options.max_commands = 4;
  const int fd = f.connected();
  const auto done = [&f](const CommandResult& result) {
    f.log += (result.reply != nullptr ? shown(*result.reply) : result.failure.toString()) + ";";
  };
  f.client->commands({{{"MULTI"}, done}, {{"INCR", "n"}, done}, {{"EXEC"}, done}});
  f.client->commands({{{"MULTI"}, done}, {{"EXEC"}, done}});  // there is room for the first
  f.client->commands({{{"MULTI"}, done}, {{"QUIT"}, done}});
  f.client->commands({});
  REQUIRE(f.net.settle());
  CHECK(f.log == "overload;overload;bad_command: QUIT;bad_command: QUIT;");
  CHECK(f.server->read(fd) == "*1\r\n$5\r\nMULTI\r\n*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n*1\r\n$4\r\nEXEC\r\n");
  f.log.clear();
  f.write(fd, "+OK\r\n+QUEUED\r\n*1\r\n:1\r\n");
  CHECK(f.log == "+OK;+QUEUED;[1 ];");
}

TEST_CASE("redis: what is no reply ends the connection") {
  Fixture f;
  const int fd = f.connected();
  f.ask({"PING"});
  const char* const bytes = GENERATE("HTTP/1.1 200 OK\r\n", "+PONG\r\n+PONG\r\n");
  f.write(fd, bytes);
  CHECK(f.server->read(fd).back() == '!');
  CHECK(f.log.substr(0, 14) == (bytes[0] == 'H' ? "PING=protocol:" : "PING=+PONG;"));
}

TEST_CASE("redis: commands under way when it ends are told") {
  Fixture f;
  f.connected();
  f.ask({"PING"});
  f.client.reset();
  CHECK(f.log == "PING=stopped;");
}

struct Ear final : SubscriptionListener {
  std::string log;
  std::function<void()> on_message;
  void onSubscribed(std::string_view channel, bool is_pattern) noexcept override {
    log += (is_pattern ? "p+" : "+") + std::string(channel) + ";";
  }
  void onMessage(std::string_view channel, std::string_view pattern,
                 std::string_view payload) noexcept override {
    log += std::string(channel) + "(" + std::string(pattern) + ")=" + std::string(payload) + ";";
    if (on_message) on_message();
  }
  void onLost(const RedisFailure& failure) noexcept override {
    log += std::string("lost ") + redisErrorName(failure.error) + ";";
  }
};

struct SubscriberFixture : Fixture {
  SubscriberFixture() {
    options.ping_interval_ms = 2000;
    options.command_timeout_ms = 1000;
    subscriber = std::make_unique<Subscriber>(net.io(), *resolver, options, ear);
    subscriber->subscribe("a");
    subscriber->subscribe("a");
    subscriber->psubscribe("b*");
    REQUIRE(net.settle());
    fd = server->accept();
    CHECK(server->read(fd) == "*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\na\r\n*2\r\n$10\r\nPSUBSCRIBE\r\n$2\r\nb*\r\n");
    write(fd, "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$10\r\npsubscribe\r\n$2\r\nb*\r\n:2\r\n");
  }
  ~SubscriberFixture() { subscriber.reset(); }
  Ear ear;
  int fd = -1;
};

constexpr std::string_view kMessage = "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$2\r\nhi\r\n";

TEST_CASE("redis: messages of channels and patterns") {
  SubscriberFixture f;
  CHECK(f.ear.log == "+a;p+b*;");
  f.ear.log.clear();
  f.write(f.fd, kMessage);
  f.write(f.fd, "*4\r\n$8\r\npmessage\r\n$2\r\nb*\r\n$2\r\nbc\r\n$0\r\n\r\n");
  CHECK(f.ear.log == "a()=hi;bc(b*)=;");
  f.ear.on_message = [&] { f.subscriber->unsubscribe("a"); };
  f.ear.log.clear();
  f.write(f.fd, std::string(kMessage) + std::string(kMessage));
  CHECK(f.ear.log == "a()=hi;");  // not after it was given up, whatever is still on its way
  CHECK(f.server->read(f.fd) == "*2\r\n$11\r\nUNSUBSCRIBE\r\n$1\r\na\r\n");
  f.write(f.fd, "*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:1\r\n");
  CHECK(f.subscriber->size() == 1);
}

TEST_CASE("redis: subscriptions come back with the connection") {
  SubscriberFixture f;
  f.subscriber->unsubscribe("a");
  f.subscriber->subscribe("c");
  f.server->reset(f.fd);
  REQUIRE(f.net.settle());
  f.subscriber->subscribe("d");
  f.ear.log.clear();
  REQUIRE(f.untilConnected(f.fd) >= 0);
  REQUIRE(f.net.settle());
  CHECK(f.server->read(f.fd) ==
        "*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nd\r\n*2\r\n$10\r\nPSUBSCRIBE\r\n$"
        "2\r\nb*\r\n");
  f.write(f.fd, "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nd\r\n:2\r\n");
  CHECK(f.ear.log == "+c;+d;");
}

TEST_CASE("redis: a subscriber asks for signs of life") {
  SubscriberFixture f;
  f.ear.log.clear();
  REQUIRE(f.net.pass(2600));
  CHECK(f.server->read(f.fd) == "*1\r\n$4\r\nPING\r\n");
  SECTION("and is content with any") {
    f.write(f.fd, GENERATE("*2\r\n$4\r\npong\r\n$0\r\n\r\n", "+PONG\r\n"));
    REQUIRE(f.net.pass(1600));
    CHECK(f.ear.log.empty());
  }
  SECTION("and goes without one") {
    REQUIRE(f.net.pass(1600));
    CHECK(f.ear.log == "lost timeout;");
    REQUIRE(f.untilConnected(f.fd) >= 0);
  }
}

TEST_CASE("redis: every system call may fail, and every command still ends once") {
  for (uint64_t nth = 1; nth < 200; ++nth) {
    INFO(nth);
    Fixture f;
    f.options.command_timeout_ms = 500;
    f.net.sys.failAnyNth(nth);
    f.client = std::make_unique<Client>(f.net.io(), *f.resolver, f.options);
    int ends = 0;
    for (int i = 0; i < 4; ++i) {
      f.client->command({"PING"}, [&](const CommandResult&) { ++ends; });
      f.net.settle();
      const int fd = f.server->accept();
      if (fd >= 0) {
        f.server->write(fd, "+PONG\r\n+PONG\r\n");
        f.net.settle();
        f.server->close(fd);
      }
      REQUIRE(f.net.pass(1000, 100));
    }
    CHECK(ends == 4);
    if (!f.net.sys.anyFailed()) return;
  }
  FAIL("calls did not run out");
}

}  // namespace
}  // namespace roost::redis
