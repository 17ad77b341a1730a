#include "tools/swarm/preflight.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>

#include "tools/swarm/proc_watch.h"

namespace roost::swarm {
namespace {

constexpr uint64_t kOwnDescriptors = 32;       // of a thread: its loop, what it inherits, and some air
constexpr uint64_t kKernelBytesPerEnd = 4608;  // of an idle TCP connection
constexpr uint32_t kMostThreads = 1024;

uint32_t divideUp(uint64_t a, uint64_t b) noexcept {
  return static_cast<uint32_t>((a + b - 1) / b);
}

uint32_t processors() noexcept {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<uint32_t>(std::max(CPU_COUNT(&set), 1));
}

Status checkDescriptors(const Scenario& scenario, const Machine& machine, uint64_t per_thread,
                        Layout& layout) {
  const uint32_t least = divideUp(scenario.clients, per_thread);
  if (layout.threads < least) {
    return Status::error(fmt::format(
        "{0} clients on {1} thread{2} need {3} descriptors in each, and the limit is {4}: {5} short. Either "
        "--threads {6} (each thread has a table of its own), or raise the limit: ulimit -n {3}",
        scenario.clients, layout.threads, layout.threads == 1 ? "" : "s",
        divideUp(scenario.clients, layout.threads) + kOwnDescriptors, machine.descriptors,
        divideUp(scenario.clients, layout.threads) + kOwnDescriptors - machine.descriptors, least));
  }
  if (machine.system_descriptors > 0 && scenario.clients > machine.system_descriptors) {
    return Status::error(fmt::format(
        "{} clients, and only {} descriptors are free on the whole machine: raise fs.file-max by at least {}",
        scenario.clients, machine.system_descriptors, scenario.clients - machine.system_descriptors));
  }
  return {};
}

bool canTakeAddresses(const Scenario& scenario) noexcept {
  return scenario.loopback && scenario.target.family() == AF_INET;
}

// What helps a scenario that is short of ports.
std::string morePorts(const Scenario& scenario, uint32_t addresses) {
  if (canTakeAddresses(scenario))
    return fmt::format("--source-addresses {} is enough; without that option swarm chooses by itself",
                       addresses);
  return scenario.loopback
             ? "::1 is the only address to come from: load 127.0.0.1 instead, or widen that range"
             : "Away from loopback there is one address to come from: widen that range";
}

// A quarter of what each address opens quickly stays free, for connections of earlier runs that still wait to
// be forgotten (TIME_WAIT).
uint32_t addressesFor(const Scenario& scenario, const Machine& machine) noexcept {
  return divideUp(scenario.clients, std::max(machine.quickPorts() / 4 * 3, 1U));
}

Status checkPorts(const Scenario& scenario, const Machine& machine, Layout& layout) {
  const uint64_t addresses = std::max<uint64_t>(layout.source_addresses, 1);
  const uint64_t ports = addresses * machine.ports();
  const uint64_t quick = addresses * machine.quickPorts();
  const std::string range =
      fmt::format("net.ipv4.ip_local_port_range, {} to {}", machine.first_port, machine.last_port);
  if (scenario.clients > ports || (scenario.clients > quick && canTakeAddresses(scenario))) {
    return Status::error(fmt::format(
        "{} clients from {} source address{}: each has {} local ports ({}), of which the kernel finds {} "
        "quickly, "
        "those of one parity; that is room for {}, {} short. {}",
        scenario.clients, addresses, addresses == 1 ? "" : "es", machine.ports(), range, machine.quickPorts(),
        quick, scenario.clients - quick, morePorts(scenario, addressesFor(scenario, machine))));
  }
  if (scenario.clients > quick) {
    layout.warnings.push_back(fmt::format(
        "{} clients from one address: beyond {} connecting gets slow, since the kernel finds only the "
        "local ports of one parity quickly ({})",
        scenario.clients, quick, range));
  }
  return {};
}

}  // namespace

Machine readMachine() {
  Machine machine;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
    machine.descriptors = limit.rlim_cur;
  }
  const TwoNumbers all = readNumbers("/proc/sys/fs/file-max");
  const TwoNumbers used = readNumbers("/proc/sys/fs/file-nr");
  if (all.first > used.first) machine.system_descriptors = all.first - used.first;
  const TwoNumbers ports = readNumbers("/proc/sys/net/ipv4/ip_local_port_range");
  if (ports.second >= ports.first && ports.first > 0) {
    machine.first_port = static_cast<uint32_t>(ports.first);
    machine.last_port = static_cast<uint32_t>(ports.second);
  }
  machine.processors = processors();
  machine.available_bytes = availableMemoryBytes();
  return machine;
}

Result<Layout> planLayout(const Scenario& scenario, const Machine& machine) {
  Layout layout;
  if (machine.descriptors <= kOwnDescriptors) {
    return Status::error(fmt::format("the limit of {} descriptors is too low: ulimit -n {}",
                                     machine.descriptors, scenario.clients + kOwnDescriptors));
  }
  const uint64_t per_thread = machine.descriptors - kOwnDescriptors;
  layout.threads = scenario.threads;
  if (layout.threads == 0) {
    layout.threads =
        std::max(std::min(machine.processors, scenario.clients), divideUp(scenario.clients, per_thread));
    layout.threads = std::min(layout.threads, kMostThreads);
  }
  layout.threads = std::min(layout.threads, scenario.clients);
  Status status = checkDescriptors(scenario, machine, per_thread, layout);
  if (!status.ok()) return status;

  if (canTakeAddresses(scenario)) {
    layout.source_addresses = scenario.source_addresses >= 0
                                  ? static_cast<uint32_t>(scenario.source_addresses)
                                  : addressesFor(scenario, machine);
  } else if (scenario.source_addresses > 0) {
    layout.warnings.emplace_back("source_addresses goes with targets in 127.0.0.0/8 only: ignored");
  }
  status = checkPorts(scenario, machine, layout);
  if (!status.ok()) return status;
  const uint64_t kernel_bytes = scenario.clients * kKernelBytesPerEnd * (scenario.loopback ? 2 : 1);
  if (machine.available_bytes > 0 && kernel_bytes > machine.available_bytes) {
    layout.warnings.push_back(
        fmt::format("the kernel needs about {} MB for these connections, and {} MB are free",
                    kernel_bytes >> 20, machine.available_bytes >> 20));
  }
  return layout;
}

Status checkProcesses(const std::vector<int>& pids) {
  for (const int pid : pids) {
    if (readProcesses({pid}).ok) continue;
    return Status::error(
        fmt::format("--pid: there is no process {} here whose memory and processor time can be read", pid));
  }
  return {};
}

std::vector<net::SocketAddress> loopbackSources(uint32_t count) {
  std::vector<net::SocketAddress> sources;
  for (uint32_t i = 1; i <= count; ++i) {
    sources.push_back(
        net::SocketAddress::parse(fmt::format("127.{}.{}.{}", i >> 16 & 255, i >> 8 & 255, i & 255), 0)
            .value());
  }
  return sources;
}

}  // namespace roost::swarm
