// A set of addresses and networks, for blocks_ip, allow and deny.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "net/address.h"

namespace roost::net {

namespace internal {

// An IPv6 address as a number.
struct Key128 {
  uint64_t high = 0;
  uint64_t low = 0;
};

// Sorted keys, every kStride-th of them again in a small array that stays in the nearer caches: a search in
// 200,000 keys touches that array and then a few neighbouring lines.
template <class Key>
class SortedKeys {
 public:
  void assign(std::vector<Key> sorted);
  bool empty() const noexcept { return keys_.empty(); }
  // How many keys are not above `key`.
  size_t countUpTo(Key key) const noexcept;

 private:
  static constexpr size_t kStride = 16;
  std::vector<Key> keys_;
  std::vector<Key> samples_;  // keys_[kStride - 1], keys_[2 * kStride - 1], ...
};

}  // namespace internal

// Immutable once built; owned by the snapshot or the listener that asks it; contains() may be called by any
// thread.
//
// Networks are merged into disjoint intervals, kept as the sorted list of places where membership changes: an
// address is inside where an odd number of them lies at or below it. Values for a longest-prefix match would
// be a second array beside that list.
class CidrSet {
 public:
  CidrSet() = default;

  // Entries: "192.0.2.1", "192.0.2.0/24", "2001:db8::1", "2001:db8::/32", "unix" for every peer on a Unix
  // socket. Bits right of the prefix are ignored. A mapped network (::ffff:192.0.2.0/120) means the IPv4 one;
  // no other IPv6 network covers IPv4 peers. The error names the first entry that is none of these.
  static Result<CidrSet> build(const std::vector<std::string>& entries);

  bool empty() const noexcept { return !any_; }
  bool contains(const PeerAddr& peer) const noexcept { return any_ && lookUp(peer); }

 private:
  bool lookUp(const PeerAddr& peer) const noexcept;

  internal::SortedKeys<uint32_t> v4_;
  internal::SortedKeys<internal::Key128> v6_;
  bool unix_ = false;
  bool any_ = false;
};

}  // namespace roost::net
