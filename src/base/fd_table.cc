#include "base/fd_table.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace roost {
namespace {

std::atomic<uint32_t> g_last_table{0};
thread_local uint32_t t_table = 0;

bool closeRange(unsigned first, unsigned last) noexcept {
  return first > last || ::syscall(SYS_close_range, first, last, 0U) == 0;
}

}  // namespace

Status splitFdTable(std::vector<int> keep) {
  if (::unshare(CLONE_FILES) != 0) return Status::fromErrno(errno, "unshare the table of descriptors");
  t_table = g_last_table.fetch_add(1, std::memory_order_relaxed) + 1;
  std::sort(keep.begin(), keep.end());
  unsigned first = STDERR_FILENO + 1;
  for (const int fd : keep) {
    if (fd < static_cast<int>(first)) continue;
    const auto kept = static_cast<unsigned>(fd);
    if (!closeRange(first, kept - 1)) return Status::fromErrno(errno, "close_range");
    first = kept + 1;
  }
  return closeRange(first, ~0U) ? Status{} : Status::fromErrno(errno, "close_range");
}

uint32_t fdTable() noexcept {
  return t_table;
}

}  // namespace roost
