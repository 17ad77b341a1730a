// How much memory requests may take for their bodies.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "metrics/counter.h"

namespace roost::tables {

// BodyBudget limits the memory that bodies take between their first byte and the database's answer, across
// all loops: while the database hangs, they all wait.
//
// Shared by the BodyLeases taken of it. Thread-safe.
class BodyBudget {
 public:
  // `held`: follows what is taken; `refused` counts what was not. Both outlive the budget.
  BodyBudget(size_t most_bytes, metrics::Gauge& held, metrics::Counter& refused) noexcept
      : most_bytes_(most_bytes), held_(held), refused_(refused) {}

  bool take(size_t bytes) noexcept;  // false: there are not so many left
  void give(size_t bytes) noexcept;
  size_t taken() const noexcept;

 private:
  const size_t most_bytes_;
  mutable std::mutex mutex_;  // of what follows; the metrics have one writer at a time by it
  size_t taken_ = 0;
  metrics::Gauge& held_;
  metrics::Counter& refused_;
};

// What one request has taken of a BodyBudget. Goes wherever its body goes, and gives all of it back when it
// is destroyed. One thread at a time.
class BodyLease {
 public:
  BodyLease() noexcept = default;  // of no budget: takes whatever is asked for
  explicit BodyLease(std::shared_ptr<BodyBudget> budget) noexcept : budget_(std::move(budget)) {}
  BodyLease(BodyLease&& other) noexcept
      : budget_(std::move(other.budget_)),
        bytes_(std::exchange(other.bytes_, 0)),
        spare_(std::exchange(other.spare_, 0)) {}
  BodyLease& operator=(BodyLease&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    std::swap(spare_, other.spare_);
    return *this;
  }
  ~BodyLease() {
    if (budget_ != nullptr) budget_->give(bytes_ + spare_);
  }

  bool take(size_t bytes) noexcept;
  void give(size_t bytes) noexcept;  // of what take() has taken, at most all of it

 private:
  // Taken of the budget at a time, so that a value costs no lock.
  static constexpr size_t kStep = 16 * 1024;

  std::shared_ptr<BodyBudget> budget_;
  size_t bytes_ = 0;
  size_t spare_ = 0;  // taken of the budget, and not asked for yet
};

}  // namespace roost::tables
