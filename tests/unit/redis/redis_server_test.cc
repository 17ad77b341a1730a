// Against real redis-server processes that are killed and started again. Left out, with a word of it, where
// Debian's redis-server is not installed.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/resolver.h"
#include "redis/client.h"
#include "redis/subscriber.h"

namespace roost::redis {
namespace {

// One server on a Unix socket, without files.
class RedisServer {
 public:
  RedisServer() {
    char name[] = "/tmp/roost-redis-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~RedisServer() {
    kill();
    ::unlink(path().c_str());
    ::rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/s"; }

  // False where there is no redis-server.
  bool start(const std::string& password = "") {
    std::vector<std::string> words = {
        "redis-server", "--port", "0",     "--unixsocket", path(),       "--save", "",
        "--appendonly", "no",     "--dir", folder_,        "--loglevel", "warning"};
    if (!password.empty()) words.insert(words.end(), {"--requirepass", password});
    std::vector<char*> args;
    for (std::string& word : words) args.push_back(word.data());
    args.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    const int rc = ::posix_spawnp(&pid_, "redis-server", &actions, nullptr, args.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (rc != 0) pid_ = -1;
    return rc == 0;
  }
  void kill() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  std::string folder_;
  pid_t pid_ = -1;
};

struct Ear final : SubscriptionListener {
  std::string log;
  int subscribed = 0;
  void onSubscribed(std::string_view, bool) noexcept override { ++subscribed; }
  void onMessage(std::string_view channel, std::string_view, std::string_view payload) noexcept override {
    log += std::string(channel) + "=" + std::string(payload) + ";";
  }
  void onLost(const RedisFailure&) noexcept override { subscribed = 0; }
};

struct Fixture {
  Fixture() {
    loop = std::move(event::Loop::create(realSys(), 0)).value();
    io = std::make_unique<net::IoContext>(*loop);
    net::Resolver::Options names;
    names.hosts_path = "";
    resolver = std::move(net::Resolver::create(*loop, names)).value();
    options.unix_path = server.path();
    options.backoff_min_ms = 5;
    options.backoff_max_ms = 50;
    options.command_timeout_ms = 20'000;
  }
  void makeClient() { client = std::make_unique<Client>(*io, *resolver, options); }
  void wait(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!done() && std::chrono::steady_clock::now() < end) loop->runOnce(20);
    REQUIRE(done());
  }
  // The reply to one command.
  Reply ask(std::initializer_list<std::string_view> args) {
    Reply reply;
    bool done = false;
    client->command(args, [&](const CommandResult& result) {
      done = true;
      if (result.reply != nullptr) reply = *result.reply;
      failure = result.failure;
    });
    wait([&] { return done; });
    return reply;
  }

  RedisServer server;
  RedisOptions options;
  RedisFailure failure;
  std::unique_ptr<event::Loop> loop;
  std::unique_ptr<net::IoContext> io;
  std::unique_ptr<net::Resolver> resolver;
  std::unique_ptr<Client> client;
};

#define NEEDS_REDIS(started)                         \
  if (!(started)) {                                  \
    WARN("left out: redis-server is not installed"); \
    return;                                          \
  }                                                  \
  static_cast<void>(0)

TEST_CASE("redis-server: commands, many at once") {
  Fixture f;
  f.options.database = 2;
  NEEDS_REDIS(f.server.start());
  f.makeClient();
  using namespace std::string_view_literals;
  CHECK(f.ask({"SET", "key", "a\r\n\0b"sv}).isOk());
  CHECK(f.ask({"GET", "key"}).text == "a\r\n\0b"sv);
  CHECK(f.ask({"GET", "none"}).isNil());
  CHECK(f.ask({"LPUSH", "key", "x"}).isError());
  CHECK(f.ask({"RPUSH", "list", "a", "b", "c"}).integer == 3);
  CHECK(f.ask({"LRANGE", "list", "0", "-1"}).elements.at(2).text == "c");
  int replies = 0;
  int64_t last = 0;
  for (int i = 0; i < 5000; ++i) {
    f.client->command({"INCR", "n"}, [&](const CommandResult& result) {
      if (result.ok() && result.reply->integer == last + 1) ++last;
      ++replies;
    });
  }
  f.wait([&] { return replies == 5000; });
  CHECK(last == 5000);
  const std::string large(3'000'000, 'L');
  CHECK(f.ask({"SET", "large", large}).isOk());
  CHECK(f.ask({"GET", "large"}).text == large);
  CHECK(f.ask({"CLIENT", "LIST"}).text.find(" db=2 ") != std::string::npos);
}

TEST_CASE("redis-server: passwords") {
  Fixture f;
  f.options.password = "right";
  NEEDS_REDIS(f.server.start("right"));
  f.makeClient();
  CHECK(f.ask({"PING"}).text == "PONG");
  f.options.password = "wrong";
  f.options.command_timeout_ms = 1000;
  f.makeClient();
  f.ask({"PING"});
  CHECK(f.failure.error == RedisError::kTimeout);
  CHECK(f.failure.detail.find("WRONGPASS") != std::string::npos);
}

TEST_CASE("redis-server: killed under way and started again, time after time") {
  Fixture f;
  NEEDS_REDIS(f.server.start());
  f.makeClient();
  Ear ear;
  Subscriber subscriber(*f.io, *f.resolver, f.options, ear);
  subscriber.subscribe("news");
  subscriber.psubscribe("n*s");
  for (int round = 0; round < 3; ++round) {
    f.wait([&] { return ear.subscribed == 2; });
    CHECK(f.ask({"PUBLISH", "news", std::to_string(round)}).integer == 2);
    const std::string once = "news=" + std::to_string(round) + ";";
    f.wait([&] { return ear.log == once + once; });
    ear.log.clear();
    // Commands under way when it dies fail, all of them, and once.
    int lost = 0;
    f.client->command({"BLPOP", "never", "0"}, [&](const CommandResult& result) {
      lost += result.failure.error == RedisError::kConnectionLost ? 1 : 100;
    });
    f.client->command({"PING"}, [&](const CommandResult& result) {
      lost += result.failure.error == RedisError::kConnectionLost ? 1 : 100;
    });
    f.loop->runOnce(0);
    f.server.kill();
    f.wait([&] { return lost == 2 && ear.subscribed == 0; });
    // Those given while it is down are answered when it is back.
    Reply reply;
    f.client->command({"PING"}, [&](const CommandResult& result) {
      if (result.reply != nullptr) reply = *result.reply;
    });
    for (int i = 0; i < 3; ++i) f.loop->runOnce(20);
    CHECK_FALSE(f.client->connected());
    REQUIRE(f.server.start());
    f.wait([&] { return reply.text == "PONG"; });
  }
  CHECK(f.client->stats().losses == 3);
}

}  // namespace
}  // namespace roost::redis
