#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "metrics/counter.h"
#include "metrics/histogram.h"
#include "tools/swarm/broadcasts.h"

namespace roost::swarm {

// What can go wrong, as the report names it (errorName).
enum class ErrorKind : uint8_t {
  kRefused,  // connecting: ECONNREFUSED
  kConnectTimeout,
  kConnectFailed,  // any other failure of connecting
  kNoDescriptor,   // this machine is short of something
  kNoPort,
  kHandshake,  // a WebSocket or event stream was not granted
  kReset,
  kClosedEarly,  // the server ended a connection that owed something, or was never asked
  kInVain,       // pipelined behind an answer that was the connection's last
  kTimeout,
  kStatus,
  kLength,
  kBody,
  kProtocol,  // bytes that are no answer
  kTooEarly,
  kTooLate,
  kNoNumber,  // a message without the number that was expected
  kLost,
  kDuplicate,
  kReordered,
  kGap,      // the server says that messages are missing
  kPublish,  // a message that swarm published was refused, or its answer did not come
  kCount
};
constexpr size_t kErrorKinds = static_cast<size_t>(ErrorKind::kCount);
std::string_view errorName(ErrorKind kind) noexcept;  // "connection refused"
std::string_view errorKey(ErrorKind kind) noexcept;   // "connect_refused", for JSON

constexpr uint64_t kLongestNs = 86'400'000'000'000;  // what a histogram tells apart

// A histogram of nanoseconds: a bucket is at most 0.8 % wide.
class Latencies final : public metrics::Histogram {
 public:
  Latencies() : Histogram(kLongestNs, 8) {}
  double meanNs() const noexcept {
    return count() == 0 ? 0 : static_cast<double>(sum()) / static_cast<double>(count());
  }
};

// What the measured time began and ended with, by the thread's own account.
struct WindowMark {
  int64_t at_ns = 0;
  int64_t cpu_ns = 0;     // of the thread
  int64_t waited_ns = 0;  // ready to run while something else had the processor
  int64_t idle_ns = 0;    // of which it polled in vain
  uint64_t requests = 0, replies = 0, messages = 0, bytes_in = 0, bytes_out = 0;
};

// What one thread counts. The thread writes, any thread may read the counters and histograms; the rest may be
// read once the thread has ended.
struct Stats {
  metrics::Counter attempts;   // to connect
  metrics::Counter connected;  // attempts that succeeded
  metrics::Counter reopened;   // after the server ended a connection in good order
  metrics::Gauge open;         // connections that stand and may be asked
  metrics::Gauge waiting;      // requests that are not answered yet, each of a pipeline
  metrics::Gauge done;         // clients that need nothing more
  metrics::Gauge settled;      // clients that have connected or failed at least once
  metrics::Counter requests, replies, messages, bytes_in, bytes_out;
  metrics::Counter empty_answers;  // to polls: nothing new in time
  metrics::Counter published;      // messages that the server has taken from swarm
  std::array<metrics::Counter, kErrorKinds> errors;

  Latencies connect;     // from the attempt to the connection that may be asked
  Latencies latency;     // from when a request was due
  Latencies service;     // from when it was sent; differs at a fixed rate only
  Latencies send_delay;  // from when it was due to when it was sent though nothing hindered it: our own fault
  Latencies delivery;    // from when a message says it was sent
  Latencies publishing;  // from when it was sent until the publisher was answered

  std::array<std::string, kErrorKinds> first_error;  // what the first of each kind looked like
  Broadcasts broadcasts;
  WindowMark begin, end;
  uint64_t unanswered = 0;     // at the end of all
  uint64_t unsent = 0;         // due, and never sent: the client waited for an answer or a connection
  uint64_t unsent_own = 0;     // due, and never sent though nothing hindered it: our own fault
  uint64_t least_latency = 0;  // entries of `latency` that would have become longer after the end
  int64_t last_connect_ns = 0;
  uint64_t head_bytes = 0;  // of an answer
  uint64_t body_hash = 0;   // of the first answer
  bool has_body_hash = false;

  uint64_t errorCount() const noexcept {
    uint64_t sum = 0;
    for (const metrics::Counter& counter : errors) sum += counter.value();
    return sum;
  }
};

}  // namespace roost::swarm
