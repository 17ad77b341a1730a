#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace roost::server {

// What the machine says of itself, as far as it matters to somebody who wants to hold very many connections.
// Nothing: this kernel has no such setting, or does not let it be read (a container's often does not).
struct SystemFacts {
  std::string kernel_release;  // "6.1.0-18-amd64"
  uint32_t processors = 0;
  uint64_t page_bytes = 4096;
  std::optional<uint64_t> memory_bytes;
  std::optional<uint64_t> memory_available_bytes;
  std::optional<uint64_t> memory_limit_bytes;         // of the control group; nothing: none
  std::optional<uint64_t> address_space_limit_bytes;  // RLIMIT_AS; nothing: none
  std::optional<uint64_t> data_limit_bytes;           // RLIMIT_DATA; nothing: none
  uint64_t nofile_hard = 0;                           // RLIMIT_NOFILE; UINT64_MAX: no limit
  int64_t oom_score_adj = 0;

  std::optional<uint64_t> nr_open;
  std::optional<uint64_t> file_max;
  std::optional<uint64_t> files_open;  // in the whole system
  std::optional<uint64_t> epoll_watches;
  std::optional<uint64_t> somaxconn;
  std::optional<uint64_t> syn_backlog;
  std::optional<uint64_t> netdev_backlog;
  std::optional<uint64_t> conntrack_max;
  std::optional<uint64_t> conntrack_count;
  std::vector<uint64_t> tcp_mem;     // pages: low, pressure, max
  std::vector<uint64_t> tcp_rmem;    // bytes: least, at first, most
  std::vector<uint64_t> tcp_wmem;    // bytes: least, at first, most
  std::vector<uint64_t> port_range;  // first, last

  // Those that guides like to set, and should not.
  std::optional<uint64_t> tw_recycle;
  std::optional<uint64_t> abort_on_overflow;
  std::optional<uint64_t> syncookies;
  std::optional<uint64_t> timestamps;
  std::optional<uint64_t> sack;
  std::optional<uint64_t> window_scaling;
};

// Reads files below `root` ("/": the machine's own proc and sys), and this process's limits. Any thread;
// blocks shortly.
SystemFacts readSystemFacts(const std::string& root = "/");

}  // namespace roost::server
