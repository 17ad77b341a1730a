// Streams: files beside the log's own, in the same rings and by the same thread.
#include "log/stream.h"

#include <catch2/catch.hpp>
#include <memory>
#include <thread>

#include "unit/log/log_test_support.h"

namespace roost::log::test {
namespace {

namespace fs = std::filesystem;

// "<prefix><number>", from a record that is the number.
class NumberFormat final : public RecordFormat {
 public:
  explicit NumberFormat(std::string prefix) : prefix_(std::move(prefix)) {}
  void appendLine(const char* record, int64_t, LineBuffer& out) override {
    int value = 0;
    std::memcpy(&value, record, sizeof value);
    fmt::format_to(fmt::appender(out), FMT_STRING("{}{}\n"), prefix_, value);
  }

 private:
  const std::string prefix_;
};

StreamOptions to(const std::string& path) {
  StreamOptions options;
  options.path = path;
  return options;
}

std::shared_ptr<Stream> openNumbers(const StreamOptions& options, const std::string& prefix = "n") {
  auto stream = Stream::open(options, std::make_unique<NumberFormat>(prefix));
  REQUIRE(stream.ok());
  return *stream;
}

void put(Stream& stream, int value) {
  stream.write(sizeof value, [value](char* at) { std::memcpy(at, &value, sizeof value); });
}

// How many descriptors of this process lead to the file.
size_t descriptorsOf(const std::string& path) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    count += fs::read_symlink(entry.path(), gone) == path ? 1 : 0;
  }
  return count;
}

}  // namespace

TEST_CASE("a stream's lines are in its own file, the log's in the log's") {
  for (const bool async : {true, false}) {
    const TempDir dir;
    Options options = optionsFor(dir);
    options.async = async;
    const auto early = openNumbers(to(dir.path("early.log")));  // before the start
    REQUIRE(start(options).ok());
    const auto late = openNumbers(to(dir.path("made/for/it/late")));
    LOG_INFO("a line");
    for (int i = 0; i < 3; ++i) put(*early, i);
    put(*late, 7);
    stop();
    CHECK(readFile(dir.path("early.log")) == "n0\nn1\nn2\n");
    CHECK(readFile(dir.path("made/for/it/late")) == "n7\n");
    CHECK(readLines(dir.path("t.log")).size() == 1);
  }
}

TEST_CASE("streams of one path share the file, whole lines in their order") {
  const TempDir dir;
  REQUIRE(start(optionsFor(dir)).ok());
  const auto a = openNumbers(to(dir.path("s.log")), "a"), b = openNumbers(to(dir.path("s.log")), "b");
  for (int i = 0; i < 4; ++i) put(i % 2 == 0 ? *a : *b, i);
  flush();
  CHECK(descriptorsOf(dir.path("s.log")) == 1);
  CHECK(readFile(dir.path("s.log")) == "a0\nb1\na2\nb3\n");
  stop();
}

TEST_CASE("a stream's file that cannot be opened") {
  const TempDir dir;
  std::ofstream(dir.path("file")) << "in the way";
  SECTION("while the log runs, is an error of open()") {
    REQUIRE(start(optionsFor(dir)).ok());
    const auto stream = Stream::open(to(dir.path("file/x.log")), std::make_unique<NumberFormat>("n"));
    REQUIRE_FALSE(stream.ok());
    CHECK(stream.status().message().find(dir.path("file")) != std::string::npos);
    stop();
  }
  SECTION("before the start, is an error of start()") {
    const auto stream = openNumbers(to(dir.path("file/x.log")));
    const Status status = start(optionsFor(dir));
    REQUIRE_FALSE(status.ok());
    CHECK(status.message().find(dir.path("file")) != std::string::npos);
    CHECK(descriptorsOf(dir.path("t.log")) == 0);
  }
  CHECK(start(optionsFor(dir)).ok());  // whoever named the file has let go
  stop();
}

TEST_CASE("what is written while no log runs is counted as dropped") {
  const TempDir dir;
  const auto stream = openNumbers(to(dir.path("s.log")));
  const uint64_t before = stats().dropped;
  put(*stream, 1);
  CHECK(stats().dropped == before + 1);
  REQUIRE(start(optionsFor(dir)).ok());
  put(*stream, 2);
  stop();
  put(*stream, 3);
  CHECK(stats().dropped == before + 2);
  REQUIRE(start(optionsFor(dir)).ok());
  put(*stream, 4);
  stop();
  CHECK(readFile(dir.path("s.log")) == "n2\nn4\n");
}

TEST_CASE("reopen() opens the files of streams anew") {
  const TempDir dir;
  REQUIRE(start(optionsFor(dir)).ok());
  const auto stream = openNumbers(to(dir.path("s.log")));
  put(*stream, 1);
  flush();
  fs::rename(dir.path("s.log"), dir.path("s.old"));
  put(*stream, 2);
  flush();
  reopen();
  flush();
  put(*stream, 3);
  stop();
  CHECK(readFile(dir.path("s.old")) == "n1\nn2\n");
  CHECK(readFile(dir.path("s.log")) == "n3\n");
}

