#include "modules/static_files/watcher.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "unit/modules/static_files/fixture.h"

namespace roost::modules::static_files {
namespace {

struct Heard final : WatchListener {
  std::vector<std::string> changes;
  int overflows = 0;
  void onChange(uint32_t root_id, std::string_view folder, std::string_view name) noexcept override {
    add(std::to_string(root_id) + ":" + std::string(folder) + "|" + std::string(name));
  }
  void onChangeBelow(uint32_t root_id, std::string_view path) noexcept override {
    add(std::to_string(root_id) + ":" + std::string(path) + "*");
  }
  void onRootMoved(uint32_t root_id) noexcept override { add(std::to_string(root_id) + ":moved"); }
  void onOverflow() noexcept override { ++overflows; }
  void add(const std::string& what) {
    if (changes.empty() || changes.back() != what) changes.push_back(what);
  }
  bool has(const std::string& what) const {
    return std::find(changes.begin(), changes.end(), what) != changes.end();
  }
};

struct WatcherFixture {
  TempFolder folder;
  test::SimLoop net;
  Heard heard;
  Watcher watcher{net.loop(), heard};
  WatcherFixture() { REQUIRE(watcher.open().ok()); }
  Watch* watch(std::string_view path, uint32_t root_id = 1) {
    return watcher.watchFolder(root_id, folder.path(), path);
  }
  void listen() {
    heard.changes.clear();
    REQUIRE(net.settle());
  }
};

TEST_CASE("watcher: tells of files that are written, come, go and move", "[static_files]") {
  WatcherFixture f;
  f.folder.write("/a", "1");
  Watch* watch = f.watch("");
  REQUIRE(watch != nullptr);
  f.folder.write("/a", "2");
  f.listen();
  CHECK(f.heard.changes == std::vector<std::string>{"1:|a"});
  f.folder.write("/new", "");
  f.listen();
  CHECK(f.heard.has("1:|new"));
  f.folder.rename("/new", "/a");
  f.listen();
  CHECK(f.heard.has("1:|a"));
  CHECK(f.heard.has("1:|new"));
  f.folder.setTime("/a", 1);
  f.listen();
  CHECK(f.heard.has("1:|a"));
  f.folder.remove("/a");
  f.listen();
  CHECK(f.heard.has("1:|a"));
  f.watcher.release(watch);
  f.folder.write("/a", "3");
  f.listen();
  CHECK(f.heard.changes.empty());
  CHECK(f.watcher.size() == 0);
  CHECK(f.watcher.bytes() == 0);
}

TEST_CASE("watcher: a folder on the way that moves takes what is below it along", "[static_files]") {
  WatcherFixture f;
  f.folder.makeFolder("/a/b/c");
  Watch* watch = f.watch("/a/b/c");
  REQUIRE(watch != nullptr);
  CHECK(f.watcher.size() == 4);
  f.folder.rename("/a/b", "/a/z");
  f.listen();
  CHECK(f.heard.has("1:/a/b*"));
  f.watcher.release(watch);
  CHECK(f.watcher.size() == 0);
  REQUIRE(f.net.settle());  // notices of watches that are gone mean nothing
}

TEST_CASE("watcher: tells of the folder itself being removed or moved", "[static_files]") {
  WatcherFixture f;
  f.folder.makeFolder("/a");
  Watch* watch = f.watch("/a");
  f.folder.remove("/a");
  f.listen();
  CHECK(f.heard.has("1:/a*"));
  f.watcher.release(watch);
  // The same name anew is another folder with another watch.
  f.folder.makeFolder("/a");
  watch = f.watch("/a");
  REQUIRE(watch != nullptr);
  f.listen();
  f.folder.write("/a/f", "1");
  f.listen();
  CHECK(f.heard.has("1:/a|f"));
  f.watcher.release(watch);
}

TEST_CASE("watcher: one folder under two names and roots tells each", "[static_files]") {
  WatcherFixture f;
  f.folder.makeFolder("/a");
  f.folder.link("a", "/b");
  Watch* a = f.watch("/a");
  Watch* b = f.watch("/b");
  Watch* other_root = f.watcher.watchFolder(2, f.folder.at("/a"), "");
  REQUIRE(b != nullptr);
  f.folder.write("/a/f", "1");
  f.listen();
  for (const char* what : {"1:/a|f", "1:/b|f", "2:|f"}) CHECK(f.heard.has(what));
  // The inode stays watched until its last name is let go.
  f.watcher.release(a);
  f.folder.write("/a/f", "2");
  f.listen();
  CHECK_FALSE(f.heard.has("1:/a|f"));
  CHECK(f.heard.has("1:/b|f"));
  f.watcher.release(b);
  f.folder.write("/a/f", "3");
  f.listen();
  CHECK(f.heard.changes == std::vector<std::string>{"2:|f"});
  f.watcher.release(other_root);
  CHECK(f.watcher.bytes() == 0);
}

TEST_CASE("watcher: a link that leads elsewhere is a change of all below it", "[static_files]") {
  WatcherFixture f;
  f.folder.makeFolder("/v1");
  f.folder.makeFolder("/v2");
  f.folder.link("v1", "/current");
  Watch* watch = f.watch("/current");
  f.folder.link("v2", "/next");
  f.folder.rename("/next", "/current");
  f.listen();
  CHECK(f.heard.has("1:/current*"));
  f.watcher.release(watch);
}

TEST_CASE("watcher: watches a file that has another name", "[static_files]") {
  WatcherFixture f;
  f.folder.makeFolder("/elsewhere");
  f.folder.write("/elsewhere/f", "1");
  f.folder.link("elsewhere/f", "/link");
  Watch* folder = f.watch("");
  Watch* file = f.watcher.watchFile(1, f.folder.path(), "/link");
  REQUIRE(file != nullptr);
  f.folder.write("/elsewhere/f", "2");
  f.listen();
  CHECK(f.heard.changes == std::vector<std::string>{"1:|link"});
  f.watcher.release(file);
  f.watcher.release(folder);
  CHECK(f.watcher.size() == 0);
}

TEST_CASE("watcher: a step on the way to a root hears of its name alone", "[static_files]") {
  WatcherFixture f;
  f.folder.makeFolder("/v1");
  f.folder.link("v1", "/current");
  Watch* link = f.watcher.watchStep(1, f.folder.path(), "current");
  Watch* self = f.watcher.watchStep(1, f.folder.at("/v1"), "");
  REQUIRE(link != nullptr);
  REQUIRE(self != nullptr);
  f.folder.write("/other", "1");
  f.folder.write("/v1/file", "1");
  f.folder.setTime("/v1", 1);
  f.listen();
  CHECK(f.heard.changes.empty());
  f.folder.link("v1", "/next");
  f.folder.rename("/next", "/current");
  f.listen();
  CHECK(f.heard.changes == std::vector<std::string>{"1:moved"});
  f.folder.remove("/current");
  f.listen();
  CHECK(f.heard.has("1:moved"));
  f.folder.link("v1", "/current");
  f.listen();
  CHECK(f.heard.has("1:moved"));
  f.folder.rename("/v1", "/v2");
  f.listen();
  CHECK(f.heard.has("1:moved"));
  f.watcher.release(link);
  f.watcher.release(self);
  CHECK(f.watcher.bytes() == 0);
}

TEST_CASE("watcher: a folder is watched for its files whoever watches it as a step", "[static_files]") {
  WatcherFixture f;
  f.folder.write("/a", "1");
  const bool step_first = GENERATE(true, false);
  Watch* step = step_first ? f.watcher.watchStep(2, f.folder.path(), "") : nullptr;
  Watch* folder = f.watch("");
  if (!step_first) step = f.watcher.watchStep(2, f.folder.path(), "");
  f.folder.write("/a", "2");
  f.listen();
  CHECK(f.heard.has("1:|a"));
  f.watcher.release(folder);
  f.watcher.release(step);
}

TEST_CASE("watcher: uses are counted", "[static_files]") {
  WatcherFixture f;
  f.folder.makeFolder("/a");
  Watch* first = f.watch("/a");
  Watch* second = f.watch("/a");
  CHECK(first == second);
  CHECK(f.net.sys.calls(test::Call::kInotifyAdd) == 2);
  f.watcher.release(first);
  CHECK(f.watcher.size() == 2);
  f.watcher.release(second);
  CHECK(f.watcher.size() == 0);
}

TEST_CASE("watcher: what cannot be watched leaves nothing behind", "[static_files]") {
  WatcherFixture f;
  f.folder.makeFolder("/a/b");
  f.folder.write("/file", "");
  CHECK(f.watch("/missing/deeper") == nullptr);
  CHECK(f.watch("/file") == nullptr);  // no folder
  CHECK(f.watcher.size() == 0);
  f.net.sys.failNth(test::Call::kInotifyAdd, 3, ENOSPC);
  CHECK(f.watch("/a/b") == nullptr);
  CHECK(f.watcher.size() == 0);
  CHECK(f.watcher.bytes() == 0);
}

TEST_CASE("watcher: without an inotify instance nothing is watched", "[static_files]") {
  TempFolder folder;
  test::SimLoop net;
  Heard heard;
  const size_t fds = net.sys.openFds();
  {
    Watcher watcher(net.loop(), heard);
    CHECK(watcher.watchFolder(1, folder.path(), "") == nullptr);
    net.sys.failNth(test::Call::kOther, 1, EMFILE);
    CHECK(watcher.open().sysErrno() == EMFILE);
    CHECK(watcher.watchFolder(1, folder.path(), "") == nullptr);
    // One that the loop cannot listen to would promise notices that never come.
    net.sys.failNth(test::Call::kEpollCtl, 1, ENOSPC);
    CHECK_FALSE(watcher.open().ok());
    CHECK(watcher.watchFolder(1, folder.path(), "") == nullptr);
  }
  CHECK(net.sys.openFds() == fds);
}

TEST_CASE("watcher: says when changes were lost, and goes on", "[static_files]") {
  WatcherFixture f;
  size_t queue = 16384;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> queue;
  Watch* watch = f.watch("");
  f.folder.write("/a", "1");
  f.listen();
  for (size_t i = 0; i <= queue / 2; ++i) {  // two different notices in turn are never made one
    f.folder.hardLink("/a", "/b");
    f.folder.remove("/b");
  }
  f.listen();
  CHECK(f.heard.overflows == 1);
  f.folder.write("/a", "2");
  f.listen();
  CHECK(f.heard.has("1:|a"));
  f.watcher.release(watch);
}

}  // namespace
}  // namespace roost::modules::static_files
