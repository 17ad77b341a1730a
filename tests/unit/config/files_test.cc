// Real files: the ones we ship, and those that cannot be read.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "unit/config/fixture.h"

using namespace roost::config;
using namespace roost::config::test;

namespace {

class TempFolder {
 public:
  TempFolder() {
    char name[] = "/tmp/roost-config-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    path_ = name;
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(*this / name, std::ios::binary) << text;
    return *this / name;
  }

 private:
  std::string path_;
};

LoadResult loadShipped(const std::string& path) {
  LoadResult result = load(path, fullSchema());
  INFO(result.errorText());
  REQUIRE(result.ok());
  return result;
}

std::string onlyErrorOf(const std::string& path) {
  const LoadResult result = load(path, fullSchema());
  REQUIRE(result.errors.size() == 1);
  return result.errorText();
}

}  // namespace

TEST_CASE("a file of the family starts unchanged", "[config]") {
  const LoadResult result = loadShipped("conf/family.json");
  const Node root = result.config->root();
  CHECK(root["worker_processes"].asInt() == 4);
  CHECK(root["task_processes"].asInt() == 0);
  CHECK_FALSE(root["log"]["async"].asBool());
  CHECK(root["mysql"]["port"].asInt() == 0);
  CHECK(root["blocks_ip"].size() == 2);
}

TEST_CASE("conf/full.json says nothing but defaults", "[config]") {
  const std::string full = loadShipped("conf/full.json").config->dump();
  const LoadResult defaults = loadText("{}", "conf/x.json", fullSchema());
  CHECK(full == defaults.config->dump());
}

TEST_CASE("a missing file, a folder and a device are one clear line each", "[config]") {
  const TempFolder folder;
  CHECK(onlyErrorOf(folder / "no.json") ==
        (folder / "no.json") + ": error: the file cannot be opened: No such file or directory\n");
  CHECK(onlyErrorOf("/tmp") == "/tmp: error: this is a directory, not a file\n");
  CHECK(onlyErrorOf("/dev/null") == "/dev/null: error: this is not a regular file\n");
  CHECK(onlyErrorOf("") == ": error: the file cannot be opened: No such file or directory\n");
}

TEST_CASE("a FIFO is refused and not waited for", "[config]") {
  const TempFolder folder;
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  CHECK(onlyErrorOf(folder / "fifo").find("this is not a regular file") != std::string::npos);
}

TEST_CASE("a file that may not be read is one clear line", "[config]") {
  if (::geteuid() == 0) return;  // root may read everything
  const TempFolder folder;
  const std::string path = folder.write("a.json", "{}");
  REQUIRE(::chmod(path.c_str(), 0) == 0);
  CHECK(onlyErrorOf(path) == path + ": error: the file cannot be opened: Permission denied\n");
}

TEST_CASE("a file of 10 MB is refused", "[config]") {
  const TempFolder folder;
  const std::string path = folder.write("big.json", "{}" + std::string(10u << 20, ' '));
  CHECK(onlyErrorOf(path) == path + ": error: the file is larger than 4 MiB\n");
}

TEST_CASE("an empty file and one of comments are one clear line each", "[config]") {
  const TempFolder folder;
  CHECK(onlyErrorOf(folder.write("a.json", "")).find("the file is empty") != std::string::npos);
  CHECK(onlyErrorOf(folder.write("b.json", "// later\n")).find("the file holds no configuration") !=
        std::string::npos);
}

TEST_CASE("a file with a comment loads, and includes from the disk", "[config]") {
  const TempFolder folder;
  folder.write("b.json", "{\"task_processes\": 9, /* and */}");
  const LoadResult result = load(folder.write("a.json", "// first\n{\"include\": \"b.json\"}"), fullSchema());
  REQUIRE(result.ok());
  CHECK(result.config->root()["task_processes"].asInt() == 9);
}

TEST_CASE("a relative name is resolved against the working folder", "[config]") {
  const LoadResult result = loadText("{}", "conf/x.json", fullSchema());
  REQUIRE(result.ok());
  CHECK(result.config->baseDirectory() == std::filesystem::current_path().string());
}

TEST_CASE("what throws around the loader becomes an error", "[config]") {
  Surroundings broken;
  broken.env = [](const std::string&) -> std::optional<std::string> {
    throw std::runtime_error("no environment");
  };
  const LoadResult result = loadText(R"({"address": "${A}"})", "t.json", fullSchema(), broken);
  CHECK_FALSE(result.ok());
  CHECK(result.errorText() == "t.json: error: cannot be read: no environment\n");
}