TEST_CASE("a stream rolls its file by its own rules") {
  const TempDir dir;
  Options options = optionsFor(dir);
  options.clock_ns = &testNow;
  g_test_now_ns = kNoonNs;
  REQUIRE(start(options).ok());
  StreamOptions rules = to(dir.path("s.txt"));
  SECTION("size, keeping some") {
    rules.roll_size_bytes = 16;
    rules.keep_files = 2;
    const auto stream = openNumbers(rules, "0123456");  // 9 bytes a line
    for (int i = 0; i < 6; ++i) put(*stream, i);
    stop();
    CHECK(readFile(dir.path("s.txt")) == "01234565\n");
    CHECK(readFile(dir.path("s.20261120-120000.004.txt")) == "01234564\n");
    CHECK(readFile(dir.path("s.20261120-120000.003.txt")) == "01234563\n");
    CHECK_FALSE(fs::exists(dir.path("s.20261120-120000.002.txt")));
  }
  SECTION("day") {
    rules.roll_daily = true;
    const auto daily = openNumbers(rules);
    const auto never = openNumbers(to(dir.path("never")));
    put(*daily, 1);
    put(*never, 1);
    g_test_now_ns = kNoonNs + 13 * 3600 * kSecondNs;
    put(*daily, 2);
    put(*never, 2);
    stop();
    CHECK(readFile(dir.path("s.20261120-120000.000.txt")) == "n1\n");
    CHECK(readFile(dir.path("s.txt")) == "n2\n");
    CHECK(readFile(dir.path("never")) == "n1\nn2\n");
  }
}

TEST_CASE("a stream let go of writes what it was given, and its file is closed") {
  const TempDir dir;
  REQUIRE(start(optionsFor(dir)).ok());
  auto stream = openNumbers(to(dir.path("s.log"))), other = openNumbers(to(dir.path("s.log")), "o");
  for (int i = 0; i < 1000; ++i) put(*stream, i);
  stream.reset();
  flush();
  CHECK(readLines(dir.path("s.log")).size() == 1000);
  CHECK(descriptorsOf(dir.path("s.log")) == 1);
  put(*other, 1);
  other.reset();
  flush();
  CHECK(readLines(dir.path("s.log")).size() == 1001);
  CHECK(descriptorsOf(dir.path("s.log")) == 0);
  const auto again = openNumbers(to(dir.path("s.log")));
  put(*again, 2);
  stop();
  CHECK(readLines(dir.path("s.log")).back() == "n2");
}

TEST_CASE("a full disk costs a stream its lines, counted and said in the log") {
  const TempDir dir;
  REQUIRE(start(optionsFor(dir)).ok());
  const Stats before = stats();
  const auto stream = openNumbers(to(dir.path("s.log")));
  {
    const FullDisk disk;
    for (int i = 0; i < 10; ++i) put(*stream, i);
    flush();
  }
  put(*stream, 10);
  stop();
  CHECK(stats().write_errors > before.write_errors);
  CHECK(readLines(dir.path("s.log")).size() == 11);
  CHECK(countLinesWith(dir.path("t.log"), "s.log: writing works again") == 1);
}

TEST_CASE("threads write while streams come and go, and the log starts and stops") {
  const TempDir dir;
  constexpr int kThreads = 3, kTurns = 30, kLines = 200;
  const Stats before = stats();
  std::atomic<bool> end{false};
  std::thread starter([&] {
    while (!end) {
      if (start(optionsFor(dir)).ok()) LOG_INFO("started");
      stop();
    }
  });
  std::vector<std::thread> writers;
  for (int t = 0; t < kThreads; ++t) {
    writers.emplace_back([&, t] {
      for (int turn = 0; turn < kTurns; ++turn) {
        StreamOptions options = to(dir.path("s" + std::to_string(turn % 3)));
        auto opened = Stream::open(options, std::make_unique<NumberFormat>(std::to_string(t) + ":"));
        if (!opened.ok()) continue;
        const std::shared_ptr<Stream> stream = std::move(opened).value();
        for (int i = 0; i < kLines; ++i) put(*stream, i);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  end = true;
  starter.join();
  size_t lines = 0;
  for (int i = 0; i < 3; ++i) {
    for (const std::string& line : readLines(dir.path("s" + std::to_string(i)))) {
      ++lines;
      CHECK((line.size() >= 3 && line[1] == ':'));
    }
  }
  const Stats now = stats();
  lines += countLinesWith(dir.path("t.log"), "started");
  CHECK(lines <= now.lines - before.lines);
  CHECK(now.lines - before.lines + now.dropped - before.dropped >= kThreads * kTurns * kLines);
}

TEST_CASE("a stream that waits loses no line where another in the same rings drops") {
  constexpr int kLines = 20'000;
  const TempDir dir;
  Options options = optionsFor(dir);
  options.thread_buffer_bytes = 16 * 1024;
  options.on_full = OnFull::kDrop;
  REQUIRE(start(options).ok());
  StreamOptions waits = to(dir.path("waits"));
  waits.on_full = OnFull::kBlock;
  const auto kept = openNumbers(waits);
  const uint64_t before = stats().dropped;
  for (int i = 0; i < kLines; ++i) put(*kept, i);
  CHECK(stats().dropped == before);
  const auto dropping = openNumbers(to(dir.path("drops")));
  for (int i = 0; i < kLines; ++i) put(*dropping, i);
  stop();
  CHECK(readLines(dir.path("waits")).size() == kLines);
  CHECK(readLines(dir.path("drops")).size() + stats().dropped - before == kLines);
}

}  // namespace roost::log::test
