// The log from statement to file: nothing lost, nothing forged, everything counted.
#include "log/log.h"

#include <catch2/catch.hpp>
#include <limits>
#include <memory>
#include <regex>
#include <thread>

#include "unit/log/log_test_support.h"

namespace roost::log::test {
namespace {

struct Owner {  // formatted by the caller: it is no plain value
  std::string name;
};

}  // namespace
}  // namespace roost::log::test

template <>
struct fmt::formatter<roost::log::test::Owner> : fmt::formatter<fmt::string_view> {
  template <class Context>
  auto format(const roost::log::test::Owner& owner, Context& context) const {
    return fmt::formatter<fmt::string_view>::format(owner.name, context);
  }
};

namespace roost::log::test {

TEST_CASE("a line has time, level, thread, message and place") {
  const TempDir dir;
  REQUIRE(start(optionsFor(dir)).ok());
  std::thread([] {
    setThreadName("loop 0");
    LOG_INFO("served {} in {:.1f} ms", "/index.html", 1.25);
  }).join();
  stop();
  const auto lines = readLines(dir.path("t.log"));
  REQUIRE(lines.size() == 1);
  const std::regex shape(
      R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z INFO  \[loop 0/\d+\] served /index\.html in 1\.2 ms \(log_test\.cc:\d+\))");
  CHECK(std::regex_match(lines[0], shape));
}

TEST_CASE("a JSON line has the same as fields") {
  const TempDir dir;
  Options options = optionsFor(dir);
  options.format = Format::kJson;
  options.clock_ns = &testNow;
  g_test_now_ns = kNoonNs + 42'000;
  REQUIRE(start(options).ok());
  std::thread([] {
    setThreadName("a\"b");
    LOG_WARN("say \"{}\" \\ {}", "hi\n", "\xff");
  }).join();
  stop();
  const auto lines = readLines(dir.path("t.log"));
  REQUIRE(lines.size() == 1);
  const std::regex shape(R"(\{"ts":"2026-11-20T12:00:00\.000042Z","level":"WARN","thread":"a\\"b","tid":\d+,)"
                         R"("msg":"say \\"hi\\n\\" \\\\ \\ufffd","src":"log_test\.cc:\d+"\})");
  INFO(lines[0]);
  CHECK(std::regex_match(lines[0], shape));
}

TEST_CASE("time stamps are those of the call") {
  const TempDir dir;
  const int64_t before = detail::systemRealtimeNs() / kSecondNs;
  REQUIRE(start(optionsFor(dir)).ok());
  LOG_INFO("now");
  const int64_t after = detail::systemRealtimeNs() / kSecondNs;
  stop();
  const std::string line = readFile(dir.path("t.log"));
  tm parts{};
  REQUIRE(::strptime(line.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) != nullptr);
  const int64_t said = ::timegm(&parts);
  CHECK(said >= before);
  CHECK(said <= after);
}

TEST_CASE("every kind of argument arrives") {
  const TempDir dir;
  REQUIRE(start(optionsFor(dir)).ok());
  const std::string text(3000, 'x');
  LOG_INFO("A {} {} {} {} {}", std::numeric_limits<int64_t>::min(), std::numeric_limits<uint64_t>::max(), 'c',
           true, -1);
  LOG_INFO("B {} {}", std::numeric_limits<double>::lowest(), std::numeric_limits<float>::denorm_min());
  LOG_INFO("C {} {:>8}|{:x}|{:#06x}", std::string_view("a view"), "right", 255, 255);
  LOG_INFO("D {1} {0}", "second", "first");
  LOG_INFO("E {}", text);
  LOG_INFO("F {} and {}", Owner{"an owner"}, 7);
  LOG_INFO("G {{}} {:{}}|", 5, 4);
  const char* nothing = nullptr;
  LOG_INFO("H {}", nothing);
  {
    const auto gone = std::make_unique<std::string>("copied at the call");
    LOG_INFO("I {}", *gone);
  }
  stop();
  const std::string all = readFile(dir.path("t.log"));
  for (const std::string& expected :
       {std::string("A -9223372036854775808 18446744073709551615 c true -1 ("),
        std::string("B -1.7976931348623157e+308 1e-45 ("), std::string("C a view    right|ff|0x00ff ("),
        std::string("D first second ("), "E " + text + " (", std::string("F an owner and 7 ("),
        std::string("G {}    5| ("), std::string("H (null) ("), std::string("I copied at the call (")}) {
    INFO(expected);
    CHECK(all.find(expected) != std::string::npos);
  }
}

