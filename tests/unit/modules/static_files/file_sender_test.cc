#include "modules/static_files/file_sender.h"

#include <catch2/catch.hpp>
#include <string>

#include "unit/modules/static_files/fixture.h"

namespace roost::modules::static_files {
namespace {

using test::Call;
using test::ParsedAnswer;
using test::SimPeer;

constexpr uint64_t kWindow = FileSender::kWindowBytes;

ParsedAnswer answerIn(const std::string& bytes) {
  const test::ParsedAnswers parsed = test::parseAnswers(bytes);
  return parsed.answers.empty() ? ParsedAnswer{} : parsed.answers.front();
}

// Reads all that comes, `step` bytes at a time.
std::string readSlowly(StaticServer& server, SimPeer& peer, size_t step) {
  std::string all;
  for (std::string piece = peer.read(step); !piece.empty(); piece = peer.read(step)) {
    all += piece;
    REQUIRE(server.net.settle());
  }
  return all;
}

TEST_CASE("file sender: 20 MB arrive whole at a slow reader", "[static_files]") {
  StaticServer server;
  const std::string content = test::patternOf(20'000'001);
  server.folder.write("/large", content);
  server.start();
  SimPeer peer = server.send(StaticServer::request("GET", "/large"));
  const ParsedAnswer answer = answerIn(readSlowly(server, peer, 100'000));
  CHECK(answer.status == 200);
  CHECK(answer.complete);
  CHECK((answer.body == content));
  // The connection goes on.
  CHECK(server.askOn(peer, "HEAD", "/large").status == 200);
}

TEST_CASE("file sender: every send may be short or interrupted", "[static_files]") {
  StaticServer server;
  const std::string content = test::patternOf(9'000'000);
  server.folder.write("/large", content);
  server.start();
  server.net.sys.setMaxSend(77'777);
  server.net.sys.interruptEvery(3);
  SimPeer peer = server.send(StaticServer::request("GET", "/large"));
  CHECK((answerIn(readSlowly(server, peer, 1'000'000)).body == content));
}

TEST_CASE("file sender: each cold window is read by a task thread and sent once", "[static_files]") {
  StaticServer server({}, 1);
  const std::string content = test::patternOf(3 * kWindow + 5);
  server.folder.write("/large", content);
  server.net.sys.setCapacity(64 << 20);
  server.start();
  server.holdTasks();
  SimPeer peer = server.net.connect();
  peer.write(StaticServer::request("GET", "/large"));
  server.net.sys.failNth(Call::kRead, 1, EAGAIN);
  server.net.settle();
  std::string got = peer.read();
  CHECK(answerIn(got).body.empty());  // the head does not wait
  // While a task thread is at work, a reader that becomes ready again changes nothing.
  REQUIRE(server.net.settle());
  CHECK(peer.readable() == 0);
  server.finishTasks();
  got += peer.read();
  CHECK((answerIn(got).body == content));
  CHECK(answerIn(got).complete);
}

TEST_CASE("file sender: windows that stay cold are sent all the same", "[static_files]") {
  StaticServer server({}, 1);
  const std::string content = test::patternOf(2 * kWindow);
  server.folder.write("/large", content);
  server.net.sys.setCapacity(64 << 20);
  server.start();
  SimPeer peer = server.net.connect();
  peer.write(StaticServer::request("GET", "/large"));
  server.net.sys.failNth(Call::kRead, 1, EAGAIN, 100000);  // for the task thread as well
  server.net.settle();
  server.finishTasks();
  server.finishTasks();
  CHECK((answerIn(peer.read()).body == content));
}

TEST_CASE("file sender: without a task thread the loop reads itself", "[static_files]") {
  StaticServer server({}, 0);
  const std::string content = test::patternOf(2 * kWindow);
  server.folder.write("/large", content);
  server.folder.write("/small", "text");
  server.net.sys.setCapacity(64 << 20);
  server.start();
  server.net.sys.failNth(Call::kRead, 1, EAGAIN, 3);
  CHECK((server.get("/large").body == content));
  server.net.sys.failNth(Call::kRead, 1, EAGAIN);
  CHECK(server.get("/small").body == "text");
}

TEST_CASE("file sender: a client that leaves while its file is being read", "[static_files]") {
  StaticServer server({}, 1);
  server.folder.write("/large", test::patternOf(2 * kWindow));
  server.folder.write("/small", "text");
  server.start();
  for (const char* path : {"/large", "/small"}) {
    server.holdTasks();
    SimPeer peer = server.net.connect();
    peer.write(StaticServer::request("GET", path));
    server.net.sys.failNth(Call::kRead, 1, EAGAIN);
    server.net.settle();
    peer.reset();
    server.net.settle();
    server.finishTasks();
    CHECK(server.net.io().size() == 0);
  }
  CHECK(server.get("/small").body == "text");
}

TEST_CASE("file sender: a cold small file is read by a task thread and answered from then on",
          "[static_files]") {
  StaticServer server({}, 1);
  server.folder.write("/small", "text");
  server.start();
  server.holdTasks();
  SimPeer peer = server.net.connect();
  peer.write(StaticServer::request("GET", "/small"));
  server.net.sys.failNth(Call::kRead, 1, EAGAIN);
  server.net.settle();
  CHECK(peer.readable() == 0);
  server.finishTasks();
  CHECK(answerIn(peer.read()).body == "text");
  server.net.sys.resetCounts();
  CHECK(server.askOn(peer, "GET", "/small").body == "text");
  CHECK(server.net.sys.calls(Call::kRead) == 0);
}

TEST_CASE("file sender: a file that shrinks ends the connection", "[static_files]") {
  StaticServer server;
  const std::string content = test::patternOf(3 * kWindow);
  server.folder.write("/large", content);
  server.start();
  SimPeer peer = server.send(StaticServer::request("GET", "/large"));
  std::string got = peer.read(1000);
  server.folder.resize("/large", kWindow);
  REQUIRE(server.net.settle());
  got += readSlowly(server, peer, 100'000);
  CHECK_FALSE(answerIn(got).complete);
  CHECK((answerIn(got).body == content.substr(0, kWindow)));
  CHECK(peer.gone());
  CHECK(server.net.io().size() == 0);
}

TEST_CASE("file sender: places beyond 4 GiB", "[static_files]") {
  StaticServer server;
  server.folder.write("/sparse", "");
  constexpr uint64_t kSize = 5ULL << 30;
  server.folder.resize("/sparse", kSize);
  const int fd = ::open(server.folder.at("/sparse").c_str(), O_WRONLY);
  REQUIRE(::pwrite(fd, "the end", 7, kSize - 7) == 7);
  ::close(fd);
  server.start();
  CHECK(fieldOf(server.ask("HEAD", "/sparse"), "Content-Length") == "5368709120");
  const ParsedAnswer tail = server.get("/sparse", "Range: bytes=-10\r\n");
  CHECK(tail.status == 206);
  CHECK(tail.body == std::string(3, '\0') + "the end");
  CHECK(fieldOf(tail, "Content-Range") == "bytes 5368709110-5368709119/5368709120");
  // Whole: what comes first is right, and a client that leaves stops it.
  SimPeer peer = server.send(StaticServer::request("GET", "/sparse"));
  uint64_t seen = 0;
  for (int i = 0; i < 100; ++i) {
    seen += peer.read().size();
    REQUIRE(server.net.settle());
  }
  CHECK(seen > (8 << 20));
  const size_t connections = server.net.io().size();
  peer.reset();
  server.net.settle();
  CHECK(server.net.io().size() == connections - 1);
}

TEST_CASE("file sender: several ranges of a large file, cold", "[static_files]") {
  StaticServer server({}, 1);
  const std::string content = test::patternOf(12'000'000);
  server.folder.write("/large", content);
  server.net.sys.setCapacity(64 << 20);
  server.start();
  server.holdTasks();
  SimPeer peer = server.net.connect();
  peer.write(StaticServer::request("GET", "/large", "Range: bytes=0-9,5000000-9999999,-3\r\n"));
  server.net.sys.failNth(Call::kRead, 2, EAGAIN);
  server.net.settle();
  server.finishTasks();
  const ParsedAnswer answer = answerIn(peer.read());
  CHECK(answer.status == 206);
  CHECK(answer.complete);
  const std::string type = fieldOf(answer, "Content-Type");
  const std::string mark = "--" + type.substr(type.find("boundary=") + 9);
  std::string expected;
  for (const auto& [first, last] :
       {std::pair<size_t, size_t>{0, 9}, {5000000, 9999999}, {11999997, 11999999}}) {
    expected += (expected.empty() ? "" : "\r\n") + mark + "\r\nContent-Type: application/octet-stream\r\n" +
                "Content-Range: bytes " + std::to_string(first) + "-" + std::to_string(last) +
                "/12000000\r\n\r\n" + content.substr(first, last - first + 1);
  }
  expected += "\r\n" + mark + "--\r\n";
  CHECK((answer.body == expected));
}

TEST_CASE("file sender: a body nobody asked for does not stop the connection", "[static_files]") {
  StaticServer server({}, 1);
  const std::string content = test::patternOf(2 * kWindow);
  server.folder.write("/large", content);
  server.net.sys.setCapacity(64 << 20);
  server.start();
  const std::string body = "927c0\r\n" + std::string(600'000, 'b') + "\r\n0\r\n\r\n";
  server.holdTasks();
  SimPeer peer = server.net.connect();
  server.net.sys.failNth(Call::kRead, 1, EAGAIN);
  peer.write(StaticServer::request("GET", "/large", "Transfer-Encoding: chunked\r\n") + body +
             StaticServer::request("GET", "/none"));
  server.net.settle();
  server.finishTasks();
  const test::ParsedAnswers parsed = test::parseAnswers(peer.read());
  REQUIRE(parsed.answers.size() == 2);
  CHECK((parsed.answers[0].body == content));
  CHECK(parsed.answers[1].status == 404);
}

}  // namespace
}  // namespace roost::modules::static_files
