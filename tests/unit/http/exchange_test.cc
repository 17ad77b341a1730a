#include "http/exchange.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "support/h1_server.h"

namespace roost::http {
namespace {

TEST_CASE("exchange table: names find what is there, and nothing else", "[exchange]") {
  ExchangeTable table;
  Exchange a, b;
  CHECK(table.find({}) == nullptr);
  const auto first = table.add(a);
  const auto second = table.add(b);
  CHECK(table.find(first) == &a);
  CHECK(table.find(second) == &b);
  table.remove(first.slot);
  CHECK(table.find(first) == nullptr);
  const auto third = table.add(b);
  CHECK(third.slot == first.slot);
  CHECK(table.find(first) == nullptr);
  CHECK(table.find(third) == &b);
}

TEST_CASE("exchange: filters run in order, may answer, and see every head", "[exchange]") {
  struct Before final : RequestFilter {
    Before(char name, Verdict says, std::string& log) : name_(name), verdict_(says), log_(log) {}
    Verdict onRequest(Exchange& e) const noexcept override {
      log_ += name_;
      if (verdict_ == Verdict::kReplied) e.replyError(403);
      return verdict_;
    }
    char name_;
    Verdict verdict_;
    std::string& log_;
  };
  struct After final : ResponseFilter {
    void onHead(Exchange&, ResponseHead& head) const noexcept override { head.add("X-Filtered", "yes"); }
  };
  std::string log;
  test::H1Server server;
  auto& open = server.on("/open", [&](Exchange& e) {
    log += 'h';
    CHECK_FALSE(e.mayReplyPrepared());
    ResponseHead head(200);
    e.reply(head, "open");
  });
  open.request_filters.push_back(std::make_shared<Before>('a', Verdict::kContinue, log));
  open.request_filters.push_back(std::make_shared<Before>('b', Verdict::kContinue, log));
  open.response_filters.push_back(std::make_shared<After>());
  auto& shut = server.on("/shut", [&](Exchange&) { log += 'h'; });
  shut.request_filters.push_back(std::make_shared<Before>('c', Verdict::kReplied, log));
  shut.request_filters.push_back(std::make_shared<Before>('d', Verdict::kContinue, log));
  server.start();
  const auto got = test::parseAnswers(
      server.ask("GET /open HTTP/1.1\r\nHost: a\r\n\r\nGET /shut HTTP/1.1\r\nHost: a\r\n\r\n"));
  REQUIRE(got.answers.size() == 2);
  CHECK(log == "abhc");
  CHECK(got.answers[0].has("\r\nX-Filtered: yes\r\n"));
  CHECK(got.answers[1].status == 403);
  CHECK_FALSE(got.answers[1].has("X-Filtered"));
}

TEST_CASE("exchange: an error answer carries further fields", "[exchange]") {
  test::H1Server server;
  server.on("/", [](Exchange& e) {
    ResponseHead extra(405);
    extra.add("Allow", "GET, HEAD");
    e.replyError(405, &extra);
  });
  server.start();
  const auto got = test::parseAnswers(server.ask("PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"));
  CHECK(got.answers.at(0).status == 405);
  CHECK(got.answers.at(0).has("\r\nAllow: GET, HEAD\r\n"));
  CHECK_FALSE(got.answers.at(0).body.empty());
}

// In a process of its own, as assertions end it where they are on.
TEST_CASE("exchange: a second head is not sent", "[exchange][regression]") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    ::close(STDERR_FILENO);
    test::H1Server server;
    server.on("/", [](Exchange& e) {
      ResponseHead head(200);
      head.content_length = 8;
      e.begin(head, false);
      e.begin(head, false);
      e.replyError(500);
      e.reply(head, "other");
      e.send("an", false);
      e.send("answer", true);
    });
    server.start();
    const auto got = test::parseAnswers(server.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    ::_exit(got.ok && got.answers.size() == 1 && got.answers[0].body == "ananswer" ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
#ifdef NDEBUG
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
#else
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
#endif
}

TEST_CASE("exchange: path and host survive waiting, and are canonical", "[exchange]") {
  test::H1Server server;
  ExchangeHandle handle;
  server.on("/", [&](Exchange& e) { handle = e.handle(); });
  server.start();
  test::SimPeer peer = server.connect();
  peer.write("GET //a/%62/../c?q HTTP/1.1\r\nHost: Example.org:80\r\nX: y\r\n\r\n");
  REQUIRE(server.settle());
  test::SimPeer other = server.connect();  // reads into the same scratch
  other.write("GET /zzzzzzzzzzzzzzzzzzz HTTP/1.1\r\nHost: zzzzzzzzzzzz\r\n\r\n");
  const ExchangeHandle first = handle;
  REQUIRE(server.settle());
  std::string seen;
  first.post([&](Exchange& e) {
    seen.append(e.path()).append(" ").append(e.host()).append(" ").append(e.request().get("x"));
    e.replyError(404);
  });
  REQUIRE(server.settle());
  CHECK(seen == "/a/c Example.org y");
}

}  // namespace
}  // namespace roost::http
