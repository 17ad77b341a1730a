// The file: where it is, when it is rolled, reopened, and what happens when it cannot be written.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <optional>

#include "log/log.h"
#include "unit/log/log_test_support.h"

namespace roost::log::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> filesIn(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("missing directory is created") {
  const TempDir dir;
  Options options = optionsFor(dir);
  options.directory = dir.path("a/b/c");
  REQUIRE(start(options).ok());
  LOG_INFO("here");
  stop();
  CHECK(countLinesWith(dir.path("a/b/c/t.log"), "here") == 1);
}

TEST_CASE("a directory that cannot be made is one clear error") {
  const TempDir dir;
  std::ofstream(dir.path("file")) << "in the way";
  Options options = optionsFor(dir);
  options.directory = dir.path("file/logs");
  const Status status = start(options);
  REQUIRE_FALSE(status.ok());
  CHECK(status.sysErrno() == ENOTDIR);
  CHECK(status.message().find(options.directory) != std::string::npos);
}

TEST_CASE("an existing file is appended to") {
  const TempDir dir;
  for (int i = 0; i < 2; ++i) {
    REQUIRE(start(optionsFor(dir)).ok());
    LOG_INFO("run {}", i);
    stop();
  }
  CHECK(readLines(dir.path("t.log")).size() == 2);
}

TEST_CASE("rolling by size") {
  for (const bool async : {true, false}) {
    const TempDir dir;
    Options options = optionsFor(dir);
    options.async = async;
    options.roll_size_bytes = 1000;
    options.clock_ns = &testNow;
    g_test_now_ns = kNoonNs;
    const Stats before = stats();
    REQUIRE(start(options).ok());
    constexpr int kLines = 100;
    for (int i = 0; i < kLines; ++i) LOG_INFO("line {:03}", i);
    stop();
    const auto names = filesIn(dir.path());
    CHECK(names.size() > 5);
    CHECK(stats().rolls - before.rolls == names.size() - 1);
    int next = 0;
    for (const std::string& name : names) {  // "t.2026..." sorts before "t.log"
      CHECK(fs::file_size(dir.path(name)) <= 1000);
      for (const std::string& line : readLines(dir.path(name))) {
        CHECK(line.find(fmt::format("line {:03}", next++)) != std::string::npos);
      }
    }
    CHECK(next == kLines);
    CHECK(names[0] == "t.20261120-120000.000.log");
  }
}

TEST_CASE("rolling by day with an injected clock") {
  const TempDir dir;
  Options options = optionsFor(dir);
  options.clock_ns = &testNow;
  g_test_now_ns = kNoonNs + 12 * 3600 * kSecondNs - 1000;  // the last microsecond of the day
  REQUIRE(start(options).ok());
  LOG_INFO("old day");
  g_test_now_ns += 1000;
  LOG_INFO("new day");
  LOG_INFO("still the new day");
  g_test_now_ns += 86'400 * kSecondNs;
  LOG_INFO("third day");
  stop();
  const auto names = filesIn(dir.path());
  REQUIRE(names ==
          std::vector<std::string>{"t.20261120-235959.000.log", "t.20261121-000000.000.log", "t.log"});
  CHECK(countLinesWith(dir.path(names[0]), "old day") == 1);
  CHECK(countLinesWith(dir.path(names[1]), "new day") == 2);
  CHECK(countLinesWith(dir.path(names[2]), "third day") == 1);
}

TEST_CASE("only the newest rolled files are kept") {
  const TempDir dir;
  std::ofstream(dir.path("t.other.log")) << "not ours";
  Options options = optionsFor(dir);
  options.clock_ns = &testNow;
  options.roll_size_bytes = 1;  // every line its own file
  options.keep_files = 2;
  g_test_now_ns = kNoonNs;
  REQUIRE(start(options).ok());
  for (int i = 0; i < 6; ++i) LOG_INFO("line {}", i);
  stop();
  REQUIRE(filesIn(dir.path()) == std::vector<std::string>{"t.20261120-120000.003.log",
                                                          "t.20261120-120000.004.log", "t.log",
                                                          "t.other.log"});
  CHECK(countLinesWith(dir.path("t.20261120-120000.004.log"), "line 4") == 1);
}

TEST_CASE("reopen writes to a new file after rename") {
  for (const bool async : {true, false}) {
    const TempDir dir;
    Options options = optionsFor(dir);
    options.async = async;
    REQUIRE(start(options).ok());
    LOG_INFO("before");
    flush();
    fs::rename(dir.path("t.log"), dir.path("moved.log"));
    LOG_INFO("between");
    flush();
    reopen();
    flush();
    LOG_INFO("after");
    stop();
    CHECK(readLines(dir.path("moved.log")).size() == 2);
    REQUIRE(readLines(dir.path("t.log")).size() == 1);
    CHECK(countLinesWith(dir.path("t.log"), "after") == 1);
  }
}

TEST_CASE("a failed reopen keeps the old file, and says so there and on standard error") {
  const TempDir dir;
  const Stats before = stats();
  std::optional<StderrToFile> redirected(dir.path("stderr"));
  REQUIRE(start(optionsFor(dir)).ok());
  LOG_INFO("before");
  flush();
  fs::rename(dir.path("t.log"), dir.path("moved.log"));
  fs::create_directory(dir.path("t.log"));
  reopen();
  flush();
  LOG_INFO("after");
  stop();
  redirected.reset();
  CHECK(countLinesWith(dir.path("stderr"), "cannot reopen") == 1);
  CHECK(countLinesWith(dir.path("stderr"), "t.log") == 1);
  CHECK(stats().failed_reopens == before.failed_reopens + 1);
  CHECK(countLinesWith(dir.path("moved.log"), "cannot reopen") == 1);
  CHECK(countLinesWith(dir.path("moved.log"), "after") == 1);
}

TEST_CASE("a symbolic link in a log file's place is not followed", "[regression]") {
  const TempDir dir;
  fs::create_symlink(dir.path("elsewhere"), dir.path("t.log"));
  const Status status = start(optionsFor(dir));
  REQUIRE_FALSE(status.ok());
  CHECK(status.message().find("t.log is a symbolic link") != std::string::npos);
  CHECK_FALSE(fs::exists(dir.path("elsewhere")));
}

TEST_CASE("others may not read a log file", "[regression]") {
  const TempDir dir;
  const mode_t before = ::umask(0);
  REQUIRE(start(optionsFor(dir)).ok());
  ::umask(before);
  stop();
  CHECK(fs::status(dir.path("t.log")).permissions() == fs::perms(0640));
}

TEST_CASE("log files are made for another user", "[regression]") {
  if (::geteuid() != 0) return;
  const TempDir dir;
  Options options = optionsFor(dir);
  options.directory = dir.path("a/b");
  const FileOwner owner{65534, 65533};
  REQUIRE(makeFilesFor(options, owner).ok());
  for (const char* made : {"a", "a/b", "a/b/t.log"}) {
    struct stat info {};
    REQUIRE(::stat(dir.path(made).c_str(), &info) == 0);
    CHECK(info.st_uid == owner.user);
    CHECK(info.st_gid == owner.group);
  }
  // A second name of a file that is not meant.
  std::ofstream(dir.path("shadow")) << "secret";
  fs::remove(dir.path("a/b/t.log"));
  fs::create_hard_link(dir.path("shadow"), dir.path("a/b/t.log"));
  REQUIRE(makeFilesFor(options, owner).ok());
  struct stat info {};
  REQUIRE(::stat(dir.path("shadow").c_str(), &info) == 0);
  CHECK(info.st_uid == 0);
}

TEST_CASE("full disk is survived") {
  for (const bool async : {true, false}) {
    const TempDir dir;
    std::optional<FullDisk> disk(std::in_place);
    Options options = optionsFor(dir);
    options.async = async;
    options.on_full = OnFull::kBlock;
    const Stats before = stats();
    REQUIRE(start(options).ok());
    constexpr int kLines = 20'000;  // several times what the sink keeps while it cannot write
    for (int i = 0; i < kLines; ++i) LOG_INFO("line {} with some text to make it longer", i);
    flush();
    const Stats full = stats();
    CHECK(full.write_errors > before.write_errors);
    CHECK(full.lost > before.lost);
    disk.reset();  // there is room again
    flush();
    LOG_INFO("last line");
    stop();
    const uint64_t lost = stats().lost - before.lost;
    CHECK(countLinesWith(dir.path("t.log"), "with some text") + lost == kLines);
    CHECK(countLinesWith(dir.path("t.log"), "last line") == 1);
    CHECK(countLinesWith(dir.path("t.log"), "writing works again after") == 1);
    CHECK(countLinesWith(dir.path("t.log"), fmt::format("File too large): {} lines lost", lost)) == 1);
  }
}

TEST_CASE("a file that cannot be renamed is written on") {
  const TempDir dir;
  Options options = optionsFor(dir);
  options.clock_ns = &testNow;
  options.roll_size_bytes = 200;
  g_test_now_ns = kNoonNs;
  REQUIRE(start(options).ok());
  LOG_INFO("first");
  flush();
  fs::rename(dir.path(), dir.path() + ".moved");  // the rolled file's name leads nowhere now
  for (int i = 0; i < 10; ++i) LOG_INFO("line {}", i);
  stop();
  // The directory was made anew for the next file; what was open before stays whole.
  const size_t moved = countLinesWith(dir.path() + ".moved/t.log", "line");
  size_t anew = 0;
  for (const std::string& name : filesIn(dir.path())) anew += countLinesWith(dir.path(name), "line");
  CHECK(moved + anew == 10);
  fs::remove_all(dir.path() + ".moved");
}

}  // namespace roost::log::test
