#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/sip_hash.h"
#include "http/exchange.h"
#include "http/prepared_response.h"
#include "metrics/counter.h"
#include "metrics/histogram.h"
#include "modules/push/subscribe.h"
#include "push/hub.h"

namespace roost::metrics {
class Registry;
}

namespace roost::modules::push {

namespace hub = ::roost::push;

enum class Transport : uint8_t { kLongPoll, kEvents, kWebSocket };
constexpr size_t kTransports = 3;

// What one loop counts of one route's subscribers.
struct SubscribeCounters {
  SubscribeCounters(metrics::Registry& registry, const std::string& route);

  std::array<metrics::Gauge*, kTransports> subscribers{};
  std::array<metrics::Counter*, kTransports> deliveries{};
  metrics::Histogram* lag_ns;  // from publication to the kernel's having it
  metrics::Counter* gaps;
  metrics::Counter* slow;     // times that a client did not take what it was sent
  metrics::Counter* refused;  // by a limit
};

// Clients choose the paths, and must not be able to choose ones that collide.
struct PathHash {
  size_t operator()(const std::string& path) const noexcept { return sipHash13(key, path); }
  SipKey key = SipKey::random();
};

class DeskRef;
class Place;
class PlaceRef;

// What the subscribers of one route have in common on one loop; outlives the route's handler and its
// configuration for as long as one of them is there. Counted, because the handler may be destroyed on another
// thread; everything else on its loop's.
class Desk {
 public:
  // Made when the first subscriber comes, of whose route the head filters are.
  static DeskRef make(std::shared_ptr<const SubscribeOptions> options, std::string_view server_header,
                      const http::Exchange& first, hub::Shard& shard, const SubscribeCounters& counters);
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  DeskRef share() noexcept;
  hub::Shard& shard() const noexcept { return shard_; }
  const SubscribeOptions& options() const noexcept { return *options_; }
  const SubscribeCounters& counters() const noexcept { return counters_; }
  http::LoopContext& context() const noexcept { return context_; }

  // A number below `range`, another one each time. 0 where that is 0.
  uint32_t some(uint32_t range) noexcept;
  // The loop's coarse time in steps of about a millisecond, to tell news from history with.
  uint32_t nowStep() const noexcept { return step(context_.loop().nowNs()); }
  // Counts a delivery; its lag only if the message was published after `since`.
  void countDelivery(Transport transport, const hub::Message& message, uint32_t since) const noexcept;
  // Refuses for want of room: 503 or what is given, with Retry-After.
  void refuse(http::Exchange& exchange, int status) noexcept;

 private:
  friend class DeskRef;
  friend class PlaceRef;
  friend class Place;
  static uint32_t step(int64_t ns) noexcept { return static_cast<uint32_t>(static_cast<uint64_t>(ns) >> 20); }
  Desk(std::shared_ptr<const SubscribeOptions> options, std::string_view server_header,
       const http::Exchange& first, hub::Shard& shard, const SubscribeCounters& counters);
  ~Desk();
  void ref() noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  void unref() noexcept {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  std::atomic<uint32_t> refs_{1};
  const std::shared_ptr<const SubscribeOptions> options_;
  const std::string server_header_;
  http::LoopContext& context_;
  hub::Shard& shard_;
  const SubscribeCounters counters_;
  const std::vector<std::shared_ptr<const http::HeadFilter>> head_filters_;
  uint64_t random_;
  std::unordered_map<std::string, std::unique_ptr<Place>, PathHash> places_;  // where filters look at paths
  std::unique_ptr<Place> everywhere_;                                         // where there are none
};

class DeskRef {
 public:
  DeskRef() noexcept = default;
  explicit DeskRef(Desk* desk) noexcept : desk_(desk) {}
  DeskRef(const DeskRef& other) noexcept : desk_(other.desk_) {
    if (desk_ != nullptr) desk_->ref();
  }
  DeskRef(DeskRef&& other) noexcept : desk_(std::exchange(other.desk_, nullptr)) {}
  DeskRef& operator=(DeskRef other) noexcept {
    std::swap(desk_, other.desk_);
    return *this;
  }
  ~DeskRef() {
    if (desk_ != nullptr) desk_->unref();
  }
  explicit operator bool() const noexcept { return desk_ != nullptr; }
  Desk* operator->() const noexcept { return desk_; }
  Desk& operator*() const noexcept { return *desk_; }

 private:
  Desk* desk_ = nullptr;
};

// The answers of one path: what its route's head filters make of them is the same for all who wait there, and
// is made once for a message. Owned by its desk, for as long as somebody is there.
class Place {
 public:
  Place(Desk& desk, std::string path) noexcept : desk_(desk), path_(std::move(path)) {}

  Desk& desk() const noexcept { return desk_; }
  // What the route's head filters do to an answer.
  void filterHead(http::ResponseHead& head) const noexcept;
  // A message as a long poll's answer. The last one is kept ready.
  http::PreparedResponse& answerOf(const hub::Message& message);
  static constexpr size_t kMostKept = 16 << 10;  // bytes of payload; larger ones are not copied

 private:
  friend class PlaceRef;
  Desk& desk_;
  uint32_t refs_ = 0;
  const std::string path_;
  http::PreparedResponse kept_;
  const hub::Message* kept_of_ = nullptr;  // only compared: it may be gone, and another one in its place
  hub::MessageId kept_id_;
  int64_t kept_ns_ = 0;
};

// Loop thread only.
class PlaceRef {
 public:
  PlaceRef(Desk& desk, std::string_view path);  // the exchange's
  PlaceRef(PlaceRef&& other) noexcept : place_(std::exchange(other.place_, nullptr)) {}
  PlaceRef& operator=(PlaceRef&&) = delete;
  ~PlaceRef();
  Place* operator->() const noexcept { return place_; }

 private:
  Place* place_;
};

// The head of an answer that is a message, or (without one) that there is none yet behind `id`.
void addIdentity(http::ResponseHead& head, const hub::MessageId& id, const SubscribeOptions& options);
void addMessage(http::ResponseHead& head, const hub::Message& message, const SubscribeOptions& options);

}  // namespace roost::modules::push
