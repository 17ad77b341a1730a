#include "server/housekeeper.h"

#include <sys/resource.h>

#include <chrono>
#include <ctime>

#include "server/heap.h"

namespace roost::server {
namespace {

constexpr uint64_t kLongestNs = 1'000'000'000;

// Measures how long the calling thread is busy, or waits for a lock, with something. Where the kernel gives
// its processor to another thread meanwhile, only what it used of the processor counts.
class Stopwatch {
 public:
  Stopwatch() noexcept : begun_(now()) {}
  uint64_t takenNs() const noexcept {
    const Reading end = now();
    const int64_t taken = end.preempted == begun_.preempted ? end.wall_ns - begun_.wall_ns
                                                            : end.processor_ns - begun_.processor_ns;
    return static_cast<uint64_t>(taken);
  }

 private:
  struct Reading {
    int64_t wall_ns;
    int64_t processor_ns;
    long preempted;  // times
  };
  static int64_t read(clockid_t clock) noexcept {
    timespec time{};
    ::clock_gettime(clock, &time);
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  }
  static Reading now() noexcept {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return {read(CLOCK_MONOTONIC), read(CLOCK_THREAD_CPUTIME_ID), usage.ru_nivcsw};
  }

  const Reading begun_;
};

}  // namespace

Housekeeper::Housekeeper(net::IoContext& io, http::h1::Protocol& protocol, metrics::Registry& metrics)
    : io_(io),
      protocol_(protocol),
      took_(metrics.histogram(
          {"roost_memory_give_back_nanoseconds",
           "Time of one call in which a loop gives back memory that it no longer needs, without that of "
           "other threads that had its processor meanwhile.",
           "nanoseconds"},
          kLongestNs)) {}

Housekeeper::~Housekeeper() {
  io_.loop().cancel(*this);
  heap::countReusable(-reusable_bytes_);
}

void Housekeeper::start() noexcept {
  io_.loop().armIn(*this, std::chrono::milliseconds(kPauseMs));
}

void Housekeeper::onTimer() noexcept {
  const Stopwatch watch;
  // What is kept for later is measured over a whole pause; only the sessions go in several steps.
  if (!goes_on_) io_.giveBack();
  goes_on_ = protocol_.giveBack(!goes_on_);
  if (!goes_on_) heap::flushThreadCache();
  countReusable();
  took_.record(watch.takenNs());
  io_.loop().armIn(*this, std::chrono::milliseconds(goes_on_ ? kStepMs : kPauseMs));
}

void Housekeeper::countReusable() noexcept {
  const auto bytes = static_cast<int64_t>(io_.reusableBytes());
  heap::countReusable(bytes - reusable_bytes_);
  reusable_bytes_ = bytes;
}

}  // namespace roost::server
