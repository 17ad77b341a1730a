#include "modules/static_files/loop_files.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <thread>

#include "unit/modules/static_files/fixture.h"

namespace roost::modules::static_files {
namespace {

using test::Call;
using Kind = FileEntry::Kind;

// A fixture with the file "/a" in its cache.
struct Cached : Fixture {
  explicit Cached(CacheOptions options = {}) : Fixture(options) {
    folder.makeFolder("/sub/deep");
    folder.write("/a", "old");
    folder.write("/sub/deep/b", "old");
    REQUIRE(get("/a") == "old");
    REQUIRE(get("/sub/deep/b") == "old");
    net.sys.resetCounts();
  }
};

TEST_CASE("loop files: a hit asks the file system nothing", "[static_files]") {
  Cached f;
  for (int i = 0; i < 10; ++i) CHECK(f.get("/a") == "old");
  CHECK(f.fileCalls() == 0);
}

TEST_CASE("loop files: a miss costs few calls", "[static_files]") {
  Cached f;
  f.folder.write("/new", "content");
  f.net.settle();
  f.net.sys.resetCounts();
  CHECK(f.get("/new") == "content");
  CHECK(f.net.sys.calls(Call::kOpen) == 1);
  CHECK(f.net.sys.calls(Call::kStat) == 2);  // before and after the reading
  CHECK(f.net.sys.calls(Call::kRead) == 1);
  CHECK(f.net.sys.calls(Call::kClose) == 1);
  CHECK(f.net.sys.calls(Call::kInotifyAdd) == 0);  // the folder is watched already
  f.net.sys.resetCounts();
  CHECK(f.get("/missing") == "404");
  CHECK(f.net.sys.calls(Call::kOpen) == 1);
  CHECK(f.fileCalls() == 1);
  CHECK(f.get("/missing") == "404");
  CHECK(f.fileCalls() == 1);
}

TEST_CASE("loop files: every kind of change is seen by the next request", "[static_files]") {
  Cached f;
  SECTION("written in place") {
    f.folder.write("/a", "new");
    CHECK(f.get("/a") == "new");
  }
  SECTION("written in place, as long as before") {
    f.folder.write("/sub/deep/b", "NEW");
    CHECK(f.get("/sub/deep/b") == "NEW");
  }
  SECTION("replaced by a rename") {
    f.folder.replace("/a", "new");
    CHECK(f.get("/a") == "new");
  }
  SECTION("removed and back again") {
    f.folder.remove("/a");
    CHECK(f.get("/a") == "404");
    CHECK(f.cached("/a"));
    f.folder.write("/a", "new");
    CHECK(f.get("/a") == "new");
  }
  SECTION("cut off") {
    f.folder.resize("/a", 1);
    CHECK(f.get("/a") == "o");
    f.folder.resize("/a", 0);
    CHECK(f.get("/a").empty());
  }
  SECTION("dated") {
    const std::string tag = f.etag("/a");
    f.folder.setTime("/a", 1'000'000'000);
    CHECK(f.etag("/a") != tag);
  }
  SECTION("a folder above it renamed") {
    f.folder.rename("/sub", "/moved");
    CHECK(f.get("/sub/deep/b") == "404");
    CHECK(f.get("/moved/deep/b") == "old");
    f.folder.makeFolder("/sub/deep");
    f.folder.write("/sub/deep/b", "new");
    CHECK(f.get("/sub/deep/b") == "new");
  }
  SECTION("its folder removed and made anew") {
    f.folder.remove("/sub");
    CHECK(f.get("/sub/deep/b") == "404");
    f.folder.makeFolder("/sub/deep");
    f.folder.write("/sub/deep/b", "new");
    CHECK(f.get("/sub/deep/b") == "new");
    f.folder.write("/sub/deep/b", "newer");
    CHECK(f.get("/sub/deep/b") == "newer");
  }
  SECTION("it becomes a folder") {
    f.folder.remove("/a");
    f.folder.makeFolder("/a");
    CHECK(f.get("/a") == "folder");
    f.folder.remove("/a");
    f.folder.write("/a", "new");
    CHECK(f.get("/a") == "new");
  }
  SECTION("more changes than the kernel keeps") {
    size_t queue = 16384;
    std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> queue;
    for (size_t i = 0; i <= queue / 2; ++i) {
      f.folder.hardLink("/a", "/z");
      f.folder.remove("/z");
    }
    f.folder.write("/a", "new");
    f.net.settle();
    CHECK(f.files->cache().size() == 0);
    CHECK(f.get("/a") == "new");
  }
}

TEST_CASE("loop files: an index file that comes, changes and goes", "[static_files]") {
  Cached f;
  CHECK(f.get("/sub/") == "403");
  CHECK(f.get("/sub") == "folder");
  CHECK(f.get("/none/") == "404");
  CHECK(f.get("/a/") == "404");  // a file is no folder
  f.folder.write("/sub/index.html", "first");
  CHECK(f.get("/sub/") == "first");
  f.folder.replace("/sub/index.html", "second");
  CHECK(f.get("/sub/") == "second");
  f.folder.remove("/sub/index.html");
  CHECK(f.get("/sub/") == "403");
  f.root.index = {};
  CHECK(f.get("/") == "403");
}

TEST_CASE("loop files: the first index file that is there answers", "[static_files]") {
  Fixture f;
  f.root.index = {"one", "two"};
  f.folder.write("/two", "2");
  CHECK(f.get("/") == "2");
  f.folder.write("/one", "1");
  CHECK(f.get("/") == "1");
  f.folder.remove("/one");
  f.folder.makeFolder("/one");
  CHECK(f.get("/") == "404");
}

TEST_CASE("loop files: what a link stands for is watched with it", "[static_files]") {
  Cached f;
  f.folder.link("sub/deep/b", "/link");
  f.folder.link("sub", "/link_folder");
  CHECK(f.get("/link") == "old");
  CHECK(f.get("/link_folder/deep/b") == "old");
  SECTION("the target written") {
    f.folder.write("/sub/deep/b", "new");
    CHECK(f.get("/link") == "new");
    CHECK(f.get("/link_folder/deep/b") == "new");
  }
  SECTION("the link led elsewhere") {
    f.folder.link("a", "/next");
    f.folder.write("/a", "other");
    f.folder.rename("/next", "/link");
    CHECK(f.get("/link") == "other");
  }
  SECTION("a link on the way led elsewhere") {
    f.folder.makeFolder("/v2/deep");
    f.folder.write("/v2/deep/b", "new");
    f.folder.link("v2", "/next");
    f.folder.rename("/next", "/link_folder");
    CHECK(f.get("/link_folder/deep/b") == "new");
  }
  SECTION("the target replaced") {
    f.folder.replace("/sub/deep/b", "new");
    CHECK(f.get("/link_folder/deep/b") == "new");
    CHECK(f.get("/link") == "new");  // the old inode has lost a name
  }
  SECTION("a link to a folder does not blunt that folder's watch") {
    CHECK(f.get("/sub/missing") == "404");
    CHECK(f.get("/link_folder") == "folder");
    f.folder.write("/sub/missing", "new");
    CHECK(f.get("/sub/missing") == "new");
  }
  f.files.reset();
}

TEST_CASE("loop files: a file with two names is fresh under both", "[static_files]") {
  Cached f;
  TempFolder elsewhere;
  std::filesystem::create_hard_link(f.folder.at("/a"), elsewhere.at("/a"));
  f.open();
  CHECK(f.get("/a") == "old");
  elsewhere.write("/a", "new");  // a folder nobody watches
  CHECK(f.get("/a") == "new");
}

TEST_CASE("loop files: without notices time finds changes", "[static_files]") {
  CacheOptions options = withoutInotify();
  Cached f(options);
  f.folder.write("/a", "new");
  CHECK(f.get("/a") == "old");
  f.net.sys.advanceMs(1999);
  CHECK(f.get("/a") == "old");
  CHECK(f.fileCalls() == 0);
  f.net.sys.advanceMs(2);
  CHECK(f.get("/a") == "new");
  // What is missing is not remembered: nobody would tell of its coming.
  CHECK(f.get("/late") == "404");
  f.folder.write("/late", "now");
  CHECK(f.get("/late") == "now");
}

TEST_CASE("loop files: no more watches, or no instance, leaves time as the guard", "[static_files]") {
  const bool no_instance = GENERATE(true, false);
  Fixture f;
  f.folder.write("/a", "old");
  if (no_instance) {
    f.net.sys.failNth(Call::kOther, 1, EMFILE);
  } else {
    f.net.sys.failNth(Call::kInotifyAdd, 1, ENOSPC, 100);
  }
  f.open();
  CHECK(f.get("/a") == "old");
  CHECK(f.cached("/a"));
  f.folder.write("/a", "new");
  f.net.sys.advanceMs(2001);
  CHECK(f.get("/a") == "new");
  CHECK(f.get("/late") == "404");
  f.folder.write("/late", "now");
  CHECK(f.get("/late") == "now");
}

TEST_CASE("loop files: with revalidate_ms 0 every request looks, with max_bytes 0 nothing is kept",
          "[static_files]") {
  CacheOptions options;
  if (GENERATE(true, false)) {
    options.revalidate_ns = 0;
  } else {
    options.max_bytes = 0;
  }
  Fixture f(options);
  f.folder.write("/a", "old");
  CHECK(f.get("/a") == "old");
  f.folder.write("/a", "new");
  CHECK(f.get("/a") == "new");
  CHECK_FALSE(f.cached("/a"));
  CHECK(f.files->cache().size() == 0);
  CHECK(f.net.sys.calls(Call::kInotifyAdd) == 0);
}

TEST_CASE("loop files: a root that is swapped is noticed in time, whatever was asked for", "[static_files]") {
  TempFolder home;
  for (const char* version : {"/v1", "/v2"}) {
    home.makeFolder(version);
    for (const char* name : {"/a", "/b"}) home.write(std::string(version) + name, version);
  }
  home.link("v1", "/current");
  Fixture f;
  f.root.folder = home.at("/current");
  CHECK(f.get("/a") == "/v1");
  f.net.sys.advanceMs(1500);
  CHECK(f.get("/b") == "/v1");
  home.link("v2", "/next");
  home.rename("/next", "/current");
  f.net.sys.advanceMs(501);  // two seconds after the first look, half a second after the swap
  CHECK(f.get("/b") == "/v2");
  CHECK(f.get("/a") == "/v2");
  // From then on it is the new folder that is watched.
  home.write("/v2/a", "fresh");
  CHECK(f.get("/a") == "fresh");
  // A root that is itself moved away tells so.
  home.rename("/v2", "/v3");
  home.makeFolder("/v2");
  home.write("/v2/a", "anew");
  CHECK(f.get("/a") == "anew");
}

// Two loops on one simulated kernel.
struct TwoLoops {
  TempFolder home;
  SharedFiles shared;
  RootOptions root;
  http::MimeTable mime;
  Fixture one, two;
  TwoLoops(CacheOptions options, size_t threads) : one(options, threads), two(options, threads) {
    for (const char* version : {"/v1", "/v2"}) {
      home.makeFolder(version);
      home.write(std::string(version) + "/a", version);
    }
    home.link("v1", "/current");
    for (Fixture* f : {&one, &two}) {
      f->root.folder = home.at("/current");
      f->files = std::make_unique<LoopFiles>(f->context, options, shared);
      REQUIRE(f->get("/a") == "/v1");
    }
  }
  void swap(const char* target) {
    home.link(target, "/next");
    home.rename("/next", "/current");
  }
};

TEST_CASE("loop files: a swapped root is another one at once, on every loop", "[static_files]") {
  TwoLoops loops({}, 0);
  for (const char* target : {"v2", "v1", "v2"}) {
    loops.swap(target);
    CHECK(loops.one.get("/a") == std::string("/") + target);
    CHECK(loops.two.get("/a") == std::string("/") + target);
  }
  // Gone for a moment: what is open stays in use, until the name is there again.
  loops.home.remove("/current");
  CHECK(loops.one.get("/a") == "/v2");
  loops.home.link("v1", "/current");
  CHECK(loops.one.get("/a") == "/v1");
  CHECK(loops.two.get("/a") == "/v1");
}

TEST_CASE("loop files: the loop that finds a root swapped by time tells the others", "[static_files]") {
  TwoLoops loops(withoutInotify(), 0);
  loops.swap("v2");
  CHECK(loops.one.get("/a") == "/v1");
  loops.one.net.sys.advanceMs(2001);
  CHECK(loops.one.get("/a") == "/v2");
  CHECK(loops.two.get("/a") == "/v2");  // whose own time has not come
}

TEST_CASE("loop files: a swapped root that nobody knows yet is not answered for from the old one",
          "[static_files]") {
  TwoLoops loops({}, 1);
  loops.swap("v2");
  loops.one.net.sys.setColdNames(true);
  CHECK(loops.one.get("/a") == "cold");
  CHECK(loops.one.get("/a", true) == "/v2");
  CHECK(loops.one.get("/a") == "/v2");
}

TEST_CASE("loop files: a link behind a link that is the root's", "[static_files]") {
  TwoLoops loops({}, 0);
  Fixture f;
  loops.home.makeFolder("/far");
  loops.home.link("../current", "/far/middle");
  loops.home.link(loops.home.at("/far/middle"), "/root");
  f.root.folder = loops.home.at("/root");
  CHECK(f.get("/a") == "/v1");
  loops.swap("v2");
  CHECK(f.get("/a") == "/v2");
  loops.home.link("../v1", "/far/next");
  loops.home.rename("/far/next", "/far/middle");
  CHECK(f.get("/a") == "/v1");
  loops.swap("v1");
  loops.swap("v2");  // not on the way any more
  CHECK(f.get("/a") == "/v1");
}

TEST_CASE("loop files: names that the kernel does not know are not waited for", "[static_files]") {
  Fixture f({}, 1);
  f.folder.makeFolder("/sub");
  f.folder.write("/sub/a", "text");
  CHECK(f.get("/sub/a") == "text");  // the kernel knows
  f.folder.write("/sub/b", "text");
  f.net.sys.setColdNames(true);
  CHECK(f.get("/sub/a") == "text");  // known here
  CHECK(f.get("/sub/b") == "cold");
  CHECK(f.get("/sub/") == "cold");
  CHECK(f.get("/none/c") == "cold");
  CHECK(f.files->watcher().size() == 2);  // nothing has been left behind
  CHECK(f.get("/sub/b", true) == "text");
  CHECK(f.get("/sub/b") == "text");
  CHECK(f.get("/none/c", true) == "404");
  CHECK(f.get("/none/d") == "404");  // its folder is known to be missing
}

TEST_CASE("loop files: a root that cannot be looked at without waiting stays in use meanwhile",
          "[static_files]") {
  Fixture f({}, 1);
  f.folder.write("/a", "text");
  CHECK(f.get("/a") == "text");
  f.net.sys.setColdNames(true);
  f.net.sys.advanceMs(2001);
  CHECK(f.get("/b") == "cold");
  CHECK(f.get("/a", true) == "text");
  f.tasks.stop();
  f.net.settle();
  CHECK(f.get("/a") == "text");
}

TEST_CASE("loop files: a tag is weak until the file has been still", "[static_files]") {
  Fixture f;
  f.folder.write("/a", "text");
  f.net.sys.setRealtimeNs(f.folder.changedNs("/a") + 500'000'000);
  const std::string weak = f.etag("/a");
  CHECK(weak.substr(0, 3) == "W/\"");
  f.net.sys.resetCounts();
  f.net.sys.advanceMs(900);
  CHECK(f.etag("/a") == weak);
  CHECK(f.fileCalls() == 0);
  f.net.sys.advanceMs(1100);
  CHECK(f.etag("/a") == weak.substr(2));
  // A time in the future is never still.
  f.folder.setTime("/a", f.net.sys.realtimeNs() / 1'000'000'000 + 1000);
  CHECK(f.etag("/a").substr(0, 2) == "W/");
  CHECK(f.look("/a").entry->last_modified_s == f.net.sys.realtimeNs() / 1'000'000'000);
}

TEST_CASE("loop files: times before 1970 and beyond the clock's range", "[static_files]") {
  Fixture f;
  f.folder.write("/a", "text");
  for (const int64_t second : {int64_t{-1}, int64_t{-86400}, int64_t{1} << 33, int64_t{1} << 40}) {
    f.folder.setTime("/a", second);
    const LoopFiles::Found found = f.look("/a");
    REQUIRE(found.entry->kind == Kind::kBody);
    CHECK(found.entry->etag.size > 4);
    CHECK(found.entry->last_modified_s <= f.net.sys.realtimeNs() / 1'000'000'000);
  }
}

TEST_CASE("loop files: sizes around max_file_bytes", "[static_files]") {
  CacheOptions options;
  options.max_file_bytes = 1000;
  Fixture f(options);
  const std::string text = test::patternOf(1001);
  f.folder.write("/empty", "");
  f.folder.write("/at", text.substr(0, 1000));
  f.folder.write("/above", text);
  CHECK(f.look("/empty").entry->kind == Kind::kBody);
  CHECK(f.look("/at").entry->kind == Kind::kBody);
  CHECK(f.get("/at") == text.substr(0, 1000));
  CHECK(f.look("/above").entry->kind == Kind::kFile);
  CHECK(f.get("/above") == text);
  CHECK(f.cached("/above"));
  f.folder.write("/above", "small now");
  CHECK(f.get("/above") == "small now");
}

TEST_CASE("loop files: hidden names, and the one that is not", "[static_files]") {
  Fixture f;
  f.folder.makeFolder("/.git");
  f.folder.makeFolder("/.well-known/.secret");
  for (const char* name : {"/.git/config", "/.env", "/.well-known/x", "/.well-known/.secret/y", "/a.b"}) {
    f.folder.write(name, "text");
  }
  f.net.sys.resetCounts();
  CHECK(f.get("/.git/config") == "404");
  CHECK(f.get("/.env") == "404");
  CHECK(f.get("/.well-known/.secret/y") == "404");
  CHECK(f.fileCalls() == 0);
  CHECK(f.get("/.well-known/x") == "text");
  CHECK(f.get("/a.b") == "text");
  f.root.dot_files = true;
  CHECK(f.get("/.git/config") == "text");
}

TEST_CASE("loop files: only regular files are served", "[static_files]") {
  Fixture f;
  ::mkfifo(f.folder.at("/fifo").c_str(), 0600);
  f.folder.link("/dev/zero", "/zero");
  f.root.symlinks = SymlinkPolicy::kFollow;
  CHECK(f.get("/fifo") == "404");
  CHECK(f.get("/zero") == "404");
}

TEST_CASE("loop files: a cold file is not waited for", "[static_files]") {
  Fixture f;
  f.folder.write("/a", "text");
  f.net.sys.failNth(Call::kRead, 1, EAGAIN);
  const LoopFiles::Found found = f.look("/a");
  CHECK(found.cold);
  CHECK(found.entry->file_path == "/a");
  CHECK(found.entry->size == 4);
  CHECK(f.files->cache().size() == 0);
  CHECK(f.files->watcher().size() == 0);
  CHECK(f.get("/a", true) == "text");
  // Halfway through as well.
  f.folder.write("/b", "text");
  f.net.sys.failNth(Call::kRead, 1, EAGAIN);
  CHECK(f.get("/b") == "cold");
}

TEST_CASE("loop files: a file system that cannot read without waiting", "[static_files]") {
  Fixture f;
  f.folder.write("/a", "text");
  const int error = GENERATE(EOPNOTSUPP, ENOSYS, EPERM, EINVAL);
  f.net.sys.failNth(Call::kRead, 1, error);
  CHECK(f.get("/a") == "text");
}

TEST_CASE("loop files: failures of the disk are told and not kept", "[static_files]") {
  Fixture f;
  f.folder.write("/a", "text");
  f.net.sys.failNth(Call::kRead, 1, EIO, 2);
  CHECK(f.get("/a") == "500");
  f.net.sys.failNth(Call::kStat, 2, EIO);  // the first is the root's
  f.open();
  CHECK(f.get("/a") == "500");
  f.net.sys.failNth(Call::kOpen, 1, EIO);
  CHECK(f.get("/a") == "500");
  CHECK(f.files->cache().size() == 0);
  CHECK(f.get("/a") == "text");
  f.net.sys.failNth(Call::kRead, 1, EINTR);
  f.open();
  CHECK(f.get("/a") == "text");
}

TEST_CASE("loop files: what was known is forgotten when it cannot be read any more", "[static_files]") {
  Cached f(withoutInotify());
  f.net.sys.advanceMs(2001);
  f.net.settle();
  f.net.sys.failNth(Call::kOpen, 2, EIO, 3);  // the first is the root's
  CHECK(f.get("/a") == "500");
  CHECK(f.get("/a") == "500");
  f.net.sys.clearFaults();
  CHECK(f.get("/a") == "old");
}

TEST_CASE("loop files: out of descriptors, open files are let go before a request is refused",
          "[static_files]") {
  CacheOptions options;
  options.max_file_bytes = 10;
  Fixture f(options);
  const std::string large = test::patternOf(1000);
  for (int i = 0; i < 5; ++i) f.folder.write("/f" + std::to_string(i), large);
  f.folder.write("/small", "text");
  for (int i = 0; i < 5; ++i) REQUIRE(f.get("/f" + std::to_string(i)) == large);
  f.net.sys.setFdLimit(f.net.sys.openFds());
  CHECK(f.get("/small") == "text");
  CHECK(f.files->cache().size() == 1);
  CHECK(f.get("/f0") == large);
  // None to let go: refused, not remembered, and right again afterwards.
  f.open();
  f.net.sys.setFdLimit(0);
  CHECK(f.get("/small") == "503");
  f.net.sys.setFdLimit(SIZE_MAX);
  CHECK(f.get("/small") == "text");
}

TEST_CASE("loop files: a file that never holds still is refused", "[static_files]") {
  Fixture f;
  f.folder.write("/a", "text");
  REQUIRE(f.get("/a") == "text");
  f.open();
  REQUIRE(f.get("/other") == "404");  // so that the root is open
  f.net.sys.failNth(Call::kStat, 2, EIO);
  CHECK(f.get("/a") == "text");  // the second attempt
  f.folder.write("/b", "text");
  f.net.settle();
  for (const uint64_t nth : {2, 4, 6}) f.net.sys.failNth(Call::kStat, nth, EIO);
  CHECK(f.get("/b") == "503");
  f.net.sys.clearFaults();
  CHECK(f.get("/b") == "text");
}

// Another thread rewrites a file between two contents of one size all the while; an answer is one or the
// other.
TEST_CASE("loop files: what is read is of one piece", "[static_files]") {
  Fixture f;
  const std::string one(4000, '1');
  const std::string two(4000, '2');
  f.folder.write("/a", one);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    while (!stop) {
      f.folder.replace("/a", two);
      f.folder.replace("/a", one);
    }
  });
  int wrong = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string got = f.get("/a");
    if (got != one && got != two) ++wrong;
  }
  stop = true;
  writer.join();
  CHECK(wrong == 0);
  CHECK(f.get("/a") == one);
}

TEST_CASE("loop files: no descriptor and no watch is left behind", "[static_files]") {
  Fixture f;
  f.files.reset();
  const size_t before = f.net.sys.openFds();
  f.open();
  f.folder.makeFolder("/x/y/z");
  f.folder.makeFolder("/w");
  f.folder.link("x/y", "/link");
  for (const char* name : {"/x/y/z/f", "/x/y/f", "/w/f"}) f.folder.write(name, name);
  const std::vector<std::string> paths = {"/x/y/z/f", "/x/y/f",  "/w/f", "/link/f", "/link", "/x/",
                                          "/x",       "/none/f", "/w/g", "/w/",     "/"};
  std::mt19937 random(11);
  for (int step = 0; step < 3000; ++step) {
    switch (random() % 12) {
      case 0:
        f.folder.write("/x/y/f", std::to_string(step));
        break;
      case 1:
        f.folder.replace("/w/f", std::to_string(step));
        break;
      case 2:
        f.folder.rename("/x", "/none");
        f.get("/none/f");
        f.folder.rename("/none", "/x");
        break;
      case 3:
        f.net.sys.failNth(static_cast<Call>(static_cast<int>(Call::kOpen) + random() % 4), 1 + random() % 4,
                          EMFILE);
        break;
      case 4:
        f.net.sys.advanceMs(500);
        break;
      case 5:
        f.files->find(f.root, paths[random() % paths.size()], true);  // notices still unread
        break;
      default:
        f.get(paths[random() % paths.size()], random() % 2 == 0);
    }
  }
  f.net.sys.clearFaults();
  CHECK(f.get("/x/y/z/f") == "/x/y/z/f");
  f.net.sys.advanceMs(2001);
  for (const std::string& path : paths) f.get(path);
  f.folder.remove("/x");
  f.folder.remove("/w");
  f.folder.remove("/link");
  f.folder.remove("/none");
  f.net.settle();
  f.net.sys.advanceMs(2001);
  f.get("/");
  CHECK(f.files->watcher().size() == 1);
  f.files.reset();
  CHECK(f.net.sys.openFds() == before);
}

TEST_CASE("loop files: a cache stays within its memory, watches included", "[static_files]") {
  CacheOptions options;
  options.max_bytes = 100'000;
  Fixture f(options);
  for (int i = 0; i < 100; ++i) {
    const std::string name = "/folder" + std::to_string(i);
    f.folder.makeFolder(name + "/a/b/c");
    f.folder.write(name + "/a/b/c/f", "text");
    CHECK(f.get(name + "/a/b/c/f") == "text");
    REQUIRE(f.files->cache().bytes() + f.files->watcher().bytes() <= options.max_bytes);
  }
  CHECK(f.files->cache().size() > 10);
  CHECK(f.files->cache().size() < 100);
}

TEST_CASE("loop files: a root that nobody asks for is let go", "[static_files]") {
  Fixture f;
  TempFolder other;
  other.write("/o", "text");
  RootOptions second = f.root;
  second.id = 2;
  second.folder = other.path();
  CHECK(f.files->find(second, "/o", false).entry->kind == Kind::kBody);
  const size_t with_both = f.net.sys.openFds();
  for (int second_passed = 0; second_passed < 70; ++second_passed) {
    f.net.sys.advanceMs(1000);
    f.get("/x");
  }
  CHECK(f.net.sys.openFds() == with_both);  // one root more, one less
  CHECK(f.files->find(second, "/o", false).entry->kind == Kind::kBody);
  CHECK(f.net.sys.openFds() == with_both + 1);
}

}  // namespace
}  // namespace roost::modules::static_files
