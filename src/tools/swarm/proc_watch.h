#pragma once

#include <cstdint>
#include <vector>

namespace roost::swarm {

// What processes and the kernel take, read from /proc. Memory is what matters per connection: RssAnon of a
// process (its heap and stacks; files it has mapped are left out), and of the kernel what the Slab allocator
// holds (sockets, inodes, dentries, files, epoll items) and the pages of TCP buffers (sockstat's "mem").

struct ProcessUse {
  bool ok = false;  // every process could be read
  uint64_t anon_bytes = 0;
  int64_t waited_ns = 0;  // ready to run while something else had the processor
  int64_t cpu_ns = 0;     // all threads, by the scheduler's own account
};
// Of the calling thread.
int64_t ownWaitedNs();
// All of them together; -1 among them stands for this process.
ProcessUse readProcesses(const std::vector<int>& pids);

struct KernelUse {
  uint64_t slab_bytes = 0;
  uint64_t tcp_bytes = 0;
};
// Of the whole machine: both ends of a connection over loopback are in it, and whatever else goes on.
KernelUse readKernel();

uint64_t availableMemoryBytes();  // MemAvailable; 0: not known

// Two numbers of /proc/sys/... or the like; 0 where there are none.
struct TwoNumbers {
  uint64_t first = 0, second = 0;
};
TwoNumbers readNumbers(const char* path);

}  // namespace roost::swarm
