#include "server/io_thread.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <future>
#include <string>
#include <string_view>

#include "support/h1_server.h"

using namespace roost;
using namespace roost::server;

namespace {

// A client's end of a connection; reads wait.
class Client {
 public:
  explicit Client(net::FdHandoff& handoff) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    REQUIRE(::fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
    fd_.reset(ends[0]);
    REQUIRE(handoff.accepts());
    handoff.offer({ends[1], {}, 0});
    handoff.wake();
  }
  void send(std::string_view text) {
    REQUIRE(::write(fd_.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  // Everything up to the connection's end.
  std::string readAll() {
    std::string all;
    char piece[4096];
    ssize_t size;
    while ((size = ::read(fd_.get(), piece, sizeof piece)) > 0) all.append(piece, static_cast<size_t>(size));
    return all;
  }

 private:
  UniqueFd fd_;
};

// An IO thread with one route, "/", whose handler leaves the exchange's name with the test.
class Fixture {
 public:
  Fixture() : tasks_(0, 0), modules_({}) {
    auto site = std::make_unique<http::Site>();
    site->hosts = {"*"};
    auto route = std::make_unique<http::Route>();
    route->path = "/";
    const auto handle = [this](http::Exchange& exchange) {
      if (parks) exchange.park();
      asked_.set_value(exchange.handle());
    };
    route->handler = std::make_unique<test::FnHandler<decltype(handle)>>(handle);
    site->routes.push_back(std::move(route));
    std::vector<std::unique_ptr<http::Site>> sites;
    sites.push_back(std::move(site));
    auto service = std::make_shared<http::Service>(http::ServiceOptions{},
                                                   std::move(http::Router::build(std::move(sites))).value());
    IoThreadOptions options;
    options.listener_count = 1;
    thread_ = IoThread::create(realSys(), options, tasks_, modules_, metrics_, std::move(service)).value();
    REQUIRE(thread_->openHandoff().ok());
    REQUIRE(thread_->start().ok());
  }
  ~Fixture() {
    thread_->finish();
    thread_->join();
  }
  IoThread& thread() { return *thread_; }
  http::ExchangeHandle waitForRequest() { return asked_.get_future().get(); }
  void beginDrain() {
    thread_->beginDrain([this] { drained_.set_value(); });
  }
  void waitDrained() { drained_.get_future().wait(); }
  uint64_t cutShort() const { return metrics_.counterValue(IoThread::kCutShortMetric); }

  bool parks = false;  // set before the request

 private:
  event::TaskPool tasks_;
  module::Registry modules_;
  metrics::Registry metrics_;
  std::promise<http::ExchangeHandle> asked_;
  std::promise<void> drained_;
  std::unique_ptr<IoThread> thread_;
};

constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

}  // namespace

TEST_CASE("an answer that is being made when the end begins goes out whole", "[server]") {
  Fixture fixture;
  Client idle(fixture.thread().handoff());
  Client waiting(fixture.thread().handoff());
  waiting.send(kRequest);
  const http::ExchangeHandle handle = fixture.waitForRequest();
  fixture.beginDrain();
  CHECK(idle.readAll().empty());  // it is gone, so the drain has begun
  handle.post([](http::Exchange& exchange) {
    http::ResponseHead head(200);
    head.content_length = 10;
    exchange.begin(head, false);
    exchange.send("first", false);
  });
  handle.post([](http::Exchange& exchange) { exchange.send("later", true); });
  const std::string answer = waiting.readAll();
  CHECK(answer.find("HTTP/1.1 200 ") == 0);
  CHECK(answer.find("\r\n\r\nfirstlater") != std::string::npos);
  fixture.waitDrained();
  CHECK(fixture.cutShort() == 0);
}

TEST_CASE("an answer that does not come in time is cut short and counted", "[server]") {
  Fixture fixture;
  Client waiting(fixture.thread().handoff());
  waiting.send(kRequest);
  fixture.waitForRequest();
  fixture.beginDrain();
  fixture.waitDrained();
  CHECK(fixture.cutShort() == 1);
}

TEST_CASE("a parked exchange does not hold up the end", "[server]") {
  Fixture fixture;
  fixture.parks = true;
  Client waiting(fixture.thread().handoff());
  waiting.send(kRequest);
  fixture.waitForRequest();
  fixture.beginDrain();
  CHECK(waiting.readAll().empty());
  fixture.waitDrained();
  CHECK(fixture.cutShort() == 0);
}
