#include "modules/static_files/root_folder.h"

#include <catch2/catch.hpp>
#include <string>

#include "unit/modules/static_files/fixture.h"

namespace roost::modules::static_files {
namespace {

using test::Call;
using Look = RootFolder::Look;

struct RootFixture {
  TempFolder outside;
  TempFolder folder;
  test::SimSys sys;
  RootFolder root{sys, folder.path()};

  RootFixture() {
    folder.makeFolder("/sub");
    folder.write("/file", "1");
    folder.write("/sub/file", "2");
    folder.link("file", "/near");
    folder.link("sub", "/near_folder");
    outside.write("/secret", "s");
    folder.link(outside.at("/secret"), "/far");
    folder.link(outside.path(), "/far_folder");
    folder.link("sub/../../" + outside.path().substr(5) + "/secret", "/up");
    folder.link("loop", "/loop");
    ::mkfifo(folder.at("/fifo").c_str(), 0600);
    root.refresh(0, 1000, true);
  }
  bool linked = false;
  // 0 or the errno.
  int open(const char* path, SymlinkPolicy policy) {
    const int fd = root.open(path, policy, true, linked);
    if (fd < 0) return -fd;
    sys.closeFd(fd);
    return 0;
  }
};

TEST_CASE("root folder: each policy follows the links it may", "[static_files]") {
  RootFixture f;
  const bool no_openat2 = GENERATE(false, true);
  if (no_openat2) f.sys.failNth(Call::kOpen, 1, ENOSYS);
  using P = SymlinkPolicy;
  for (const P policy : {P::kNone, P::kWithin, P::kFollow}) {
    CHECK(f.open("file", policy) == 0);
    CHECK(f.open("sub/file", policy) == 0);
    CHECK(f.open("", policy) == 0);
    CHECK(f.open("sub", policy) == 0);
    CHECK(f.open("fifo", policy) == 0);  // does not wait for a writer
    CHECK(f.open("missing", policy) == ENOENT);
    CHECK(f.open("missing/file", policy) == ENOENT);
    CHECK(f.open("file/below", policy) == ENOTDIR);
    CHECK(f.open("loop", policy) == ELOOP);
  }
  for (const char* path : {"near", "near_folder/file", "far", "far_folder/secret", "up"}) {
    CHECK(f.open(path, P::kNone) != 0);
    CHECK(f.open(path, P::kFollow) == 0);
  }
  for (const char* path : {"far", "far_folder/secret", "up"}) CHECK(f.open(path, P::kWithin) != 0);
  // Step by step no link is followed: stricter, and still safe.
  CHECK((f.open("near", P::kWithin) == 0) != no_openat2);
  CHECK((f.open("near_folder/file", P::kWithin) == 0) != no_openat2);
}

TEST_CASE("root folder: says whether a link was on the way", "[static_files]") {
  RootFixture f;
  f.open("sub/file", SymlinkPolicy::kWithin);
  CHECK_FALSE(f.linked);
  f.open("near_folder/file", SymlinkPolicy::kWithin);
  CHECK(f.linked);
  CHECK(f.root.isSymlink("near"));
  CHECK_FALSE(f.root.isSymlink("near_folder/file"));
  CHECK_FALSE(f.root.isSymlink("missing"));
}

TEST_CASE("root folder: asks for openat2 once where there is none, always where it is filtered",
          "[static_files]") {
  RootFixture f;
  f.sys.failNth(Call::kOpen, 1, ENOSYS);
  CHECK(f.open("file", SymlinkPolicy::kWithin) == 0);
  f.sys.resetCounts();
  CHECK(f.open("file", SymlinkPolicy::kWithin) == 0);
  CHECK(f.sys.calls(Call::kOpen) == 1);

  RootFixture filtered;
  filtered.sys.failNth(Call::kOpen, 1, EPERM);
  CHECK(filtered.open("file", SymlinkPolicy::kWithin) == 0);
  filtered.sys.failNth(Call::kOpen, 1, EPERM);
  CHECK(filtered.open("far", SymlinkPolicy::kWithin) != 0);
}

TEST_CASE("root folder: tries again when the kernel is unsure or interrupted, and gives up in the end",
          "[static_files]") {
  RootFixture f;
  f.sys.failNth(Call::kOpen, 1, EAGAIN, 2);
  CHECK(f.open("file", SymlinkPolicy::kWithin) == 0);
  f.sys.failNth(Call::kOpen, 1, EINTR);
  CHECK(f.open("file", SymlinkPolicy::kWithin) == 0);
  f.sys.failNth(Call::kOpen, 1, EAGAIN, 100);
  CHECK(f.open("file", SymlinkPolicy::kWithin) == EAGAIN);
}

TEST_CASE("root folder: notices that its name means another folder", "[static_files]") {
  TempFolder folder;
  test::SimSys sys;
  for (const char* version : {"/v1", "/v2"}) {
    folder.makeFolder(version);
    folder.write(std::string(version) + "/only_in" + version, "");
  }
  folder.link("v1", "/current");
  RootFolder root(sys, folder.at("/current"));
  bool linked = false;
  CHECK(root.refresh(0, 1000, true) == Look::kFirst);
  CHECK(root.refresh(1000, 1000, true) == Look::kSame);
  folder.link("v2", "/next");
  folder.rename("/next", "/current");
  CHECK(root.refresh(1999, 1000, true) == Look::kSame);  // not yet
  CHECK(root.refresh(2000, 1000, true) == Look::kMoved);
  CHECK(root.open("only_in/v1", SymlinkPolicy::kWithin, true, linked) == -ENOENT);
  folder.remove("/current");
  folder.link("v1", "/current");
  root.expire();
  CHECK(root.refresh(2001, 1000, true) == Look::kMoved);
  // Gone for a moment: what is open stays in use.
  folder.remove("/current");
  CHECK(root.refresh(5000, 1000, true) == Look::kSame);
  const int fd = root.open("only_in", SymlinkPolicy::kWithin, true, linked);
  CHECK(fd == -ENOENT);
  CHECK(sys.openFds() == 1);
}

TEST_CASE("root folder: says why it cannot be opened, and tries again", "[static_files]") {
  TempFolder folder;
  folder.write("/file", "");
  test::SimSys sys;
  RootFolder root(sys, folder.path());
  bool linked = false;
  sys.failNth(Call::kOpen, 1, EMFILE);
  CHECK(root.refresh(0, 1000, true) == Look::kSame);
  CHECK(root.open("file", SymlinkPolicy::kWithin, true, linked) == -EMFILE);
  CHECK(root.refresh(1, 1000, true) == Look::kFirst);
  const int fd = root.open("file", SymlinkPolicy::kWithin, true, linked);
  REQUIRE(fd >= 0);
  sys.closeFd(fd);

  RootFolder missing(sys, folder.at("/missing"));
  missing.refresh(0, 1000, true);
  CHECK(missing.open("file", SymlinkPolicy::kWithin, true, linked) == -ENOENT);
}

TEST_CASE("root folder: without leave to wait only names that the kernel knows are opened",
          "[static_files]") {
  RootFixture f;
  f.folder.link(f.folder.at("/file"), "/absolute");
  f.sys.setColdNames(true);
  for (const char* path : {"file", "sub/file", "near", "absolute", "far", "missing"}) {
    CHECK(f.root.open(path, SymlinkPolicy::kWithin, false, f.linked) == -EAGAIN);
  }
  CHECK(f.root.refresh(2000, 1000, false) == Look::kCold);
  CHECK(f.root.isCold());
  CHECK(f.root.isOpen());
  CHECK(f.open("file", SymlinkPolicy::kWithin) == 0);  // with leave
  CHECK(f.root.refresh(2000, 1000, true) == Look::kSame);
  f.sys.setColdNames(false);
  CHECK_FALSE(f.root.isCold());
  const int fd = f.root.open("file", SymlinkPolicy::kWithin, false, f.linked);
  REQUIRE(fd >= 0);
  f.sys.closeFd(fd);
}

TEST_CASE("root folder: a kernel that cannot be asked for what it knows is asked as before",
          "[static_files]") {
  RootFixture f;
  f.sys.failNth(Call::kOpen, 1, EINVAL);
  for (int i = 0; i < 2; ++i) {
    f.sys.resetCounts();
    const int fd = f.root.open("file", SymlinkPolicy::kWithin, false, f.linked);
    REQUIRE(fd >= 0);
    f.sys.closeFd(fd);
  }
  CHECK(f.sys.calls(Call::kOpen) == 1);  // it has been told once
}

TEST_CASE("root folder: a file of another machine is never opened without leave to wait", "[static_files]") {
  TempFolder folder;
  folder.write("/file", "1");
  test::SimSys sys;
  sys.setFileSystem(0x6969);  // NFS
  RootFolder root(sys, folder.path());
  bool linked = false;
  CHECK(root.refresh(0, 1000, false) == Look::kFirst);
  CHECK(root.open("file", SymlinkPolicy::kWithin, false, linked) == -EAGAIN);
  const int fd = root.open("file", SymlinkPolicy::kWithin, true, linked);
  REQUIRE(fd >= 0);
  sys.closeFd(fd);
}

TEST_CASE("root folder: within counts where a link leads, not what it looks like", "[static_files]") {
  RootFixture f;
  const std::string own = "../" + f.folder.path().substr(5);  // leaves the root and comes back
  f.folder.link(f.folder.at("/file"), "/absolute");
  f.folder.link(f.folder.at("/sub"), "/absolute_folder");
  f.folder.link(f.folder.path(), "/itself");
  f.folder.link(own + "/file", "/around");
  f.folder.link(f.folder.at("/absolute"), "/twice");
  f.folder.link(f.folder.at("/none"), "/dangling");
  f.folder.link(f.folder.path() + "x", "/longer");
  std::filesystem::create_directory(f.folder.path() + "x");
  using P = SymlinkPolicy;
  for (const char* path : {"absolute", "absolute_folder/file", "absolute_folder", "itself", "itself/sub/file",
                           "around", "twice"}) {
    CAPTURE(path);
    CHECK(f.open(path, P::kWithin) == 0);
    CHECK(f.linked);
    CHECK(f.open(path, P::kNone) != 0);
  }
  for (const char* path : {"far", "far_folder/secret", "up", "longer"})
    CHECK(f.open(path, P::kWithin) == EXDEV);
  CHECK(f.open("dangling", P::kWithin) == ENOENT);
  CHECK(f.sys.openFds() == 1);
  std::filesystem::remove(f.folder.path() + "x");
}

}  // namespace
}  // namespace roost::modules::static_files
