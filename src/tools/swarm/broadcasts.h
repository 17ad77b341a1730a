#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "metrics/histogram.h"

namespace roost::swarm {

// One numbered message, and how long after its publication each of its receivers had it.
struct Broadcast {
  Broadcast() : latencies(kLongestNs, 7) {}
  static constexpr uint64_t kLongestNs = 3'600'000'000'000;

  uint64_t number = 0;
  int64_t sent_ns = 0;           // CLOCK_MONOTONIC, as the message says; tells messages of one number apart
  uint64_t least_ns = 0;         // until the first receiver had it
  double squares = 0;            // sum of the squares of seconds
  metrics::Histogram latencies;  // count() receivers; max() is the last one's

  double meanNs() const noexcept;
  double deviationNs() const noexcept;  // of all receivers, not of a sample
};

// What became of each message that went to many: the first kMost of them; the rest is only counted. About 20
// KB each. A thread has its own; once they have ended they are merged.
class Broadcasts {
 public:
  static constexpr size_t kMost = 128;

  // A receiver has had the message, `latency_ns` after sent_ns.
  void add(uint64_t number, int64_t sent_ns, uint64_t latency_ns);
  void merge(const Broadcasts& other);

  const std::vector<std::unique_ptr<Broadcast>>& list() const noexcept {
    return list_;
  }                                                        // by sent_ns once merged
  uint64_t leftOut() const noexcept { return left_out_; }  // deliveries of messages beyond kMost

 private:
  Broadcast* find(uint64_t number, int64_t sent_ns);

  std::vector<std::unique_ptr<Broadcast>> list_;
  size_t last_ = 0;  // found last
  uint64_t left_out_ = 0;
};

}  // namespace roost::swarm
