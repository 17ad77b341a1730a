#include "net/cidr_set.h"

#include <arpa/inet.h>
#include <endian.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace roost::net {

namespace internal {

static bool operator<(Key128 a, Key128 b) noexcept {
  return a.high != b.high ? a.high < b.high : a.low < b.low;
}

namespace {

// The number of elements in [first, first + count) that are not above key. The choice is arithmetic and not a
// branch, as it cannot be predicted.
template <class Key>
size_t countNotAbove(const Key* first, size_t count, Key key) noexcept {
  const Key* base = first;
  while (count > 1) {
    const size_t half = count / 2;
    base += half & (size_t{0} - static_cast<size_t>(!(key < base[half - 1])));
    count -= half;
  }
  return static_cast<size_t>(base - first) + ((count == 1 && !(key < *base)) ? 1 : 0);
}

}  // namespace

template <class Key>
void SortedKeys<Key>::assign(std::vector<Key> sorted) {
  keys_ = std::move(sorted);
  keys_.shrink_to_fit();
  samples_.clear();
  samples_.reserve(keys_.size() / kStride);
  for (size_t i = kStride - 1; i < keys_.size(); i += kStride) samples_.push_back(keys_[i]);
}

template <class Key>
size_t SortedKeys<Key>::countUpTo(Key key) const noexcept {
  const size_t skip = countNotAbove(samples_.data(), samples_.size(), key) * kStride;
  return skip + countNotAbove(keys_.data() + skip, std::min(kStride, keys_.size() - skip), key);
}

template class SortedKeys<uint32_t>;
template class SortedKeys<Key128>;

}  // namespace internal

namespace {

using internal::Key128;

struct Network {
  int family = 0;  // AF_INET, AF_INET6
  uint8_t ip[16] = {};
  int prefix_bits = 0;
};

uint32_t v4Key(const uint8_t* ip) noexcept {
  uint32_t value;
  std::memcpy(&value, ip, sizeof value);
  return be32toh(value);
}

Key128 v6Key(const uint8_t* ip) noexcept {
  uint64_t words[2];
  std::memcpy(words, ip, sizeof words);
  return {be64toh(words[0]), be64toh(words[1])};
}

std::optional<Network> parseNetwork(std::string_view entry) {
  const size_t slash = entry.find('/');
  const std::string ip(entry.substr(0, slash));
  if (ip.find('\0') != std::string::npos) return std::nullopt;
  Network network;
  if (::inet_pton(AF_INET, ip.c_str(), network.ip) == 1) {
    network.family = AF_INET;
  } else if (::inet_pton(AF_INET6, ip.c_str(), network.ip) == 1) {
    network.family = AF_INET6;
  } else {
    return std::nullopt;
  }
  const int width = network.family == AF_INET ? 32 : 128;
  network.prefix_bits = width;
  if (slash != std::string_view::npos) {
    const std::string_view digits = entry.substr(slash + 1);
    const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), network.prefix_bits);
    if (ec != std::errc{} || end != digits.data() + digits.size() || digits[0] == '-') return std::nullopt;
    if (network.prefix_bits > width) return std::nullopt;
  }
  if (network.family == AF_INET6 && network.prefix_bits >= 96 &&
      IN6_IS_ADDR_V4MAPPED(reinterpret_cast<const in6_addr*>(network.ip))) {
    network.family = AF_INET;
    network.prefix_bits -= 96;
    std::memmove(network.ip, network.ip + 12, 4);
  }
  return network;
}

template <class Key>
using Intervals = std::vector<std::pair<Key, Key>>;  // first and last address, both inside

std::pair<uint32_t, uint32_t> v4Interval(const Network& network) noexcept {
  const uint32_t host_bits = network.prefix_bits == 0
                                 ? UINT32_MAX
                                 : static_cast<uint32_t>((uint64_t{1} << (32 - network.prefix_bits)) - 1);
  const uint32_t first = v4Key(network.ip) & ~host_bits;
  return {first, first | host_bits};
}

// The mask of the bits right of a prefix of 0 to 64 bits.
uint64_t hostBits64(int prefix_bits) noexcept {
  return prefix_bits == 0 ? UINT64_MAX : (prefix_bits == 64 ? 0 : (uint64_t{1} << (64 - prefix_bits)) - 1);
}

std::pair<Key128, Key128> v6Interval(const Network& network) noexcept {
  const uint64_t high_host = hostBits64(std::min(network.prefix_bits, 64));
  const uint64_t low_host = hostBits64(std::max(network.prefix_bits - 64, 0));
  const Key128 key = v6Key(network.ip);
  const Key128 first{key.high & ~high_host, key.low & ~low_host};
  return {first, {first.high | high_host, first.low | low_host}};
}

// The address after `key`; nothing after the last one.
std::optional<uint32_t> next(uint32_t key) noexcept {
  if (key == UINT32_MAX) return std::nullopt;
  return key + 1;
}
std::optional<Key128> next(Key128 key) noexcept {
  if (key.low != UINT64_MAX) return Key128{key.high, key.low + 1};
  if (key.high != UINT64_MAX) return Key128{key.high + 1, 0};
  return std::nullopt;
}

// Overlapping and adjacent intervals become one; each gives the place where it begins and the one just after
// it.
template <class Key>
std::vector<Key> boundaries(Intervals<Key> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Key> out;
  for (size_t i = 0; i < intervals.size();) {
    const Key first = intervals[i].first;
    Key last = intervals[i].second;
    std::optional<Key> after = next(last);
    for (++i; i < intervals.size() && (!after || !(*after < intervals[i].first)); ++i) {
      if (last < intervals[i].second) {
        last = intervals[i].second;
        after = next(last);
      }
    }
    out.push_back(first);
    if (after) out.push_back(*after);
  }
  return out;
}

}  // namespace

Result<CidrSet> CidrSet::build(const std::vector<std::string>& entries) {
  CidrSet set;
  Intervals<uint32_t> v4;
  Intervals<Key128> v6;
  for (const std::string& entry : entries) {
    if (entry == "unix") {
      set.unix_ = true;
      continue;
    }
    const std::optional<Network> network = parseNetwork(entry);
    if (!network) {
      return Status::error(fmt::format(
          "\"{}\" is not an IP address nor a network such as 192.0.2.0/24 or 2001:db8::/32", entry));
    }
    if (network->family == AF_INET) {
      v4.push_back(v4Interval(*network));
    } else {
      v6.push_back(v6Interval(*network));
    }
  }
  set.any_ = !entries.empty();
  set.v4_.assign(boundaries(std::move(v4)));
  set.v6_.assign(boundaries(std::move(v6)));
  return set;
}

bool CidrSet::lookUp(const PeerAddr& peer) const noexcept {
  switch (peer.family) {
    case AF_INET:
      return (v4_.countUpTo(v4Key(peer.ip)) & 1) != 0;
    case AF_INET6:
      return (v6_.countUpTo(v6Key(peer.ip)) & 1) != 0;
    case AF_UNIX:
      return unix_;
    default:
      return false;
  }
}

}  // namespace roost::net
