// When those who wait for an exchange's end hear of it: once the client has taken the answer, or has gone.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "unit/http/h1/session_fixture.h"

namespace roost::http {
namespace {

using test::parseAnswers;
using test::SimPeer;

struct Told {
  std::string path;
  Outcome how;
};

struct Log {
  std::vector<Told> ends;
  int parked = 0;  // how often what an observer needs was copied
  int held = 0;    // attachments that live
};

class Observer final : public ExchangeObserver {
 public:
  explicit Observer(Log& log) noexcept : log_(log) {}
  void onEnd(const Exchange& exchange, const Outcome& how) const noexcept override {
    log_.ends.push_back({std::string(exchange.path()), how});
  }
  std::unique_ptr<ParkedObserver> onPark(const Exchange& exchange) const noexcept override {
    struct Parked final : ParkedObserver {
      Parked(Log& to, std::string_view of) : log(to), path(of) {}
      void onEnd(const Outcome& how) noexcept override { log.ends.push_back({path, how}); }
      Log& log;
      std::string path;
    };
    ++log_.parked;
    return std::make_unique<Parked>(log_, exchange.path());
  }

 private:
  Log& log_;
};

class Holder final : public RequestFilter {
 public:
  explicit Holder(Log& log) noexcept : log_(log) {}
  Verdict onRequest(Exchange& exchange) const noexcept override {
    struct Place final : Attachment {
      explicit Place(Log& in) : log(in) { ++log.held; }
      ~Place() override { --log.held; }
      Log& log;
    };
    exchange.attach(std::make_unique<Place>(log_));
    return Verdict::kContinue;
  }

 private:
  Log& log_;
};

constexpr size_t kSize = 100000;
constexpr size_t kCapacity = 10000;

// /big in memory, /range of a file, /small: all with an observer and an attachment.
struct SentFixture {
  SentFixture() {
    file_bytes = test::patternOf(kSize);
    watch(server.on("/big", [this](Exchange& e) { answer(e, file_bytes); }));
    watch(server.on("/small", [this](Exchange& e) { answer(e, "small"); }));
    watch(server.on("/range", [this](Exchange& e) {
      ResponseHead head(200);
      head.content_length = static_cast<int64_t>(kSize);
      e.begin(head, false);
      e.sendFile(net::OpenFile(server.net.sys, test::tempFile(file_bytes)), 0, kSize, true);
    }));
    watch(server.on("/later", [this](Exchange& e) {
      e.listen(std::make_unique<WaitListener>(fate));
      handle = e.handle();
    }));
    server.options.send_timeout_ms = 5000;
    server.net.sys.setCapacity(kCapacity);
  }
  void watch(Route& route) {
    route.observers.push_back(std::make_shared<Observer>(log));
    route.request_filters.push_back(std::make_shared<Holder>(log));
  }
  static void answer(Exchange& e, std::string_view body) {
    ResponseHead head(200);
    e.reply(head, body);
  }
  const net::Session* owner() {
    const net::Session* session = nullptr;
    server.net.io().forEach([&](net::Connection& c) { session = c.session(); });
    return session;
  }
  // Everything that comes until `most` bytes have been read.
  std::string readSlowly(SimPeer& peer, size_t most = SIZE_MAX) {
    std::string got;
    while (got.size() < most) {
      REQUIRE(server.settle());
      const std::string piece = peer.read(std::min<size_t>(5000, most - got.size()));
      if (piece.empty()) break;
      got += piece;
    }
    return got;
  }