TEST_CASE("a disabled level is not evaluated and not written") {
  const TempDir dir;
  Options options = optionsFor(dir);
  options.level = Level::kWarn;
  REQUIRE(start(options).ok());
  int evaluated = 0;
  LOG_INFO("{}", ++evaluated);
  LOG_WARN("warned");
  setLevel(Level::kInfo);
  LOG_INFO("{}", ++evaluated);
  stop();
  CHECK(evaluated == 1);
  CHECK(readLines(dir.path("t.log")).size() == 2);
}

TEST_CASE("a line break in a value cannot forge a line") {
  const TempDir dir;
  REQUIRE(start(optionsFor(dir)).ok());
  const std::string evil = "GET /\r\n2026-11-20T12:00:00.000000Z ERROR [main/1] hacked";
  LOG_INFO("request {}", evil);
  LOG_INFO("{}", Owner{"x\ny"});
  LOG_INFO("\x1b[31m{}\x7f", std::string("\0nul", 4));
  LOG_INFO("{}", "next line \xc2\x85 separators \xe2\x80\xa8 \xe2\x80\xa9 broken \xff\xc0\xaf fine \xc3\xa9");
  stop();
  const auto lines = readLines(dir.path("t.log"));
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].find("request GET /\\r\\n2026-11-20") != std::string::npos);
  CHECK(lines[1].find("x\\ny") != std::string::npos);
  CHECK(lines[2].find("\\x1b[31m\\x00nul\\x7f") != std::string::npos);
  CHECK(lines[3].find("next line \\x85 separators \\u2028 \\u2029 broken \\xff\\xc0\\xaf fine \xc3\xa9") !=
        std::string::npos);
}

TEST_CASE("stopping loses no line") {
  constexpr int kThreads = 4, kLines = 20'000;
  for (const bool async : {true, false}) {
    const TempDir dir;
    Options options = optionsFor(dir);
    options.async = async;
    options.flush_second = 3600;  // only stop() writes
    options.on_full = OnFull::kBlock;
    options.thread_buffer_bytes = 16 * 1024;  // many turns of the ring
    const Stats before = stats();
    REQUIRE(start(options).ok());
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([t] {
        for (int i = 0; i < kLines; ++i)
          LOG_INFO("thread {} line {} {}", t, i, std::string_view("padding", i % 8));
      });
    }
    for (std::thread& thread : threads) thread.join();
    stop();
    std::vector<int> next(kThreads, 0);
    for (const std::string& line : readLines(dir.path("t.log"))) {
      int t = -1, i = -1;
      const char* message = std::strstr(line.c_str(), "] thread");
      REQUIRE(message != nullptr);
      REQUIRE(std::sscanf(message, "] thread %d line %d", &t, &i) == 2);
      REQUIRE(next.at(static_cast<size_t>(t)) == i);  // none lost, none twice, in order
      ++next[static_cast<size_t>(t)];
    }
    CHECK(next == std::vector<int>(kThreads, kLines));
    CHECK(stats().lines - before.lines == kThreads * kLines);
    CHECK(stats().dropped == before.dropped);
  }
}

TEST_CASE("lines logged while the log stops are written, to the file or to stderr") {
  constexpr int kThreads = 3, kRounds = 20, kLines = 200;
  const TempDir dir;
  const Stats before = stats();
  StderrToFile stderr_to_file(dir.path("stderr"));
  for (int round = 0; round < kRounds; ++round) {
    Options options = optionsFor(dir);
    options.on_full = OnFull::kBlock;
    REQUIRE(start(options).ok());
    std::atomic<int> logged{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&logged] {
        for (int i = 0; i < kLines; ++i, ++logged) LOG_INFO("a line");
      });
    }
    while (logged.load() < kThreads * kLines / 3) std::this_thread::yield();
    stop();
    for (std::thread& thread : threads) thread.join();
  }
  constexpr uint64_t kAll = kThreads * kRounds * kLines;
  CHECK(countLinesWith(dir.path("t.log"), "a line") + countLinesWith(dir.path("stderr"), "a line") == kAll);
  CHECK(stats().lines - before.lines == kAll);
  CHECK(stats().dropped == before.dropped);
}

TEST_CASE("drops are counted exactly") {
  constexpr int kThreads = 2, kLines = 50'000;
  const TempDir dir;
  Options options = optionsFor(dir);
  options.on_full = OnFull::kDrop;
  options.thread_buffer_bytes = 16 * 1024;
  const Stats before = stats();
  REQUIRE(start(options).ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < kLines; ++i)
        LOG_INFO("line {} {}", i, std::string_view("some padding to fill the ring"));
    });
  }
  for (std::thread& thread : threads) thread.join();
  stop();
  const uint64_t dropped = stats().dropped - before.dropped;
  const size_t written = countLinesWith(dir.path("t.log"), "some padding");
  CHECK(dropped > 0);
  CHECK(written + dropped == kThreads * kLines);
  CHECK(stats().lines - before.lines == written);
  uint64_t said = 0;  // by the log itself
  for (const std::string& line : readLines(dir.path("t.log"))) {
    unsigned long count = 0;
    const char* message = std::strstr(line.c_str(), "] ");
    if (std::sscanf(message, "] %lu lines of thread", &count) == 1) said += count;
  }
  CHECK(said == dropped);
}

