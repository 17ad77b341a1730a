#include "tables/body_budget.h"

#include <algorithm>
#include <cassert>

namespace roost::tables {

bool BodyBudget::take(size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  if (bytes > most_bytes_ - taken_) {
    refused_.add();
    return false;
  }
  taken_ += bytes;
  held_.set(static_cast<int64_t>(taken_));
  return true;
}

void BodyBudget::give(size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  assert(bytes <= taken_);
  taken_ -= bytes;
  held_.set(static_cast<int64_t>(taken_));
}

size_t BodyBudget::taken() const noexcept {
  const std::lock_guard lock(mutex_);
  return taken_;
}

bool BodyLease::take(size_t bytes) noexcept {
  if (budget_ == nullptr) return true;
  if (bytes > spare_) {
    const size_t wanted = std::max(bytes - spare_, kStep);
    if (!budget_->take(wanted)) return false;
    spare_ += wanted;
  }
  spare_ -= bytes;
  bytes_ += bytes;
  return true;
}

void BodyLease::give(size_t bytes) noexcept {
  if (budget_ == nullptr) return;
  bytes = std::min(bytes, bytes_);
  bytes_ -= bytes;
  spare_ += bytes;
  if (spare_ < 2 * kStep) return;
  budget_->give(spare_);
  spare_ = 0;
}

}  // namespace roost::tables
