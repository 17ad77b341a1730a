#include "tools/swarm/proc_watch.h"

#include <dirent.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace roost::swarm {
namespace {

// The number behind `name` at the beginning of a line; 0 without one.
uint64_t lineNumber(const std::string& path, const char* name) {
  std::ifstream in(path);
  std::string line;
  const size_t length = std::strlen(name);
  while (std::getline(in, line)) {
    if (line.compare(0, length, name) == 0) return std::strtoull(line.c_str() + length, nullptr, 10);
  }
  return 0;
}

// Adds the time of every thread. False: there is no such process.
bool addTimes(const std::string& folder, ProcessUse& use) {
  DIR* tasks = ::opendir((folder + "/task").c_str());
  if (tasks == nullptr) return false;
  while (const dirent* task = ::readdir(tasks)) {
    if (task->d_name[0] == '.') continue;
    std::ifstream in(folder + "/task/" + task->d_name + "/schedstat");
    int64_t ran_ns = 0, waited_ns = 0;
    if (!(in >> ran_ns >> waited_ns)) continue;
    use.cpu_ns += ran_ns;
    use.waited_ns += waited_ns;
  }
  ::closedir(tasks);
  return true;
}

}  // namespace

ProcessUse readProcesses(const std::vector<int>& pids) {
  ProcessUse use;
  use.ok = !pids.empty();
  for (const int pid : pids) {
    const std::string folder = pid < 0 ? "/proc/self" : fmt::format("/proc/{}", pid);
    const uint64_t anon_kib = lineNumber(folder + "/status", "RssAnon:");
    if (!addTimes(folder, use) || anon_kib == 0) use.ok = false;
    use.anon_bytes += anon_kib * 1024;
  }
  return use;
}

int64_t ownWaitedNs() {
  std::ifstream in("/proc/thread-self/schedstat");
  int64_t ran_ns = 0, waited_ns = 0;
  return in >> ran_ns >> waited_ns ? waited_ns : 0;
}

KernelUse readKernel() {
  KernelUse use;
  use.slab_bytes = lineNumber("/proc/meminfo", "Slab:") * 1024;
  std::ifstream in("/proc/net/sockstat");
  std::string line;
  while (std::getline(in, line)) {
    const size_t at = line.find(" mem ");
    if (line.compare(0, 4, "TCP:") == 0 && at != std::string::npos) {
      use.tcp_bytes = std::strtoull(line.c_str() + at + 5, nullptr, 10) * 4096;
    }
  }
  return use;
}

uint64_t availableMemoryBytes() {
  return lineNumber("/proc/meminfo", "MemAvailable:") * 1024;
}

TwoNumbers readNumbers(const char* path) {
  TwoNumbers numbers;
  std::ifstream in(path);
  in >> numbers.first >> numbers.second;
  return numbers;
}

}  // namespace roost::swarm
