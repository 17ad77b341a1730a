// What is left of the log when the process dies by a signal. The dying is done by this same program, run anew
// with one of the hidden tests at the end.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <thread>

#include "log/log.h"
#include "unit/log/log_test_support.h"

namespace roost::log::test {
namespace {

constexpr int kLines = 5000;
constexpr const char* kDirectoryVariable = "ROOST_LOG_CRASH_TEST_DIRECTORY";

// Runs a hidden test and returns how it ended, as waitpid() says it.
int runHidden(const char* name, const TempDir& dir) {
  ::setenv(kDirectoryVariable, dir.path().c_str(), 1);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
  }
  std::string program = "/proc/self/exe", test = name;
  char* const arguments[] = {program.data(), test.data(), nullptr};
  pid_t child = -1;
  REQUIRE(::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ) == 0);
  ::posix_spawn_file_actions_destroy(&actions);
  int how = 0;
  REQUIRE(::waitpid(child, &how, 0) == child);
  return how;
}

void logAndWait(OnFull on_full) {
  Options options;
  options.directory = std::getenv(kDirectoryVariable);
  options.base_name = "t";
  options.flush_second = 3600;
  options.on_full = on_full;
  options.thread_buffer_bytes = 1 << 20;
  if (!start(options).ok()) std::abort();
  for (int i = 0; i < kLines; ++i) LOG_INFO("line {}", i);
}

}  // namespace

TEST_CASE("a crash writes what was logged before it") {
  const TempDir dir;
  const int how = runHidden("hidden: abort with lines in flight", dir);
  CHECK_FALSE((WIFEXITED(how) && WEXITSTATUS(how) == 0));
  CHECK(countLinesWith(dir.path("t.log"), "] line ") == kLines);
  CHECK(countLinesWith(dir.path("t.log"), "] crashed by SIGABRT") == 1);
}

TEST_CASE("a fault names its address") {
  const TempDir dir;
  const int how = runHidden("hidden: fault on a thread", dir);
  CHECK_FALSE((WIFEXITED(how) && WEXITSTATUS(how) == 0));
  CHECK(countLinesWith(dir.path("t.log"), "] line ") == kLines);
  CHECK(countLinesWith(dir.path("t.log"), "] crashed by SIGSEGV (code 1, address 0x") == 1);
}

TEST_CASE("exit without stop loses no line") {
  const TempDir dir;
  const int how = runHidden("hidden: exit without stop", dir);
  CHECK((WIFEXITED(how) && WEXITSTATUS(how) == 7));
  CHECK(countLinesWith(dir.path("t.log"), "] line ") == kLines);
}

TEST_CASE("hidden: abort with lines in flight", "[.]") {
  logAndWait(OnFull::kBlock);
  std::abort();
}

TEST_CASE("hidden: fault on a thread", "[.]") {
  logAndWait(OnFull::kBlock);
  std::thread([] {
    volatile uintptr_t address = 0x10;  // in the first page, which Linux never maps
    *reinterpret_cast<volatile int*>(address) = 1;
  }).join();
}

TEST_CASE("hidden: exit without stop", "[.]") {
  logAndWait(OnFull::kBlock);
  std::exit(7);
}

}  // namespace roost::log::test
