#include "modules/tcp_echo/work.h"

#include <ctime>

#include <chrono>
#include <thread>

#include "base/random.h"

namespace roost::modules::tcp_echo {
namespace {

int64_t threadCpuNs() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Time that other threads have had does not count.
void compute(uint32_t us) noexcept {
  constexpr int kRoundsPerLook = 2000;  // some microseconds
  const int64_t end_ns = threadCpuNs() + int64_t{us} * 1000;
  uint64_t word = 1;
  while (threadCpuNs() < end_ns) {
    for (int i = 0; i < kRoundsPerLook; ++i) word = scrambled(word);
  }
  volatile uint64_t kept = word;
  static_cast<void>(kept);
}

}  // namespace

void doWork(const Work& work) noexcept {
  switch (work.kind) {
    case Work::Kind::kNone:
      return;
    case Work::Kind::kSleep:
      std::this_thread::sleep_for(std::chrono::microseconds(work.us));
      return;
    case Work::Kind::kCpu:
      compute(work.us);
      return;
  }
}

}  // namespace roost::modules::tcp_echo
