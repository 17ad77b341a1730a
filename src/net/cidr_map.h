// What is said of addresses by network: for blocks_ip, allow and deny, trusted proxies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "net/address.h"
#include "net/cidr.h"

namespace roost::net {

namespace internal {

// An IPv6 address as a number.
struct Key128 {
  uint64_t high = 0;
  uint64_t low = 0;
};

// The address space of one family cut into segments, each with the value of the longest prefix that covers
// it. Sorted beginnings, every kStride-th of them again in a small array that stays in the nearer caches: a
// search in 200,000 touches that array, then a few neighbouring lines, then the value.
template <class Key>
class Segments {
 public:
  struct Network {
    Key first;
    Key last;
    uint32_t value;
  };
  // Networks lie inside each other or apart, as prefixes do. Of equal ones the first counts.
  void build(std::vector<Network> networks, uint32_t none);
  // The value at `key`; `none` where no network covers it.
  uint32_t at(Key key, uint32_t none) const noexcept;
  size_t size() const noexcept { return begins_.size(); }

 private:
  static constexpr size_t kStride = 16;
  void add(Key begin, uint32_t value);

  std::vector<Key> begins_;
  std::vector<uint32_t> values_;  // beside it
  std::vector<Key> samples_;      // begins_[kStride - 1], begins_[2 * kStride - 1], ...
};

// The part of CidrMap that does not depend on what it holds: networks to numbers.
class CidrTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Network i has the value i or, with `as_one`, every network 0. Of equal ones the first counts.
  void build(const std::vector<Cidr>& networks, bool as_one);
  uint32_t find(const PeerAddr& peer) const noexcept;

 private:
  Segments<uint32_t> v4_;
  Segments<Key128> v6_;
  uint32_t unix_ = kNone;
  uint32_t all_ = kNone;
};

}  // namespace internal

// A value for each of many networks, and for an address the value of the longest prefix that covers it; "all"
// is shorter than every other. Immutable once built; any thread may search it, in well under a microsecond
// among 100,000.
template <class Value>
class CidrMap {
 public:
  CidrMap() = default;
  // Of equal networks the first counts.
  explicit CidrMap(std::vector<std::pair<Cidr, Value>> entries) {
    std::vector<Cidr> networks;
    networks.reserve(entries.size());
    values_.reserve(entries.size());
    for (auto& [network, value] : entries) {
      networks.push_back(network);
      values_.push_back(std::move(value));
    }
    table_.build(networks, false);
  }

  bool empty() const noexcept { return values_.empty(); }
  size_t size() const noexcept { return values_.size(); }
  const Value* find(const PeerAddr& peer) const noexcept {  // nullptr: no network covers it
    if (values_.empty()) return nullptr;
    const uint32_t index = table_.find(peer);
    return index == internal::CidrTable::kNone ? nullptr : &values_[index];
  }

 private:
  internal::CidrTable table_;
  std::vector<Value> values_;
};

// The same where only being covered matters; overlapping and neighbouring networks become one.
class CidrSet {
 public:
  CidrSet() = default;
  explicit CidrSet(const std::vector<Cidr>& networks) : empty_(networks.empty()) {
    table_.build(networks, true);
  }
  // The error is Cidr::parse's of the first entry that is none.
  static Result<CidrSet> parse(const std::vector<std::string>& entries);

  bool empty() const noexcept { return empty_; }
  bool contains(const PeerAddr& peer) const noexcept {
    return !empty_ && table_.find(peer) != internal::CidrTable::kNone;
  }

 private:
  internal::CidrTable table_;
  bool empty_ = true;
};

}  // namespace roost::net
