#include "server/processors.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <cerrno>
#include <memory>

namespace roost::server {
namespace {

struct FreeSet {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};

}  // namespace

std::vector<int> allowedProcessors() {
  // The kernel refuses a set smaller than its own; how large that is, it does not say.
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
    const std::unique_ptr<cpu_set_t, FreeSet> set(CPU_ALLOC(static_cast<size_t>(capacity)));
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(capacity));
    if (set == nullptr) break;
    if (::sched_getaffinity(0, bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;
      break;
    }
    std::vector<int> processors;
    for (int i = 0; i < capacity; ++i) {
      if (CPU_ISSET_S(static_cast<size_t>(i), bytes, set.get())) processors.push_back(i);
    }
    if (!processors.empty()) return processors;
    break;
  }
  return {0};
}

Status pinThisThread(int processor) {
  const auto count = static_cast<size_t>(processor) + 1;
  const std::unique_ptr<cpu_set_t, FreeSet> set(CPU_ALLOC(count));
  const size_t bytes = CPU_ALLOC_SIZE(count);
  if (set == nullptr) return Status::fromErrno(ENOMEM, "cpu affinity");
  CPU_ZERO_S(bytes, set.get());
  CPU_SET_S(static_cast<size_t>(processor), bytes, set.get());
  const int error = ::pthread_setaffinity_np(::pthread_self(), bytes, set.get());
  return error == 0 ? Status{}
                    : Status::fromErrno(error, fmt::format("cannot run on processor {}", processor));
}

}  // namespace roost::server
