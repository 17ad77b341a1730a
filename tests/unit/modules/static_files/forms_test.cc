// Coded forms: sidecars, and what a Compression makes.
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "http/compression.h"
#include "unit/modules/static_files/fixture.h"

namespace roost::modules::static_files {
namespace {

using http::Coding;

void serveSidecars(RootOptions& root) {
  for (const Coding coding : http::kCodings) root.precompressed.add(coding);
}

std::string sidecarOf(Fixture& fixture, std::string_view path, Coding coding) {
  const LoopFiles::Found original = fixture.look(path);
  const LoopFiles::Found found = fixture.files->findSidecar(fixture.root, *original.entry, coding, false);
  return found.entry == nullptr ? "" : std::string(found.entry->whole.body());
}

TEST_CASE("sidecars: found, kept, and asked for once") {
  Fixture fixture;
  serveSidecars(fixture.root);
  fixture.folder.write("/a.html", "page");
  fixture.folder.write("/a.html.gz", "gz");
  fixture.folder.setTime("/a.html", 1000);
  CHECK(sidecarOf(fixture, "/a.html", Coding::kGzip) == "gz");
  CHECK(sidecarOf(fixture, "/a.html", Coding::kBrotli).empty());
  fixture.net.sys.resetCounts();
  CHECK(sidecarOf(fixture, "/a.html", Coding::kGzip) == "gz");
  CHECK(sidecarOf(fixture, "/a.html", Coding::kBrotli).empty());
  CHECK(fixture.fileCalls() == 0);
  CHECK(fixture.files->cache().size() == 2);
}

TEST_CASE("sidecars: told of by the watcher, dropped with their file") {
  Fixture fixture;
  serveSidecars(fixture.root);
  fixture.folder.write("/a.html", "page");
  fixture.folder.setTime("/a.html", 1000);
  CHECK(sidecarOf(fixture, "/a.html", Coding::kGzip).empty());
  fixture.folder.write("/a.html.gz", "gz");
  CHECK(sidecarOf(fixture, "/a.html", Coding::kGzip) == "gz");
  fixture.folder.replace("/a.html.gz", "other");
  CHECK(sidecarOf(fixture, "/a.html", Coding::kGzip) == "other");
  fixture.folder.setTime("/a.html.gz", 999);
  CHECK(sidecarOf(fixture, "/a.html", Coding::kGzip).empty());
  fixture.folder.setTime("/a.html.gz", 1000);
  CHECK(sidecarOf(fixture, "/a.html", Coding::kGzip) == "other");
  fixture.folder.remove("/a.html.gz");
  CHECK(sidecarOf(fixture, "/a.html", Coding::kGzip).empty());
  fixture.folder.remove("/a.html");
  CHECK(fixture.get("/a.html") == "404");
  CHECK(fixture.files->cache().size() == 1);
}

TEST_CASE("sidecars: neither a folder nor a sidecar's sidecar") {
  Fixture fixture;
  serveSidecars(fixture.root);
  fixture.folder.write("/a", "a");
  fixture.folder.makeFolder("/a.gz");
  fixture.folder.write("/b.gz", "b");
  fixture.folder.write("/b.gz.gz", "b twice");
  CHECK(sidecarOf(fixture, "/a", Coding::kGzip).empty());
  CHECK(sidecarOf(fixture, "/b.gz", Coding::kGzip).empty());
  CHECK_FALSE(fixture.look("/b.gz").entry->varies);
  CHECK(fixture.look("/a").entry->varies);
}

struct Holder final : FileCache::Keeper {
  void onLeave(FileEntry&) noexcept override { ++left; }
  uint64_t bytesBeside() const noexcept override { return 0; }
  int left = 0;
};

std::unique_ptr<FileEntry> entryOf(std::string path, Coding coding = Coding::kIdentity,
                                   FileEntry::Origin origin = FileEntry::Origin::kMade) {
  auto entry = std::make_unique<FileEntry>();
  entry->root_id = 1;
  entry->path = std::move(path);
  entry->kind = FileEntry::Kind::kBody;
  entry->coding = coding;
  entry->origin = origin;
  return entry;
}

TEST_CASE("FileCache: a form leaves with its file, and alone") {
  Holder holder;
  FileCache cache(1 << 20, 100, holder);
  FileEntry& page = cache.insert(entryOf("/page"));
  FileEntry& form = cache.insertForm(page, entryOf("/page", Coding::kGzip));
  cache.insertForm(page, entryOf("/page", Coding::kBrotli));
  CHECK(cache.size() == 3);
  CHECK(cache.find(1, "/page") == &page);
  cache.erase(form);
  CHECK(page.forms[static_cast<size_t>(Coding::kGzip)] == nullptr);
  CHECK(cache.size() == 2);
  cache.insertForm(page, entryOf("/page", Coding::kBrotli));  // in place of the other
  CHECK(cache.size() == 2);
  cache.erase(1, "/page");
  CHECK(cache.size() == 0);
  CHECK(cache.bytes() == 0);
  CHECK(holder.left == 4);
}

TEST_CASE("FileCache: forms below a folder go with their files") {
  Holder holder;
  FileCache cache(1 << 20, 100, holder);
  for (const char* path : {"/a/x", "/b/y", "/a/z"}) {
    FileEntry& page = cache.insert(entryOf(path));
    for (const Coding coding : http::kCodings) cache.insertForm(page, entryOf(path, coding));
  }
  cache.eraseBelow(1, "/a");
  CHECK(cache.size() == 4);
  cache.clear();
  CHECK(cache.bytes() == 0);
}

TEST_CASE("FileCache: a form just made and its file are not pushed out; others are") {
  Holder holder;
  FileCache cache(1 << 20, 2, holder);
  FileEntry& page = cache.insert(entryOf("/page"));
  cache.insertForm(page, entryOf("/page", Coding::kGzip));
  cache.insertForm(page, entryOf("/page", Coding::kBrotli));
  CHECK(cache.size() == 2);
  CHECK(cache.find(1, "/page") == &page);
  CHECK(page.forms[static_cast<size_t>(Coding::kGzip)] == nullptr);
  CHECK(page.forms[static_cast<size_t>(Coding::kBrotli)] != nullptr);
  cache.insert(entryOf("/other"));
  cache.insert(entryOf("/third"));
  CHECK(cache.find(1, "/page") == nullptr);
  CHECK(cache.size() == 2);
}

TEST_CASE("FileCache: made forms are handed on, sidecars are not") {
  Holder holder;
  FileCache cache(1 << 20, 100, holder);
  FileEntry& old = cache.insert(entryOf("/page"));
  FileEntry& made = cache.insertForm(old, entryOf("/page", Coding::kGzip));
  cache.insertForm(old, entryOf("/page", Coding::kBrotli, FileEntry::Origin::kFile));
  auto fresh = entryOf("/page");
  FileCache::moveMadeForms(old, *fresh);
  FileEntry& now = cache.insert(std::move(fresh));
  CHECK(now.forms[static_cast<size_t>(Coding::kGzip)] == &made);
  CHECK(made.original == &now);
  CHECK(now.forms[static_cast<size_t>(Coding::kBrotli)] == nullptr);
  CHECK(cache.size() == 2);
}

// "Codes" by putting the coding's name in front, shortens by cutting off, but for what begins with '!';
// counts what it does.
struct FakeCompression final : http::Compression {
  FakeCompression() {
    for (const Coding coding : http::kCodings) {
      order_.add(coding);
      tag_suffixes_[static_cast<size_t>(coding)] = std::string(http::codingName(coding)) + "1";
    }
    max_kept_bytes_ = 1000;
  }
  bool applies(std::string_view type, int64_t size) const noexcept override {
    return type.substr(0, 5) == "text/" && size > 10;
  }
  bool encode(Coding coding, std::string_view content, std::string& out) const noexcept override {
    ++encoded;
    out = std::string(http::codingName(coding)) + ":" + std::string(content.substr(0, 5));
    return out.size() < content.size() && content.front() != '!';
  }
  void onHead(http::Exchange&, http::ResponseHead&, bool) const noexcept override {}
  mutable std::atomic<int> encoded{0};
};

TEST_CASE("made forms: one making for all who wait, kept over looks at an unchanged file") {
  StaticServer server({}, 1);
  const auto compression = std::make_shared<FakeCompression>();
  server.compression = compression;
  server.folder.write("/a.txt", "a text that is long enough to be coded");
  server.start();
  server.holdTasks();
  test::SimPeer first = server.send(StaticServer::request("GET", "/a.txt", "Accept-Encoding: gzip\r\n"));
  test::SimPeer second = server.send(StaticServer::request("GET", "/a.txt", "Accept-Encoding: gzip\r\n"));
  test::SimPeer gone = server.send(StaticServer::request("GET", "/a.txt", "Accept-Encoding: gzip\r\n"));
  CHECK(first.read().empty());
  gone.reset();
  server.net.settle();
  server.finishTasks();
  for (test::SimPeer* peer : {&first, &second}) {
    const test::ParsedAnswer answer = test::parseAnswers(peer->read()).answers.at(0);
    CHECK(answer.body == "gzip:a tex");
    CHECK(fieldOf(answer, "Content-Encoding") == "gzip");
    CHECK(fieldOf(answer, "Vary") == "Accept-Encoding");
    CHECK(fieldOf(answer, "ETag").substr(0, 2) == "W/");
  }
  CHECK(compression->encoded == 1);
  server.net.sys.advanceNs(5'000'000'000);
  server.net.settle();
  CHECK(server.get("/a.txt", "Accept-Encoding: gzip\r\n").body == "gzip:a tex");
  CHECK(compression->encoded == 1);
}

TEST_CASE("made forms: without task threads at once; what is not shorter is not asked for again") {
  StaticServer server;
  const auto compression = std::make_shared<FakeCompression>();
  server.compression = compression;
  server.folder.write("/a.txt", "a text that is long enough to be coded");
  server.folder.write("/b.txt", "0123456789a");
  server.start();
  CHECK(server.get("/a.txt", "Accept-Encoding: br\r\n").body == "br:a tex");
  CHECK(server.get("/a.txt", "Accept-Encoding: br;q=0\r\n").body == "a text that is long enough to be coded");
  compression->encoded = 0;
  CHECK(server.get("/b.txt", "Accept-Encoding: identity;q=0, zstd;q=0, gzip;q=0, br\r\n").body == "br:01234");
  for (int i = 0; i < 3; ++i) CHECK(server.get("/b.txt", "Accept-Encoding: gzip\r\n").body == "gzip:01234");
  CHECK(compression->encoded == 2);
}

TEST_CASE("made forms: a 304 needs none") {
  StaticServer server;
  const auto compression = std::make_shared<FakeCompression>();
  server.compression = compression;
  server.folder.write("/a.txt", "a text that is long enough to be coded");
  server.start();
  const std::string etag = fieldOf(server.get("/a.txt", "Accept-Encoding: br\r\n"), "ETag");
  server.files[0] = std::make_unique<LoopFiles>(*server.context, CacheOptions{});
  compression->encoded = 0;
  const auto same = server.get("/a.txt", "Accept-Encoding: br\r\nIf-None-Match: " + etag + "\r\n");
  CHECK(same.status == 304);
  CHECK(fieldOf(same, "ETag") == etag);
  CHECK(compression->encoded == 0);
}

TEST_CASE("made forms: preconditions are about what is sent") {
  StaticServer server;
  server.compression = std::make_shared<FakeCompression>();
  server.folder.write("/a.txt", "a text that is long enough to be coded");
  server.folder.write("/b.txt", "!a text that cannot be made shorter");
  server.start();
  const std::string gzip = "Accept-Encoding: gzip\r\n";
  const std::string identity = "Accept-Encoding: identity\r\n";
  const std::string modified = fieldOf(server.get("/b.txt", identity), "Last-Modified");
  const auto same = server.get("/b.txt", gzip + "If-Modified-Since: " + modified + "\r\n");
  CHECK(same.status == 304);
  const std::string made = fieldOf(server.get("/a.txt", gzip), "ETag");
  const std::string etag = fieldOf(server.get("/b.txt", gzip), "ETag");
  CHECK(fieldOf(same, "ETag") == etag);
  for (int i = 0; i < 2; ++i) {
    CHECK(server.get("/b.txt", gzip + "If-Match: " + etag + "\r\n").status ==
          server.get("/b.txt", identity + "If-Match: " + etag + "\r\n").status);
    const auto again = server.get("/b.txt", gzip + "If-None-Match: " + etag + "\r\n");
    CHECK(again.status == 304);
    CHECK(fieldOf(again, "ETag") == etag);
    CHECK(server.get("/a.txt", gzip + "If-Match: " + made + "\r\n").status == 412);
    CHECK(server.get("/a.txt", gzip + "If-None-Match: *\r\n").status == 304);
    server.files[0] = std::make_unique<LoopFiles>(*server.context, CacheOptions{});
  }
}

}  // namespace
}  // namespace roost::modules::static_files
