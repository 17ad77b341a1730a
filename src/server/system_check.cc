#include "server/system_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace roost::server {
namespace {

// Measured here on Linux 6.x, for one idle TCP connection: sock, inode, dentry, file and epoll entry.
constexpr uint64_t kKernelBytesPerClient = 4200;
// Ours, for a client that waits: the worst of keep-alive, held request, WebSocket.
constexpr uint64_t kOwnBytesPerClient = 320;
constexpr uint64_t kOwnBytes = uint64_t{256} << 20;  // the rest of the process, caches included
// Descriptors that are not clients: listeners, epoll, logs, files that are being sent, upstreams.
constexpr uint64_t kOtherDescriptors = 1000;

std::optional<uint64_t> at(const std::vector<uint64_t>& numbers, size_t index) {
  if (index >= numbers.size()) return std::nullopt;
  return numbers[index];
}

// Collects needs: a rule turns a number of clients into a number of the setting's unit.
class Needs {
 public:
  explicit Needs(SystemReport& report) noexcept : report_(report) {}

  void add(SystemNeed need, const std::function<uint64_t(uint64_t)>& rule) {
    for (const uint64_t clients : report_.counts) need.needed.push_back(rule(clients));
    report_.needs.push_back(std::move(need));
  }

 private:
  SystemReport& report_;
};

// What a reconnecting crowd may pile up before it is accepted.
uint64_t acceptQueue(uint64_t clients) {
  return std::clamp<uint64_t>(clients / 64, 1024, 65535);
}

void addDescriptors(const SystemFacts& facts, uint64_t fd_tables, Needs& needs) {
  const auto per_process = [](uint64_t clients) { return clients + kOtherDescriptors; };
  // They are not dealt out evenly: a table may get a tenth more than its share.
  const auto per_table = [fd_tables](uint64_t clients) {
    const uint64_t share = fd_tables == 1 ? clients : (clients + clients / 10 + fd_tables - 1) / fd_tables;
    return share + kOtherDescriptors;
  };
  needs.add({"LimitNOFILE",
             fd_tables == 1 ? "descriptors of the process" : "descriptors of an IO thread",
             false,
             facts.nofile_hard,
             {},
             "LimitNOFILE={} in the service's unit, or \"fd_table\": \"per_thread\", which gives each IO "
             "thread as many"},
            per_table);
  needs.add({"fs.nr_open", "the most that LimitNOFILE may be", false, facts.nr_open, {}, "fs.nr_open = {}"},
            per_table);
  const uint64_t open = facts.files_open.value_or(0);
  needs.add({"fs.file-max", "open files, all processes", false, facts.file_max, {}, "fs.file-max = {}"},
            [open](uint64_t clients) { return open + clients + clients / 10 + kOtherDescriptors; });
  needs.add({"fs.epoll.max_user_watches",
             "polled descriptors of a user",
             false,
             facts.epoll_watches,
             {},
             "fs.epoll.max_user_watches = {}"},
            per_process);
}

void addQueues(const SystemFacts& facts, const CheckedConfig& config, Needs& needs) {
  const auto per_socket = [&config](uint64_t clients) {
    return (acceptQueue(clients) + config.accept_queues - 1) / config.accept_queues;
  };
  needs.add({"net.core.somaxconn",
             "connections waiting for accept",
             false,
             facts.somaxconn,
             {},
             "net.core.somaxconn = {}"},
            per_socket);
  if (config.backlog) {
    needs.add({"backlog",
               "the same, as the configuration's listeners ask for it",
               false,
               config.backlog,
               {},
               "\"backlog\": {} in the configuration's `listen`"},
              per_socket);
  }
  needs.add({"net.ipv4.tcp_max_syn_backlog",
             "handshakes under way",
             false,
             facts.syn_backlog,
             {},
             "net.ipv4.tcp_max_syn_backlog = {}"},
            acceptQueue);
  needs.add({"net.core.netdev_max_backlog",
             "packets waiting for a processor",
             false,
             facts.netdev_backlog,
             {},
             "net.core.netdev_max_backlog = {}"},
            [](uint64_t clients) { return std::clamp<uint64_t>(clients / 64, 1000, 32768); });
  // A machine without rules that need it tracks nothing, though the setting is there: then it counts none.
  if (facts.conntrack_max && facts.conntrack_count != 0U) {
    needs.add({"net.netfilter.nf_conntrack_max",
               "connections the firewall tracks",
               false,
               facts.conntrack_max,
               {},
               "net.netfilter.nf_conntrack_max = {}"},
              [](uint64_t clients) { return clients + clients / 5; });
  }
}

void addMemory(const SystemFacts& facts, Needs& needs) {
  // A message to everybody lies in one buffer per client until it is acknowledged: about a page each.
  needs.add({"net.ipv4.tcp_mem (second)",
             "pages for all TCP buffers before they are squeezed",
             false,
             at(facts.tcp_mem, 1),
             {},
             "net.ipv4.tcp_mem = {0} {1} {2}"},
            [](uint64_t clients) { return clients; });
  const auto total = [](uint64_t clients) {
    return clients * (kKernelBytesPerClient + kOwnBytesPerClient) + kOwnBytes;
  };
  std::optional<uint64_t> memory = facts.memory_bytes;
  if (facts.memory_limit_bytes && (!memory || *facts.memory_limit_bytes < *memory))
    memory = facts.memory_limit_bytes;
  needs.add({"memory",
             "silent clients, before buffers",
             true,
             memory,
             {},
             "more memory, or a control group with a higher limit"},
            total);
}

void adviseOnGuides(const SystemFacts& facts, std::vector<SystemAdvice>& advice) {
  const auto warn = [&advice](std::string text) { advice.push_back({true, std::move(text)}); };
  if (facts.tw_recycle.value_or(0) != 0)
    warn("net.ipv4.tcp_tw_recycle is on: it turns away clients behind a shared address. Take it out.");
  if (facts.abort_on_overflow.value_or(0) != 0)
    warn(
        "net.ipv4.tcp_abort_on_overflow is on: a burst of clients is reset instead of waiting. Take it out.");
  if (facts.syncookies == 0U)
    warn("net.ipv4.tcp_syncookies is off: a flood of handshakes keeps everybody out. Leave it at 1.");
  if (facts.timestamps == 0U)
    warn("net.ipv4.tcp_timestamps is off: round trips are measured badly and old segments not told apart.");
  if (facts.sack == 0U) warn("net.ipv4.tcp_sack is off: every loss is sent again at length.");
  if (facts.window_scaling == 0U)
    warn("net.ipv4.tcp_window_scaling is off: no connection has more than 64 KiB on its way.");
  const auto most = at(facts.tcp_mem, 2);
  if (most && facts.memory_bytes && *most > *facts.memory_bytes / facts.page_bytes)
    warn(fmt::format(
        "net.ipv4.tcp_mem allows {} pages, more than there is memory: it counts pages, not bytes.", *most));
  const auto first_wmem = at(facts.tcp_wmem, 1);
  if (first_wmem && *first_wmem > (256U << 10))
    warn(
        fmt::format("net.ipv4.tcp_wmem begins with {} bytes per connection: that much a client that does not "
                    "read can hold at once. The kernel raises it by itself where it helps; 16384 will do.",
                    *first_wmem));
  const auto first_rmem = at(facts.tcp_rmem, 1);
  if (first_rmem && *first_rmem > (1U << 20))
    warn(
        fmt::format("net.ipv4.tcp_rmem begins with {} bytes per connection: that much a client can leave "
                    "there at once. The kernel raises it by itself where it helps; 131072 will do.",
                    *first_rmem));
}

void adviseOnProcess(const SystemFacts& facts, std::vector<SystemAdvice>& advice) {
  if (facts.oom_score_adj >= 0) {
    advice.push_back(
        {false, fmt::format("The OOM score adjustment is {}. Memory of sockets is not counted as the "
                            "server's own, yet it may be chosen when memory runs out: "
                            "OOMScoreAdjust=-500 in the service's unit makes others go first.",
                            facts.oom_score_adj)});
  }
  if (facts.conntrack_count.value_or(0) > 0 && facts.conntrack_max) {
    advice.push_back(
        {false, fmt::format("The firewall tracks {} of at most {} connections. What it need not track, "
                            "notrack in its raw table leaves out.",
                            *facts.conntrack_count, *facts.conntrack_max)});
  }
}

// The kernel gives a listening socket the smaller of the two: one raised alone does nothing.
void adviseOnBacklog(const SystemFacts& facts, const CheckedConfig& config,
                     std::vector<SystemAdvice>& advice) {
  if (!config.backlog || !facts.somaxconn || *config.backlog == *facts.somaxconn) return;
  const bool file_caps = *config.backlog < *facts.somaxconn;
  advice.push_back(
      {false,
       fmt::format("The configuration's \"backlog\" is {} and net.core.somaxconn {}: a listening socket "
                   "gets the smaller of the two. Raise {} to use the other.",
                   *config.backlog, *facts.somaxconn, file_caps ? "\"backlog\"" : "net.core.somaxconn")});
}

// What one source address gives towards one address and port of a server. Of the range of local ports,
// connect() tries those of the first one's parity before all others, every time (Linux, __inet_hash_connect):
// once they are taken, each further attempt looks at all of them in vain first.
void addSourceAddresses(const SystemFacts& facts, SystemReport& report) {
  const auto first = at(facts.port_range, 0);
  const auto last = at(facts.port_range, 1);
  if (!first || !last || *first > *last) return;
  report.connections_per_source = (*last - *first) / 2 + 1;
  for (const uint64_t clients : report.counts) {
    report.source_addresses.push_back((clients + report.connections_per_source - 1) /
                                      report.connections_per_source);
  }
}

}  // namespace

bool SystemReport::isShort(size_t index) const noexcept {
  return std::any_of(needs.begin(), needs.end(),
                     [index](const SystemNeed& need) { return need.isShort(index); });
}

SystemReport checkSystem(const SystemFacts& facts, std::vector<uint64_t> counts,
                         const CheckedConfig& config) {
  SystemReport report;
  report.counts = std::move(counts);
  Needs needs(report);
  addDescriptors(facts, config.fd_tables, needs);
  addQueues(facts, config, needs);
  addMemory(facts, needs);
  addSourceAddresses(facts, report);
  adviseOnBacklog(facts, config, report.advice);
  adviseOnGuides(facts, report.advice);
  adviseOnProcess(facts, report.advice);
  return report;
}

}  // namespace roost::server
