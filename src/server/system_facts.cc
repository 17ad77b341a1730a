#include "server/system_facts.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

namespace roost::server {
namespace {

std::vector<uint64_t> readNumbers(const std::string& path) {
  std::ifstream file(path);
  std::vector<uint64_t> numbers;
  uint64_t number = 0;
  while (file >> number) numbers.push_back(number);
  return numbers;
}

std::optional<uint64_t> readNumber(const std::string& path) {
  const std::vector<uint64_t> numbers = readNumbers(path);
  if (numbers.empty()) return std::nullopt;
  return numbers.front();
}

// "MemTotal:       24591872 kB" -> bytes.
std::optional<uint64_t> readMeminfo(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, name.size() + 1, name + ":") != 0) continue;
    std::istringstream rest(line.substr(name.size() + 1));
    uint64_t kilobytes = 0;
    if (rest >> kilobytes) return kilobytes * 1024;
  }
  return std::nullopt;
}

std::optional<uint64_t> readLimit(int resource) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  return limit.rlim_cur;
}

// "hierarchical_memory_limit 4194304": what version 1 says of groups that lie outside of what can be seen
// here.
std::optional<uint64_t> readHierarchicalLimit(const std::string& path) {
  std::ifstream file(path);
  std::string name;
  uint64_t number = 0;
  while (file >> name >> number) {
    if (name == "hierarchical_memory_limit") return number;
  }
  return std::nullopt;
}

bool isAmong(const std::string& name, const std::string& comma_separated) {
  return ("," + comma_separated + ",").find("," + name + ",") != std::string::npos;
}

// The least of what the group and those above it may use, version 2 or 1 of control groups. Version 1 says a
// huge number where version 2 says "max".
std::optional<uint64_t> readMemoryLimit(const std::string& root) {
  std::optional<uint64_t> least;
  const auto take = [&least](std::optional<uint64_t> limit) {
    if (limit && *limit < uint64_t{1} << 60 && (!least || *limit < *least)) least = limit;
  };
  std::ifstream file(root + "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // "4:memory:/path" or "0::/path"
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool is_v2 = controllers.empty();
    if (!is_v2 && !isAmong("memory", controllers)) continue;
    const std::string mount = root + (is_v2 ? "sys/fs/cgroup" : "sys/fs/cgroup/" + controllers);
    for (std::string path = line.substr(second + 1);; path.erase(path.rfind('/'))) {
      if (path == "/") path.clear();
      take(readNumber(mount + path + (is_v2 ? "/memory.max" : "/memory.limit_in_bytes")));
      if (!is_v2) take(readHierarchicalLimit(mount + path + "/memory.stat"));
      if (path.empty()) break;
    }
  }
  return least;
}

}  // namespace

SystemFacts readSystemFacts(const std::string& root) {
  SystemFacts facts;
  const std::string sys = root + "proc/sys/";
  utsname name{};
  if (::uname(&name) == 0) facts.kernel_release = static_cast<const char*>(name.release);
  facts.processors = std::thread::hardware_concurrency();
  facts.page_bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  facts.memory_bytes = readMeminfo(root + "proc/meminfo", "MemTotal");
  facts.memory_available_bytes = readMeminfo(root + "proc/meminfo", "MemAvailable");
  facts.memory_limit_bytes = readMemoryLimit(root);
  facts.address_space_limit_bytes = readLimit(RLIMIT_AS);
  facts.data_limit_bytes = readLimit(RLIMIT_DATA);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    facts.nofile_hard =
        limit.rlim_max == RLIM_INFINITY ? std::numeric_limits<uint64_t>::max() : limit.rlim_max;
  }
  std::ifstream(root + "proc/self/oom_score_adj") >> facts.oom_score_adj;

  facts.nr_open = readNumber(sys + "fs/nr_open");
  facts.file_max = readNumber(sys + "fs/file-max");
  facts.files_open = readNumber(sys + "fs/file-nr");
  facts.epoll_watches = readNumber(sys + "fs/epoll/max_user_watches");
  facts.somaxconn = readNumber(sys + "net/core/somaxconn");
  facts.syn_backlog = readNumber(sys + "net/ipv4/tcp_max_syn_backlog");
  facts.netdev_backlog = readNumber(sys + "net/core/netdev_max_backlog");
  facts.conntrack_max = readNumber(sys + "net/netfilter/nf_conntrack_max");
  facts.conntrack_count = readNumber(sys + "net/netfilter/nf_conntrack_count");
  facts.tcp_mem = readNumbers(sys + "net/ipv4/tcp_mem");
  facts.tcp_rmem = readNumbers(sys + "net/ipv4/tcp_rmem");
  facts.tcp_wmem = readNumbers(sys + "net/ipv4/tcp_wmem");
  facts.port_range = readNumbers(sys + "net/ipv4/ip_local_port_range");
  facts.tw_recycle = readNumber(sys + "net/ipv4/tcp_tw_recycle");
  facts.abort_on_overflow = readNumber(sys + "net/ipv4/tcp_abort_on_overflow");
  facts.syncookies = readNumber(sys + "net/ipv4/tcp_syncookies");
  facts.timestamps = readNumber(sys + "net/ipv4/tcp_timestamps");
  facts.sack = readNumber(sys + "net/ipv4/tcp_sack");
  facts.window_scaling = readNumber(sys + "net/ipv4/tcp_window_scaling");
  return facts;
}

}  // namespace roost::server
