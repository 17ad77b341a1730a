#include "server/pid_file.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>

using namespace roost::server;

namespace {

// A folder that goes with the test.
class Folder {
 public:
  Folder() { REQUIRE(::mkdtemp(path_) != nullptr); }
  ~Folder() {
    ::unlink(file().c_str());
    ::rmdir(path_);
  }
  std::string file() const { return std::string(path_) + "/pid"; }
  void put(const std::string& text) const { std::ofstream(file()) << text; }
  std::string text() const {
    std::ifstream in(file());
    std::string line;
    return std::getline(in, line) ? line : "none";
  }

 private:
  char path_[32] = "/tmp/roost-pid-XXXXXX";
};

}  // namespace

TEST_CASE("a pid file comes and goes with its owner", "[server]") {
  const Folder folder;
  {
    PidFile pid_file(folder.file());
    REQUIRE(pid_file.open().ok());
    REQUIRE(pid_file.write().ok());
    CHECK(folder.text() == std::to_string(::getpid()));
  }
  CHECK(folder.text() == "none");
}

TEST_CASE("a pid file that a server has locked is respected", "[server]") {
  const Folder folder;
  PidFile first(folder.file());
  REQUIRE(first.open().ok());
  REQUIRE(first.write().ok());
  CHECK(PidFile::isHeld(folder.file()));
  {
    PidFile second(folder.file());
    const roost::Status status = second.open();
    REQUIRE_FALSE(status.ok());
    CHECK(status.message().find("locked by process " + std::to_string(::getpid())) != std::string::npos);
  }
  CHECK(folder.text() == std::to_string(::getpid()));
}

TEST_CASE("a stale pid file is replaced, whoever has the number now", "[server][regression]") {
  const Folder folder;
  for (const std::string text : {"1", "", "x", "0", "-1", "99999999999999999999"}) {
    folder.put(text);
    CHECK_FALSE(PidFile::isHeld(folder.file()));
    PidFile pid_file(folder.file());
    REQUIRE(pid_file.open().ok());
    REQUIRE(pid_file.write().ok());
    CHECK(folder.text() == std::to_string(::getpid()));
  }
}

TEST_CASE("a pid file that another process has written or replaced stays", "[server]") {
  const Folder folder;
  const bool replaces = GENERATE(false, true);
  {
    PidFile pid_file(folder.file());
    REQUIRE(pid_file.open().ok());
    REQUIRE(pid_file.write().ok());
    if (replaces) REQUIRE(::unlink(folder.file().c_str()) == 0);
    folder.put("1\n");
  }
  CHECK(folder.text() == "1");
}

TEST_CASE("a start that fails leaves the file as it was", "[server]") {
  const Folder folder;
  folder.put("precious\n");
  {
    PidFile pid_file(folder.file());
    REQUIRE(pid_file.open().ok());
  }
  CHECK(folder.text() == "precious");
  REQUIRE(::unlink(folder.file().c_str()) == 0);
  {
    PidFile pid_file(folder.file());
    REQUIRE(pid_file.open().ok());
  }
  CHECK(folder.text() == "none");
}

TEST_CASE("a pid file is no symbolic link", "[server][regression]") {
  const Folder folder;
  REQUIRE(::symlink("/dev/null", folder.file().c_str()) == 0);
  PidFile pid_file(folder.file());
  const roost::Status status = pid_file.open();
  REQUIRE_FALSE(status.ok());
  CHECK(status.message().find("symbolic link") != std::string::npos);
}

TEST_CASE("no pid file is wanted", "[server]") {
  PidFile pid_file("");
  CHECK(pid_file.open().ok());
  CHECK(pid_file.write().ok());
}
