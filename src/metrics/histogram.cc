#include "metrics/histogram.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace roost::metrics {
namespace {

size_t bucketsFor(uint64_t max_value, unsigned significant_bits) noexcept {
  assert(significant_bits >= 1 && significant_bits <= 16);
  const uint64_t half = uint64_t{1} << (significant_bits - 1);
  const unsigned top = 63U - static_cast<unsigned>(__builtin_clzll(max_value | half));
  const unsigned shift = top - (significant_bits - 1);
  return static_cast<size_t>((uint64_t{shift} << (significant_bits - 1)) + (max_value >> shift)) + 1;
}

}  // namespace

Histogram::Histogram(uint64_t max_value, unsigned significant_bits)
    : significant_bits_(significant_bits),
      linear_limit_(uint64_t{1} << significant_bits),
      max_value_(max_value),
      bucket_count_(bucketsFor(max_value, significant_bits)),
      buckets_(new Cell[bucket_count_]()) {}

uint64_t Histogram::bucketLow(size_t index) const noexcept {
  if (index < linear_limit_) return index;
  const unsigned half_bits = significant_bits_ - 1;
  const uint64_t shift = (index >> half_bits) - 1;
  return (index - (shift << half_bits)) << shift;
}

uint64_t Histogram::bucketHigh(size_t index) const noexcept {
  if (index < linear_limit_) return index;
  const unsigned shift = static_cast<unsigned>((index >> (significant_bits_ - 1)) - 1);
  return bucketLow(index) + ((uint64_t{1} << shift) - 1);
}

uint64_t Histogram::count() const noexcept {
  uint64_t total = 0;
  for (size_t i = 0; i < bucket_count_; ++i) total += bucketValue(i);
  return total;
}

uint64_t Histogram::percentile(double percent) const noexcept {
  const uint64_t total = count();
  if (total == 0) return 0;
  const double wanted = std::ceil(std::clamp(percent, 0.0, 100.0) / 100.0 * static_cast<double>(total));
  const uint64_t rank = std::max<uint64_t>(1, static_cast<uint64_t>(wanted));
  uint64_t seen = 0;
  for (size_t i = 0; i + 1 < bucket_count_; ++i) {
    seen += bucketValue(i);
    if (seen >= rank) return std::min(bucketHigh(i), max());
  }
  return max();  // in the last bucket, which has no upper end
}

uint64_t Histogram::countUpTo(uint64_t bound) const noexcept {
  uint64_t total = 0;
  for (size_t i = 0; i + 1 < bucket_count_ && bucketHigh(i) <= bound; ++i) total += bucketValue(i);
  return bound >= std::max(max_value_, max()) ? count() : total;
}

void Histogram::merge(const Histogram& other) noexcept {
  assert(other.max_value_ == max_value_ && other.significant_bits_ == significant_bits_);
  for (size_t i = 0; i < bucket_count_; ++i) {
    if (const uint64_t n = other.bucketValue(i); n != 0) bump(buckets_[i], n);
  }
  bump(sum_, other.sum());
  max_.store(std::max(max(), other.max()), std::memory_order_relaxed);
}

void Histogram::reset() noexcept {
  for (size_t i = 0; i < bucket_count_; ++i) buckets_[i].store(0, std::memory_order_relaxed);
  sum_.store(0, std::memory_order_relaxed);
  max_.store(0, std::memory_order_relaxed);
}

}  // namespace roost::metrics
