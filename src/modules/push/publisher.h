#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/rate_table.h"
#include "base/sip_hash.h"
#include "modules/push/publish_options.h"
#include "modules/push/runtime.h"
#include "push/hub.h"

namespace roost::metrics {
class Counter;
}

namespace roost::modules::push {

// Why a message was not published, as a label of the metric.
enum class Refusal : uint8_t { kSize, kName, kField, kForbidden, kRate, kChannels, kOverload, kMemory };
constexpr size_t kRefusalCount = 8;

// What one loop counts of a route's publishing, whatever the route's clients publish by. Outlives the loops.
struct PublishCounters {
  metrics::Counter* messages = nullptr;
  metrics::Counter* bytes = nullptr;
  metrics::Counter* queued = nullptr;  // that waited for room
  std::array<metrics::Counter*, kRefusalCount> refused{};

  // What became of a message of so many bytes.
  void count(const ::roost::push::PublishResult& result, size_t message_bytes) const noexcept;
  // It was refused before the hub saw it.
  void count(Refusal why) const noexcept;
};

// A route's way into the hub. Immutable; any loop's thread. It may go with its Service while a publication is
// under way.
class Publisher {
 public:
  // `route` is a label of its metrics. `runtime` outlives this; it may keep it, and so is not kept by it.
  // Errors: no memory.
  static Result<std::shared_ptr<const Publisher>> make(const PublishOptions& options, std::string_view route,
                                                       Runtime& runtime);

  const PublishOptions& options() const noexcept { return options_; }
  const Runtime& runtime() const noexcept { return runtime_; }

  // A number for the client that a request comes from: its address, as rate_limit takes it. REQUIRES: not
  // parked.
  uint64_t sourceOf(const http::Exchange& exchange) const noexcept;
  // Counts a message of that client to that channel against messages_per_second. 0: it may be published;
  // otherwise it may not, and after so many nanoseconds one may.
  int64_t admit(uint64_t source, std::string_view channel, int64_t now_ns) const noexcept;

  // Publishes payload, type, event, key and wait as they stand in `message`; the rest is the route's. `call`
  // is asked as push::Shard::publish says.
  void publish(const http::LoopContext& context, std::string_view channel, ::roost::push::Publication message,
               std::unique_ptr<::roost::push::PublishCall> call) const noexcept;

  // Those of the context's loop.
  const PublishCounters& counters(const http::LoopContext& context) const noexcept {
    return (*counters_)[context.index()];
  }

 private:
  Publisher(const PublishOptions& options, std::string_view route, Runtime& runtime,
            std::unique_ptr<RateTable> rates);

  const PublishOptions options_;
  const std::unique_ptr<RateTable> rates_;  // by client and channel; nullptr: as fast as they like
  const SipKey secret_ = SipKey::random();
  const Runtime& runtime_;
  // By loop; filled before the loops run.
  const std::shared_ptr<std::vector<PublishCounters>> counters_ =
      std::make_shared<std::vector<PublishCounters>>();
};

// The status of an answer: 201, 202, 422, 503 or 507.
int statusOf(const ::roost::push::PublishResult& result) noexcept;
// What a client is told that publishes faster than it may.
constexpr std::string_view kTooFast = "you publish to this channel faster than you may";
// In words, for what is not published.
std::string_view textOf(::roost::push::PublishStatus status) noexcept;

}  // namespace roost::modules::push
