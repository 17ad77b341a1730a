#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "net/address.h"
#include "tools/swarm/scenario.h"

namespace roost::swarm {

// What this machine allows.
struct Machine {
  uint64_t descriptors = 1024;                     // RLIMIT_NOFILE, which counts per table, so per thread
  uint64_t system_descriptors = 0;                 // of all processes that are free; 0: not known
  uint32_t processors = 1;                         // this program may use
  uint32_t first_port = 32768, last_port = 60999;  // that the system chooses from
  uint64_t available_bytes = 0;                    // of memory; 0: not known

  uint32_t ports() const noexcept { return last_port - first_port + 1; }
  // How many connections one source address opens quickly to one address and port. connect() tries the ports
  // of one parity first (Linux, __inet_hash_connect): once those are taken, every further attempt looks at
  // all of them in vain before it comes to the others.
  uint32_t quickPorts() const noexcept { return (ports() + 1) / 2; }
};
// Raises this process's limit of descriptors as far as allowed, then reads. Main thread.
Machine readMachine();

// How a run is spread over threads and source addresses.
struct Layout {
  uint32_t threads = 1;
  uint32_t source_addresses = 0;  // 0: the system chooses
  std::vector<std::string> warnings;
};
// Chooses what the scenario leaves open and checks the rest. Errors: descriptors, source addresses or ports
// that cannot suffice, with by how much and what to do.
Result<Layout> planLayout(const Scenario& scenario, const Machine& machine);

// Whether the server's processes are there to be watched. Errors: the first one that is not.
Status checkProcesses(const std::vector<int>& pids);

// 127.0.0.1, 127.0.0.2, ...; without ports.
std::vector<net::SocketAddress> loopbackSources(uint32_t count);

}  // namespace roost::swarm