  Log log;
  Fate fate;
  ExchangeHandle handle;
  std::string file_bytes;
  test::H1Server server;
};

TEST_CASE("session sent: the end is told when the client has taken the last byte", "[session]") {
  SentFixture f;
  f.server.start();
  for (const char* path : {"/big", "/range"}) {
    f.log.ends.clear();
    SimPeer peer = f.server.connect();
    peer.write(get(path));
    REQUIRE(f.server.net.pass(3000));
    std::string got = f.readSlowly(peer, kSize - 2 * kCapacity);
    CHECK(f.log.ends.empty());
    CHECK(f.log.held == 1);
    CHECK(f.owner() != &f.server.protocol());
    got += f.readSlowly(peer);
    CHECK(parseAnswers(got).answers.at(0).body == f.file_bytes);
    REQUIRE(f.log.ends.size() == 1);
    CHECK(f.log.ends[0].path == path);
    CHECK(f.log.ends[0].how.status == 200);
    CHECK(f.log.ends[0].how.content_bytes == kSize);
    CHECK(f.log.ends[0].how.duration_ns >= 2'900'000'000);
    CHECK_FALSE(f.log.ends[0].how.aborted);
    CHECK(f.log.held == 0);
    CHECK(f.owner() == &f.server.protocol());
    peer.write(get("/small"));  // and on it goes
    REQUIRE(f.server.settle());
    CHECK(parseAnswers(peer.read()).answers.at(0).body == "small");
    CHECK(f.log.ends.size() == 2);
    peer.close();
    REQUIRE(f.server.settle());
  }
}

TEST_CASE("session sent: so it is for an answer given later, and before the end of the connection",
          "[session]") {
  SentFixture f;
  f.server.start();
  SimPeer peer = f.server.connect();
  peer.write(get("/later", "Connection: close\r\n"));
  REQUIRE(f.server.settle());
  f.handle.reply(std::make_unique<ResponseHead>(200), BufferRef::copyOf(f.file_bytes));
  REQUIRE(f.server.settle());
  CHECK(f.log.ends.empty());
  CHECK(f.log.held == 1);
  CHECK(parseAnswers(f.readSlowly(peer)).answers.at(0).body == f.file_bytes);
  CHECK(peer.sawEnd());
  REQUIRE(f.log.ends.size() == 1);
  CHECK(f.log.ends[0].how.content_bytes == kSize);
  CHECK_FALSE(f.log.ends[0].how.aborted);
  CHECK(f.log.held == 0);
}

TEST_CASE("session sent: a client that leaves or takes nothing has not had all of it", "[session]") {
  SentFixture f;
  f.server.start();
  for (const char* path : {"/big", "/range"}) {
    for (const char* how : {"reset", "close", "timeout", "shutdown"}) {
      INFO(path << " " << how);
      const bool by_server = std::string_view(how) == "shutdown";
      f.log.ends.clear();
      SimPeer peer = f.server.connect();
      peer.write(get(path));
      REQUIRE(f.server.settle());
      f.readSlowly(peer, 30000);
      REQUIRE(f.server.settle());
      CHECK(f.log.ends.empty());
      if (std::string_view(how) == "reset") peer.reset();
      if (std::string_view(how) == "close") peer.close();
      if (by_server) f.server.net.io().forEach([](net::Connection& c) { c.close(); });
      REQUIRE(f.server.net.pass(12000));
      REQUIRE(f.log.ends.size() == 1);
      const Outcome& end = f.log.ends[0].how;
      CHECK(end.aborted);
      CHECK(end.status == 200);
      CHECK(end.content_bytes >= 29000);
      CHECK(end.content_bytes <= 30000 + kCapacity);
      if (std::string_view(how) == "timeout") CHECK(end.reason == AbortReason::kTimeout);
      if (std::string_view(how) == "reset") CHECK(end.reason == AbortReason::kReset);
      CHECK(f.log.held == 0);
      CHECK(f.server.net.io().size() == 0);
    }
  }
}

TEST_CASE("session sent: pipelined requests end in order, each with its place", "[session]") {
  SentFixture f;
  f.server.start();
  for (const bool at_once : {true, false}) {
    f.log = Log{};
    SimPeer peer = f.server.connect();
    const std::string first = get("/big"), rest = get("/small") + get("/range") + get("/small");
    peer.write(at_once ? first + rest : first);
    REQUIRE(f.server.settle());
    if (!at_once) peer.write(rest);
    std::string got;
    bool alone = true;
    for (int i = 0; i < 1000 && f.log.ends.size() < 4; ++i) {
      got += f.readSlowly(peer, 5000);
      alone = alone && f.log.held <= 1;
    }
    got += f.readSlowly(peer);
    CHECK(alone);
    const auto answers = parseAnswers(got);
    REQUIRE(answers.answers.size() == 4);
    CHECK(answers.answers[2].body == f.file_bytes);
    REQUIRE(f.log.ends.size() == 4);
    CHECK(f.log.ends[0].path == "/big");
    CHECK(f.log.ends[1].path == "/small");
    CHECK(f.log.ends[2].path == "/range");
    CHECK(f.log.ends[3].path == "/small");
    for (const Told& end : f.log.ends) CHECK_FALSE(end.how.aborted);
    CHECK(f.log.held == 0);
    CHECK(f.owner() == &f.server.protocol());
    peer.close();
    REQUIRE(f.server.settle());
  }
}

TEST_CASE("session sent: a client that ends its side is still given everything", "[session]") {
  SentFixture f;
  f.server.start();
  SimPeer peer = f.server.connect();
  peer.write(get("/big") + get("/small"));
  peer.shutdownWrite();
  const auto got = parseAnswers(f.readSlowly(peer));
  REQUIRE(got.answers.size() == 2);
  CHECK(got.answers[1].body == "small");
  CHECK(peer.sawEnd());
  CHECK(f.log.ends.size() == 2);
  CHECK(f.log.held == 0);
}

TEST_CASE("session sent: what is sent at once is told at once, and nothing is copied for it", "[session]") {
  SentFixture f;
  f.server.net.sys.setCapacity(1 << 20);
  f.server.start();
  SimPeer peer = f.server.connect();
  for (const std::string& requests :
       {get("/small"), get("/small") + get("/small") + get("/small"), get("/big") + get("/small"),
        get("/range"), get("/small") + get("/big")}) {
    peer.write(requests);
    REQUIRE(f.server.settle());
    peer.read();
  }
  CHECK(f.log.ends.size() == 9);
  CHECK(f.log.parked == 0);
  CHECK(f.log.held == 0);
}

TEST_CASE("session sent: a body that nobody wants is read away meanwhile", "[session]") {
  SentFixture f;
  f.server.start();
  SimPeer peer = f.server.connect();
  peer.write("POST /big HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345");
  REQUIRE(f.server.settle());
  CHECK(f.log.ends.empty());
  peer.write("67890" + get("/small"));
  const auto got = parseAnswers(f.readSlowly(peer));
  REQUIRE(got.answers.size() == 2);
  CHECK(f.log.ends.size() == 2);
  CHECK(f.log.held == 0);
}

// The nth call fails, for every n: whatever happens, each exchange has one end and nothing is kept.
TEST_CASE("session sent: each exchange ends once, whichever call fails", "[session]") {
  uint64_t nth = 1;
  for (bool failed = true; failed && nth < 2000; ++nth) {
    SentFixture f;
    int begun = 0;
    f.watch(f.server.on("/counted/big", [&](Exchange& e) {
      ++begun;
      SentFixture::answer(e, f.file_bytes);
    }));
    f.watch(f.server.on("/counted/small", [&](Exchange& e) {
      ++begun;
      SentFixture::answer(e, "small");
    }));
    f.server.start();
    f.server.net.sys.failAnyNth(nth);
    SimPeer peer = f.server.connect();
    peer.write(get("/counted/big") + get("/counted/small") + get("/counted/big"));
    f.readSlowly(peer);
    peer.close();
    REQUIRE(f.server.net.pass(100000, 5000));
    failed = f.server.net.sys.anyFailed();
    INFO("call " << nth);
    REQUIRE(f.log.ends.size() == static_cast<size_t>(begun));
    REQUIRE(f.log.held == 0);
    REQUIRE(f.server.net.io().size() == 0);
  }
  CHECK(nth > 20);
}

}  // namespace
}  // namespace roost::http
