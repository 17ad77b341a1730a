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
    REQUIRE(pid_file.check().ok());
    REQUIRE(pid_file.write().ok());
    CHECK(folder.text() == std::to_string(::getpid()));
  }
  CHECK(folder.text() == "none");
}

TEST_CASE("a pid file that names another process stays", "[server]") {
  const Folder folder;
  folder.put("1\n");  // always lives
  {
    PidFile pid_file(folder.file());
    const roost::Status status = pid_file.check();
    REQUIRE_FALSE(status.ok());
    CHECK(status.message().find("names process 1, which is running") != std::string::npos);
  }
  CHECK(folder.text() == "1");
  {
    PidFile pid_file(folder.file());
    REQUIRE(pid_file.write().ok());
    folder.put("1\n");
  }
  CHECK(folder.text() == "1");
}

TEST_CASE("a pid file that names nobody is no obstacle", "[server]") {
  const Folder folder;
  const PidFile pid_file(folder.file());
  for (const std::string text : {"", "x", "0", "-1", "99999999999999999999"}) {
    folder.put(text);
    CHECK(pid_file.check().ok());
  }
  folder.put(std::to_string(::getpid()));
  CHECK(pid_file.check().ok());
}

TEST_CASE("no pid file is wanted", "[server]") {
  PidFile pid_file("");
  CHECK(pid_file.check().ok());
  CHECK(pid_file.write().ok());
}