TEST_CASE("a message too long for the ring is cut and says so") {
  const TempDir dir;
  Options options = optionsFor(dir);
  options.thread_buffer_bytes = 16 * 1024;
  REQUIRE(start(options).ok());
  const std::string text(10'000, 'y');
  LOG_INFO("{}", text);
  LOG_INFO("after");
  stop();
  const auto lines = readLines(dir.path("t.log"));
  REQUIRE(lines.size() == 2);
  const auto kept = static_cast<size_t>(std::count(lines[0].begin(), lines[0].end(), 'y'));
  CHECK(kept > 3000);
  // "bytes" has a y of its own
  CHECK(lines[0].find(fmt::format("... ({} bytes cut)", 10'000 - (kept - 1))) != std::string::npos);
}

TEST_CASE("lines of several threads stand in the order of time") {
  const TempDir dir;
  Options options = optionsFor(dir);
  options.clock_ns = &testNow;
  options.flush_second = 3600;
  g_test_now_ns = kNoonNs;
  REQUIRE(start(options).ok());
  LOG_INFO("first of all");
  flush();  // from here on the log thread naps until it is asked
  int step = 0;
  const auto logOne = [&step] {
    g_test_now_ns += 1000;
    LOG_INFO("step {}", step++);
  };
  constexpr int kSteps = 30;
  std::atomic<int> turn{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t; i < kSteps; i += 3) {
        while (turn.load() != i) std::this_thread::yield();
        logOne();
        turn.store(i + 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  stop();
  const auto lines = readLines(dir.path("t.log"));
  REQUIRE(lines.size() == kSteps + 1);
  CHECK(std::is_sorted(lines.begin(), lines.end()));
}

TEST_CASE("threads may come and go") {
  const TempDir dir;
  Options options = optionsFor(dir);
  options.on_full = OnFull::kBlock;
  REQUIRE(start(options).ok());
  constexpr int kThreads = 200;
  for (int t = 0; t < kThreads; ++t) {
    std::thread([t] { LOG_INFO("thread {}", t); }).join();
  }
  flush();
  CHECK(countLinesWith(dir.path("t.log"), "] thread ") == kThreads);
  stop();
}

TEST_CASE("a repeated error is held back and its number is said") {
  const TempDir dir;
  Options options = optionsFor(dir);
  options.clock_ns = &testNow;
  g_test_now_ns = kNoonNs;
  REQUIRE(start(options).ok());
  const auto fail = [] { LOG_EVERY_SECOND(ERROR, "accept failed"); };
  for (int i = 0; i < 10; ++i) fail();
  flush();
  g_test_now_ns += kSecondNs;
  for (int i = 0; i < 5; ++i) fail();
  flush();
  g_test_now_ns += kSecondNs;
  flush();  // nobody fails any more, yet the last four are said
  const auto lines = readLines(dir.path("t.log"));
  stop();
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].find("accept failed (log_test.cc") != std::string::npos);
  CHECK(lines[1].find("accept failed [9 more like it held back] (log_test.cc") != std::string::npos);
  CHECK(lines[2].find("ERROR [log/") != std::string::npos);
  CHECK(lines[2].find("] 4 more like it held back (log_test.cc") != std::string::npos);
}

TEST_CASE("an error line is written without waiting for the flush interval") {
  const TempDir dir;
  Options options = optionsFor(dir);
  options.flush_second = 3600;
  REQUIRE(start(options).ok());
  LOG_INFO("first");
  flush();
  LOG_ERROR("now");
  while (countLinesWith(dir.path("t.log"), "now") == 0)
    std::this_thread::yield();  // the test's timeout is the limit
  stop();
  CHECK(readLines(dir.path("t.log")).size() == 2);
}

TEST_CASE("a second start is refused while the log runs") {
  const TempDir dir;
  REQUIRE(start(optionsFor(dir)).ok());
  CHECK_FALSE(start(optionsFor(dir)).ok());
  stop();
  stop();  // does nothing
  REQUIRE(start(optionsFor(dir)).ok());
  stop();
}

}  // namespace roost::log::test
