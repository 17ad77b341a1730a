#pragma once

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "log/log.h"

namespace roost::log::test {

// A fresh directory that goes away with the object.
class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "roost-log-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string path(const std::string& name = "") const { return name.empty() ? path_ : path_ + "/" + name; }

 private:
  std::string path_;
};

// What is written to fd 2 goes to a file while the object lives.
class StderrToFile {
 public:
  explicit StderrToFile(const std::string& path) : former_(::dup(STDERR_FILENO)) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(file, STDERR_FILENO);
    ::close(file);
  }
  StderrToFile(const StderrToFile&) = delete;
  StderrToFile& operator=(const StderrToFile&) = delete;
  ~StderrToFile() {
    ::dup2(former_, STDERR_FILENO);
    ::close(former_);
  }

 private:
  int former_;
};

// While it lives, nothing can be written to a regular file: EFBIG, as ENOSPC where a disk is full.
class FullDisk {
 public:
  FullDisk() {
    former_handler_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &former_);
    const rlimit none{0, former_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &former_);
    ::signal(SIGXFSZ, former_handler_);
  }

 private:
  rlimit former_{};
  void (*former_handler_)(int);
};

inline std::string readFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::vector<std::string> readLines(const std::string& path) {
  std::istringstream in(readFile(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline size_t countLinesWith(const std::string& path, const std::string& text) {
  size_t count = 0;
  for (const std::string& line : readLines(path)) count += line.find(text) != std::string::npos ? 1 : 0;
  return count;
}

inline Options optionsFor(const TempDir& dir) {
  Options options;
  options.level = Level::kDebug;
  options.directory = dir.path();
  options.base_name = "t";
  return options;
}

// Nanoseconds since 1970, moved by the test.
inline std::atomic<int64_t> g_test_now_ns{0};
inline int64_t testNow() {
  return g_test_now_ns.load();
}
constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kNoonNs = 1'795'176'000 * kSecondNs;  // 2026-11-20T12:00:00Z

}  // namespace roost::log::test
