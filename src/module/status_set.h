#pragma once

#include <bitset>

#include "config/node.h"

namespace roost::module {

// The statuses that a list in the configuration names: 404, or "4xx" for all of a class. Immutable; any
// thread.
class StatusSet {
 public:
  StatusSet() noexcept = default;
  // REQUIRES: integers from 100 to 599 and texts "1xx" to "5xx", as the schema says.
  static StatusSet of(config::Node list);

  void add(int status) noexcept { bits_.set(static_cast<size_t>(status)); }
  bool has(int status) const noexcept {
    return status >= 0 && status < kEnd && bits_[static_cast<size_t>(status)];
  }
  bool empty() const noexcept { return bits_.none(); }

 private:
  static constexpr int kEnd = 600;
  std::bitset<kEnd> bits_;
};

}  // namespace roost::module
