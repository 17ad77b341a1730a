// Distributions of non-negative integers (nanoseconds, bytes) in fixed memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace roost::metrics {

// A log-linear histogram. Values below 2^significant_bits have a bucket each; above that every power of two
// is cut into 2^(significant_bits - 1) buckets, so a bucket is never wider than its lowest value divided by
// 2^(significant_bits - 1): with 7 bits a percentile is at most 1.6 % too high. Values above max_value are
// counted in the last bucket; sum() and max() have them in full. record() is a bit scan, a shift and two or
// three plain additions.
//
// One thread at a time records or merges into it; any thread may read. Readers see every bucket whole but not
// all of them at the same moment, so count() is the sum of the buckets rather than a number of its own.
class Histogram {
 public:
  static constexpr unsigned kDefaultSignificantBits = 7;

  // REQUIRES: 1 <= significant_bits <= 16. Memory: 2^significant_bits * 4 bytes per power of two covered.
  explicit Histogram(uint64_t max_value, unsigned significant_bits = kDefaultSignificantBits);

  void record(uint64_t value) noexcept { record(value, 1); }
  void record(uint64_t value, uint64_t times) noexcept {
    const size_t index = indexOf(value < max_value_ ? value : max_value_);
    bump(buckets_[index], times);
    bump(sum_, value * times);
    if (value > max_.load(std::memory_order_relaxed)) max_.store(value, std::memory_order_relaxed);
  }

  uint64_t count() const noexcept;
  uint64_t sum() const noexcept { return sum_.load(std::memory_order_relaxed); }  // wraps beyond 2^64
  uint64_t max() const noexcept { return max_.load(std::memory_order_relaxed); }  // exact; 0 when empty
  // The smallest bucket bound that at least `percent` (0 to 100) of the values do not exceed, and never more
  // than max(); 0 when empty.
  uint64_t percentile(double percent) const noexcept;
  // How many values fell in buckets that end at or below `bound`; exact when bound is a bucketHigh().
  uint64_t countUpTo(uint64_t bound) const noexcept;

  // Adds another histogram's values. REQUIRES: the same max_value and significant_bits.
  void merge(const Histogram& other) noexcept;
  void reset() noexcept;  // the recording thread's

  size_t bucketCount() const noexcept { return bucket_count_; }
  uint64_t bucketLow(size_t index) const noexcept;
  uint64_t bucketHigh(size_t index) const noexcept;  // inclusive
  uint64_t bucketValue(size_t index) const noexcept {
    return buckets_[index].load(std::memory_order_relaxed);
  }
  uint64_t maxValue() const noexcept { return max_value_; }
  unsigned significantBits() const noexcept { return significant_bits_; }

  size_t indexOf(uint64_t value) const noexcept {
    // The "or" gives all values of the linear part the shift 0.
    const unsigned top = 63U - static_cast<unsigned>(__builtin_clzll(value | (linear_limit_ >> 1)));
    const unsigned shift = top - (significant_bits_ - 1);
    return (static_cast<size_t>(shift) << (significant_bits_ - 1)) + static_cast<size_t>(value >> shift);
  }

 private:
  using Cell = std::atomic<uint64_t>;
  static void bump(Cell& cell, uint64_t by) noexcept {
    cell.store(cell.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  const unsigned significant_bits_;
  const uint64_t linear_limit_;  // 2^significant_bits
  const uint64_t max_value_;
  const size_t bucket_count_;
  const std::unique_ptr<Cell[]> buckets_;
  Cell sum_{0};
  Cell max_{0};
};

}  // namespace roost::metrics
