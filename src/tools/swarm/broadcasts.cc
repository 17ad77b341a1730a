#include "tools/swarm/broadcasts.h"

#include <algorithm>
#include <cmath>

namespace roost::swarm {

double Broadcast::meanNs() const noexcept {
  const uint64_t count = latencies.count();
  return count == 0 ? 0 : static_cast<double>(latencies.sum()) / static_cast<double>(count);
}

double Broadcast::deviationNs() const noexcept {
  const uint64_t count = latencies.count();
  if (count == 0) return 0;
  const double mean_s = meanNs() / 1e9;
  return std::sqrt(std::max(squares / static_cast<double>(count) - mean_s * mean_s, 0.0)) * 1e9;
}

// The one of that number and time, made where it is new; nullptr: there are too many.
Broadcast* Broadcasts::find(uint64_t number, int64_t sent_ns) {
  const auto is = [&](const Broadcast& each) { return each.number == number && each.sent_ns == sent_ns; };
  if (last_ < list_.size() && is(*list_[last_])) return list_[last_].get();
  for (last_ = list_.size(); last_-- > 0;) {
    if (is(*list_[last_])) return list_[last_].get();
  }
  last_ = 0;
  if (list_.size() >= kMost) return nullptr;
  list_.push_back(std::make_unique<Broadcast>());
  last_ = list_.size() - 1;
  list_.back()->number = number;
  list_.back()->sent_ns = sent_ns;
  list_.back()->least_ns = UINT64_MAX;
  return list_.back().get();
}

void Broadcasts::add(uint64_t number, int64_t sent_ns, uint64_t latency_ns) {
  Broadcast* const broadcast = find(number, sent_ns);
  if (broadcast == nullptr) {
    ++left_out_;
    return;
  }
  const double latency_s = static_cast<double>(latency_ns) / 1e9;
  broadcast->squares += latency_s * latency_s;
  broadcast->least_ns = std::min(broadcast->least_ns, latency_ns);
  broadcast->latencies.record(latency_ns);
}

void Broadcasts::merge(const Broadcasts& other) {
  left_out_ += other.left_out_;
  for (const auto& theirs : other.list_) {
    Broadcast* const broadcast = find(theirs->number, theirs->sent_ns);
    if (broadcast == nullptr) {
      left_out_ += theirs->latencies.count();
      continue;
    }
    broadcast->squares += theirs->squares;
    broadcast->least_ns = std::min(broadcast->least_ns, theirs->least_ns);
    broadcast->latencies.merge(theirs->latencies);
  }
  std::stable_sort(list_.begin(), list_.end(),
                   [](const auto& a, const auto& b) { return a->sent_ns < b->sent_ns; });
}

}  // namespace roost::swarm
