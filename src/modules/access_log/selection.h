// Which requests are logged.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace roost::modules::access_log {

// By status and by lot. Immutable once set up.
class Selection {
 public:
  enum class Rule : uint8_t { kNever, kSample, kAlways };

  // `share` of the requests, 0 to 1, of those statuses whose rule is kSample; that is all of them at first.
  explicit Selection(double share) noexcept
      : least_lot_(static_cast<uint64_t>((1 - share) * static_cast<double>(kLots))) {
    rules_.fill(Rule::kSample);
  }
  void setAll(Rule rule) noexcept { rules_.fill(rule); }
  // `statuses`: "404", or "4xx" for all of them. REQUIRES: it is one or the other.
  void set(const std::string& statuses, Rule rule) noexcept;

  bool needsLot() const noexcept { return least_lot_ != 0; }
  // Where there is no lot, any will do.
  bool wants(int status, uint64_t lot) const noexcept {
    const Rule rule = rules_[static_cast<size_t>(status) < rules_.size() ? static_cast<size_t>(status) : 0];
    return rule == Rule::kAlways || (rule == Rule::kSample && lot >= least_lot_);
  }
  // By the request's id, so that every log that samples alike has the same requests, and neither the order of
  // requests nor the connection has an influence.
  static constexpr uint64_t kLots = uint64_t{1} << 32;
  static uint64_t lotOf(std::string_view request_id) noexcept;

 private:
  uint64_t least_lot_;
  std::array<Rule, 1000> rules_;
};

inline void Selection::set(const std::string& statuses, Rule rule) noexcept {
  const size_t hundred = static_cast<size_t>(statuses[0] - '0') * 100;
  if (statuses[1] == 'x') {
    for (size_t i = 0; i < 100; ++i) rules_[hundred + i] = rule;
  } else {
    rules_[static_cast<size_t>(std::stoi(statuses))] = rule;
  }
}

inline uint64_t Selection::lotOf(std::string_view request_id) noexcept {
  uint64_t words[2] = {};
  if (request_id.size() >= sizeof words)
    std::memcpy(words, request_id.data() + request_id.size() - sizeof words, sizeof words);
  uint64_t mixed = words[0] * 0x9e3779b97f4a7c15 + words[1] * 0xc2b2ae3d27d4eb4f;
  mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9;
  return (mixed ^ (mixed >> 32)) >> 32;
}

}  // namespace roost::modules::access_log
