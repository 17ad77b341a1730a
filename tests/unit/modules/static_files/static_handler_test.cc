#include "modules/static_files/static_handler.h"

#include <sys/socket.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <tuple>

#include "unit/modules/static_files/fixture.h"

namespace {
std::atomic<uint64_t> g_allocations{0};

void* counted(std::size_t size) {
  ++g_allocations;
  void* memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  return memory;
}
}  // namespace

// The whole test program counts what it allocates.
void* operator new(std::size_t size) {
  return counted(size);
}
void* operator new[](std::size_t size) {
  return counted(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return counted(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace roost::modules::static_files {
namespace {

using test::Call;
using test::ParsedAnswer;
using test::SimPeer;

TEST_CASE("static: a change is known to a connection that comes within the same batch of events",
          "[static_files]") {
  StaticServer server;
  server.folder.write("/a", "old");
  server.start();
  CHECK(server.get("/a").body == "old");
  test::SimPeer late;
  server.net.loop().post(event::makeTask([&] {
    server.folder.write("/a", "new");
    const auto [fd, peer] = server.net.sys.connectedPair();
    late = peer;
    late.write(StaticServer::request("GET", "/a"));
    server.net.io().adopt({fd, test::SimLoop::address("127.0.0.1"), 0});
  }));
  server.net.settle();
  CHECK(test::parseAnswers(late.read()).answers.at(0).body == "new");
}

TEST_CASE("static: names that the kernel does not know are looked up by a task thread", "[static_files]") {
  StaticServer server({}, 1);
  server.root.precompressed.add(http::Coding::kGzip);
  server.folder.makeFolder("/sub");
  server.folder.write("/sub/index.html", "text");
  server.folder.write("/sub/index.html.gz", "coded");
  server.start();
  server.net.sys.setColdNames(true);
  const char* const kGzip = "Accept-Encoding: gzip\r\n";
  for (const auto& [path, fields, status, body] :
       {std::tuple{"/sub/", "", 200, "text"}, std::tuple{"/sub/index.html", kGzip, 200, "coded"},
        std::tuple{"/missing", "", 404, ""}, std::tuple{"/none/a", "", 404, ""}}) {
    CAPTURE(path);
    server.holdTasks();
    test::SimPeer peer = server.send(StaticServer::request("GET", path, fields));
    CHECK(peer.readable() == 0);  // the loop has not gone to the disk itself
    server.finishTasks();
    for (int i = 0; i < 3 && peer.readable() == 0; ++i) server.finishTasks();
    const test::ParsedAnswer answer = test::parseAnswers(peer.read()).answers.at(0);
    CHECK(answer.status == status);
    if (status == 200) CHECK(answer.body == body);
  }
  // Known now.
  server.net.sys.resetCounts();
  CHECK(server.get("/sub/").body == "text");
  CHECK(server.get("/missing").status == 404);
  CHECK(server.net.sys.calls(test::Call::kOpen) == 0);
}

TEST_CASE("static: a root that hangs leaves task threads to others, and its queue is bounded",
          "[static_files]") {
  event::TaskPool tasks(3, 64);
  const auto lookups = std::make_shared<Lookups>();
  Gate gate;
  std::mutex mutex;
  std::condition_variable changed;
  int done = 0;
  const auto ask = [&](uint32_t root_id, bool hangs) {
    Lookup lookup;
    lookup.root_id = root_id;
    lookup.folder = "/";
    lookup.done = event::makeTask([&, hangs] {
      if (hangs) gate.wait();
      const std::lock_guard<std::mutex> lock(mutex);
      ++done;
      changed.notify_all();
    });
    return lookups->ask(tasks, realSys(), std::move(lookup));
  };
  size_t taken = 0;
  while (ask(1, true)) ++taken;
  CHECK(taken >= Lookups::kMaxWaiting);
  CHECK(taken <= Lookups::kMaxWaiting + 2);
  CHECK(ask(2, false));
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return done > 0; });  // the other root's, on the thread that is left
  lock.unlock();
  gate.open();
  tasks.stop();
}

TEST_CASE("static handler: a small file, whole and in part", "[static_files]") {
  StaticServer server;
  server.folder.write("/a.html", "<p>hello</p>");
  server.folder.write("/empty.txt", "");
  server.start();
  for (int i = 0; i < 2; ++i) {  // fresh and cached
    const ParsedAnswer answer = server.get("/a.html");
    CHECK(answer.status == 200);
    CHECK(answer.body == "<p>hello</p>");
    CHECK(fieldOf(answer, "Content-Type") == "text/html; charset=utf-8");
    CHECK(fieldOf(answer, "Accept-Ranges") == "bytes");
    CHECK(fieldOf(answer, "ETag").front() == '"');
    CHECK_FALSE(fieldOf(answer, "Last-Modified").empty());
    CHECK_FALSE(fieldOf(answer, "Date").empty());
  }
  const ParsedAnswer head = server.ask("HEAD", "/a.html");
  CHECK(head.body.empty());
  CHECK(fieldOf(head, "Content-Length") == "12");
  const ParsedAnswer part = server.get("/a.html", "Range: bytes=3-7\r\n");
  CHECK(part.status == 206);
  CHECK(part.body == "hello");
  CHECK(fieldOf(part, "Content-Range") == "bytes 3-7/12");
  CHECK(server.ask("HEAD", "/a.html", "Range: bytes=3-7\r\n").status == 200);
  const ParsedAnswer beyond = server.get("/a.html", "Range: bytes=99-\r\n");
  CHECK(beyond.status == 416);
  CHECK(fieldOf(beyond, "Content-Range") == "bytes */12");
  const ParsedAnswer empty = server.get("/empty.txt");
  CHECK(empty.status == 200);
  CHECK(fieldOf(empty, "Content-Length") == "0");
  CHECK(server.get("/empty.txt", "Range: bytes=0-\r\n").status == 416);
}

TEST_CASE("static handler: several ranges of a small file", "[static_files]") {
  StaticServer server;
  const std::string content = test::patternOf(20000);
  server.folder.write("/a.txt", content);
  server.start();
  const ParsedAnswer answer = server.get("/a.txt", "Range: bytes=0-1,100-9999\r\n");
  CHECK(answer.status == 206);
  CHECK(answer.complete);
  CHECK(answer.body.find("Content-Range: bytes 0-1/20000\r\n\r\n" + content.substr(0, 2) + "\r\n--") !=
        std::string::npos);
  CHECK(answer.body.find("\r\n\r\n" + content.substr(100, 9900) + "\r\n--") != std::string::npos);
}

TEST_CASE("static handler: conditions", "[static_files]") {
  StaticServer server;
  server.folder.write("/a.txt", "text");
  server.root.cache_control = "max-age=60";
  server.start();
  const ParsedAnswer first = server.get("/a.txt");
  CHECK(fieldOf(first, "Cache-Control") == "max-age=60");
  const std::string tag = fieldOf(first, "ETag");
  for (const std::string& field : {"If-None-Match: \"x\", " + tag, std::string("If-None-Match: *"),
                                   "If-Modified-Since: " + fieldOf(first, "Last-Modified")}) {
    const ParsedAnswer answer = server.get("/a.txt", field + "\r\n");
    CHECK(answer.status == 304);
    CHECK(answer.body.empty());
    CHECK(fieldOf(answer, "ETag") == tag);
    CHECK(fieldOf(answer, "Cache-Control") == "max-age=60");
  }
  CHECK(server.get("/a.txt", "If-Match: \"x\"\r\n").status == 412);
  CHECK(server.get("/a.txt", "If-Match: " + tag + "\r\n").status == 200);
  CHECK(server.get("/a.txt", "If-Range: " + tag + "\r\nRange: bytes=1-1\r\n").body == "e");
  CHECK(server.get("/a.txt", "If-Range: \"x\"\r\nRange: bytes=1-1\r\n").body == "text");
  // A condition on what is not there is no condition (RFC 9110 section 13.2.1).
  CHECK(server.get("/none", "If-Match: *\r\n").status == 404);
}

TEST_CASE("static handler: methods", "[static_files]") {
  StaticServer server;
  server.folder.write("/a.txt", "text");
  server.start();
  const ParsedAnswer post = server.ask("POST", "/a.txt", "Content-Length: 0\r\n");
  CHECK(post.status == 405);
  CHECK(fieldOf(post, "Allow") == "GET, HEAD, OPTIONS");
  CHECK(server.ask("OPTIONS", "/a.txt").status == 204);
}

TEST_CASE("static handler: folders", "[static_files]") {
  StaticServer server;
  server.folder.makeFolder("/a b");
  server.folder.write("/a b/index.html", "index");
  server.start();
  const ParsedAnswer redirect = server.get("/a%20b?x=%20y");
  CHECK(redirect.status == 301);
  CHECK(fieldOf(redirect, "Location") == "/a%20b/?x=%20y");
  CHECK(server.get("/a%20b/").body == "index");
  CHECK(server.get("/").status == 403);
  CHECK(server.get("/none/").status == 404);
}

TEST_CASE("static handler: an alias, of a prefix and of one path", "[static_files]") {
  StaticServer prefix;
  prefix.folder.makeFolder("/sub");
  prefix.folder.write("/sub/a.txt", "text");
  prefix.root.strip = std::string_view("/docs").size();
  prefix.start("/docs/");
  CHECK(prefix.get("/docs/sub/a.txt").body == "text");
  CHECK(fieldOf(prefix.get("/docs/sub"), "Location") == "/docs/sub/");
  CHECK(prefix.get("/sub/a.txt").status == 404);

  StaticServer exact;
  exact.folder.write("/page.html", "page");
  exact.root.only_file = "/page.html";
  exact.start("/about");
  CHECK(exact.get("/about").body == "page");
  CHECK(fieldOf(exact.get("/about"), "Content-Type") == "text/html; charset=utf-8");
  CHECK(exact.get("/page.html").status == 404);
}

TEST_CASE("static handler: max_ranges 0 ignores ranges and says so", "[static_files]") {
  StaticServer server;
  server.folder.write("/a.txt", "text");
  server.root.max_ranges = 0;
  server.start();
  const ParsedAnswer answer = server.get("/a.txt", "Range: bytes=0-0\r\n");
  CHECK(answer.status == 200);
  CHECK(fieldOf(answer, "Accept-Ranges").empty());
}

TEST_CASE("static handler: one recv and one send for a small file and for a missing one", "[static_files]") {
  StaticServer server;
  server.folder.write("/612.html", test::patternOf(612));
  server.start();
  SimPeer peer = server.net.connect();
  for (const char* path : {"/612.html", "/missing.html"}) {
    server.askOn(peer, "GET", path);
    server.net.sys.resetCounts();
    peer.forgetSends();
    CHECK(server.askOn(peer, "GET", path).complete);
    const test::SimSys& sys = server.net.sys;
    CHECK(sys.calls(Call::kRecv) == 1);
    CHECK(sys.calls(Call::kSend) == 1);
    CHECK(sys.sendCalls() == 1);
    CHECK_FALSE(peer.sends().front().more);
    for (const Call call : {Call::kOpen, Call::kStat, Call::kRead, Call::kClose, Call::kInotifyAdd,
                            Call::kEpollCtl, Call::kTimerfdSet, Call::kOther}) {
      CHECK(sys.calls(call) == 0);
    }
  }
}

TEST_CASE("static handler: head and file leave by two calls", "[static_files]") {
  CacheOptions options;
  options.max_file_bytes = 1000;
  StaticServer server(options);
  // The head of a very large file has a packet of its own; others share it with the file's beginning.
  const bool shares = GENERATE(true, false);
  const std::string content = test::patternOf(shares ? 5000 : 1 << 20);
  server.folder.write("/large", content);
  server.net.sys.setCapacity(8 << 20);
  server.start();
  SimPeer peer = server.net.connect();
  CHECK((server.askOn(peer, "GET", "/large").body == content));
  server.net.sys.resetCounts();
  peer.forgetSends();
  CHECK((server.askOn(peer, "GET", "/large").body == content));
  const test::SimSys& sys = server.net.sys;
  CHECK(sys.calls(Call::kRecv) == 1);
  CHECK(sys.calls(Call::kSend) == 1);
  CHECK(sys.calls(Call::kSendFile) == 1);
  CHECK(sys.sendCalls() == 2);
  CHECK(peer.sends().front().more == shares);
  CHECK(sys.calls(Call::kOpen) + sys.calls(Call::kStat) + sys.calls(Call::kRead) == 0);
}

TEST_CASE("static handler: pipelined requests are answered in order, together", "[static_files]") {
  StaticServer server;
  server.folder.write("/a", "first");
  server.folder.write("/b", "second");
  server.start();
  SimPeer peer = server.net.connect();
  std::string requests;
  for (const char* path : {"/a", "/b", "/none", "/a"}) requests += StaticServer::request("GET", path);
  peer.write(requests);
  server.net.settle();
  const test::ParsedAnswers parsed = test::parseAnswers(peer.read());
  REQUIRE(parsed.answers.size() == 4);
  CHECK(parsed.answers[1].body == "second");
  CHECK(parsed.answers[2].status == 404);
  CHECK(parsed.answers[3].body == "first");
  CHECK(server.net.sys.sendCalls() == 1);
}

// On the real kernel, since the simulated one allocates itself.
TEST_CASE("static handler: answering from the cache allocates nothing", "[static_files]") {
  TempFolder folder;
  folder.write("/612.html", test::patternOf(612));
  folder.write("/large", test::patternOf(100'000));
  auto loop = std::move(event::Loop::create(realSys(), 0)).value();
  net::IoContext io(*loop);
  event::TaskPool tasks(0, 0);
  http::LoopContext context(io, tasks);
  FilesByLoop files;
  auto mime = std::make_shared<http::MimeTable>();
  RootOptions root;
  root.id = 1;
  root.folder = folder.path();
  root.mime = mime.get();
  auto route = std::make_unique<http::Route>();
  route->path = "/";
  route->handler = std::make_unique<StaticHandler>(root, mime, files);
  auto site = std::make_unique<http::Site>();
  site->hosts = {"*"};
  site->routes.push_back(std::move(route));
  std::vector<std::unique_ptr<http::Site>> sites;
  sites.push_back(std::move(site));
  context.setService(std::make_shared<http::Service>(
      http::ServiceOptions(), std::move(http::Router::build(std::move(sites))).value()));
  http::h1::Protocol protocol(context);
  io.setFactory(0, protocol);
  CacheOptions options;
  options.revalidate_ns = 3'600'000'000'000;  // the files are young: their tags are looked at again after 1 s
  files.push_back(std::make_unique<LoopFiles>(context, options));
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
  io.adopt({ends[0], test::SimLoop::address("127.0.0.1"), 0});

  static char buffer[300'000];
  const auto ask = [&](const std::string& request) {
    REQUIRE(::send(ends[1], request.data(), request.size(), 0) == static_cast<ssize_t>(request.size()));
    const uint64_t before = g_allocations;
    size_t got = 0;
    for (int i = 0; i < 1000; ++i) {
      loop->runOnce(0);
      const ssize_t n = ::recv(ends[1], buffer + got, sizeof buffer - got, 0);
      if (n <= 0 && got > 0) break;
      if (n > 0) got += static_cast<size_t>(n);
    }
    REQUIRE(got > 100);
    return g_allocations - before;
  };
  for (const char* path : {"/612.html", "/missing.html", "/large"}) {
    const std::string request = StaticServer::request("GET", path);
    for (int i = 0; i < 5; ++i) ask(request);
    uint64_t least = UINT64_MAX;  // a look at the file every second is not counted against the rest
    for (int i = 0; i < 20; ++i) least = std::min(least, ask(request));
    INFO(path);
    CHECK(least == 0);
  }
  ::close(ends[1]);
  loop->runOnce(0);
  io.closeAll();
  files.clear();
}

}  // namespace
}  // namespace roost::modules::static_files
