#include "base/fd_table.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "base/unique_fd.h"

namespace roost {
namespace {

bool isOpen(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

TEST_CASE("fd table: a thread with its own keeps what it asked for, and closes for itself alone",
          "[fd_table]") {
  int pipes[4];
  REQUIRE(::pipe2(pipes, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(pipes + 2, O_CLOEXEC) == 0);
  const UniqueFd owned[] = {UniqueFd(pipes[0]), UniqueFd(pipes[1]), UniqueFd(pipes[2]), UniqueFd(pipes[3])};
  bool ok = false, kept = false, others = true;
  int reused = -1;
  std::thread thread([&] {
    ok = splitFdTable({pipes[3], pipes[1], pipes[1], 0}).ok();
    kept = isOpen(pipes[1]) && isOpen(pipes[3]) && ::write(pipes[1], "x", 1) == 1;
    others = isOpen(pipes[0]) || isOpen(pipes[2]);
    reused = ::dup(pipes[1]);  // takes a number that another thread has for something else
    ::close(reused);
  });
  thread.join();
  REQUIRE(ok);
  CHECK(kept);
  CHECK_FALSE(others);
  CHECK(reused >= 3);
  for (const int fd : pipes) CHECK(isOpen(fd));
  char byte = 0;
  CHECK(::read(pipes[0], &byte, 1) == 1);
  CHECK(byte == 'x');
}

}  // namespace
}  // namespace roost
