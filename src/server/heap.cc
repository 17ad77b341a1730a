#include "server/heap.h"

#include <algorithm>
#include <atomic>
#include <cstddef>

#ifdef ROOST_JEMALLOC
#include <jemalloc/jemalloc.h>
#include <sys/resource.h>

#include <cstdio>
#include <string>
#else
#include <malloc.h>
#endif

#ifdef ROOST_JEMALLOC
// Read by jemalloc before main(). Pages are given back a second after they were freed, and at once rather
// than marked as free to take (muzzy_decay_ms), which would leave them in the process's resident memory. A
// block of any size waits for that: the thread that frees it never calls the system (oversize_threshold).
// Addresses go back, too (retain): a process with RLIMIT_AS needs them for its reserve (base/memory.h).
// NOLINTNEXTLINE(readability-identifier-naming): jemalloc's name
extern "C" const char* malloc_conf;
const char* malloc_conf =
    "background_thread:false,max_background_threads:1,dirty_decay_ms:1000,muzzy_decay_ms:0,"
    "oversize_threshold:0,retain:false";
#endif

namespace roost::server::heap {
namespace {

std::atomic<int64_t> g_reusable_bytes{0};

uint64_t countedReusable() noexcept {
  return static_cast<uint64_t>(std::max<int64_t>(0, g_reusable_bytes.load(std::memory_order_relaxed)));
}

#ifdef ROOST_JEMALLOC
size_t number(const char* name) noexcept {
  size_t value = 0;
  size_t size = sizeof value;
  return ::mallctl(name, &value, &size, nullptr, 0) == 0 ? value : 0;
}

// Summed over all arenas.
const std::string& purgedName() {
  static const std::string name = "stats.arenas." + std::to_string(MALLCTL_ARENAS_ALL) + ".dirty_purged";
  return name;
}
#endif

}  // namespace

void countReusable(int64_t bytes) noexcept {
  g_reusable_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

#ifdef ROOST_JEMALLOC

namespace {

bool isLimited(__rlimit_resource resource) noexcept {
  rlimit limit{};
  return ::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

// Makes the arenas that jemalloc would make when threads begin: a thread for which there is no room to make
// one crashes in its first allocation. A thread that names an arena as its own has it made.
void makeArenas() noexcept {
  unsigned count = 0;
  unsigned own = 0;
  size_t size = sizeof count;
  if (::mallctl("opt.narenas", &count, &size, nullptr, 0) != 0) return;
  if (::mallctl("thread.arena", &own, &size, nullptr, 0) != 0) return;
  for (unsigned i = 0; i < count; ++i) ::mallctl("thread.arena", nullptr, nullptr, &i, sizeof i);
  ::mallctl("thread.arena", nullptr, nullptr, &own, sizeof own);
}

}  // namespace

uint64_t addressesPerThread() noexcept {
  return 0;
}

Status start() noexcept {
  if (isLimited(RLIMIT_AS) || isLimited(RLIMIT_DATA)) makeArenas();
  bool on = true;
  const int rc = ::mallctl("background_thread", nullptr, nullptr, &on, sizeof on);
  return rc == 0 ? Status{} : Status::fromErrno(rc, "cannot start the thread that gives memory back");
}

Use use() noexcept {
  uint64_t epoch = 1;  // any number: the figures are brought up to date
  ::mallctl("epoch", nullptr, nullptr, &epoch, sizeof epoch);
  const size_t resident = number("stats.resident");
  const size_t needed = number("stats.allocated") + number("stats.metadata");
  constexpr uint64_t kPageBytes = 4096;
  return {resident, (resident > needed ? resident - needed : 0) + countedReusable(),
          number(purgedName().c_str()) * kPageBytes};
}

void flushThreadCache() noexcept {
  ::mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
}

void trim() noexcept {}

#else

uint64_t addressesPerThread() noexcept {
  return 64 << 20;
}  // an arena of the C library's

Status start() noexcept {
  return {};
}

Use use() noexcept {
  return {0, countedReusable(), 0};
}

void flushThreadCache() noexcept {}

void trim() noexcept {
  ::malloc_trim(0);
}

#endif

}  // namespace roost::server::heap
