#pragma once

#include <cstdint>

namespace roost::swarm {

// When requests are due that are made at a fixed rate over all clients, decided before the first is sent
// (open loop): the s-th request of the whole run is due s / rate after the beginning and belongs to client
// s % clients. What a slow server delays is thereby never left out of the latencies, as it is where a client
// waits for an answer before it thinks of its next request (coordinated omission).
//
// Clients are dealt out to threads in turn: the thread's client i is the client i * threads + thread of the
// run. Pure arithmetic; any thread. REQUIRES: rate > 0.
class Schedule {
 public:
  Schedule(double rate, uint32_t clients, uint32_t threads, uint32_t thread) noexcept
      : period_ns_(1e9 / rate), clients_(clients), threads_(threads), thread_(thread) {}

  static uint32_t clientsOf(uint32_t clients, uint32_t threads, uint32_t thread) noexcept {
    return (clients - thread + threads - 1) / threads;
  }
  uint32_t ownClients() const noexcept { return clientsOf(clients_, threads_, thread_); }

  // When the n-th request (from 0) of the thread's client `own` is due, in nanoseconds from the beginning.
  int64_t dueNs(uint32_t own, uint64_t n) const noexcept {
    const double place = static_cast<double>(n) * clients_ + static_cast<double>(own) * threads_ + thread_;
    return static_cast<int64_t>(place * period_ns_);
  }
  // The same for the j-th request of the thread, whose clients take turns.
  int64_t dueNs(uint64_t j) const noexcept {
    return dueNs(static_cast<uint32_t>(j % ownClients()), j / ownClients());
  }
  // How many requests of the thread are due before `ns`.
  uint64_t dueBefore(int64_t ns) const noexcept;

 private:
  double period_ns_;
  uint32_t clients_;
  uint32_t threads_;
  uint32_t thread_;
};

inline uint64_t Schedule::dueBefore(int64_t ns) const noexcept {
  uint64_t low = 0;
  uint64_t high = static_cast<uint64_t>(static_cast<double>(ns > 0 ? ns : 0) / period_ns_) + 2;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (dueNs(middle) < ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace roost::swarm
