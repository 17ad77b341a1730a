#include "net/cidr_map.h"

#include <endian.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>

namespace roost::net {
namespace internal {

static bool operator<(Key128 a, Key128 b) noexcept {
  return a.high != b.high ? a.high < b.high : a.low < b.low;
}
static bool operator==(Key128 a, Key128 b) noexcept {
  return a.high == b.high && a.low == b.low;
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

uint32_t v4Last(uint32_t first, unsigned prefix_bits) noexcept {
  return prefix_bits == 0 ? UINT32_MAX
                          : first | static_cast<uint32_t>((uint64_t{1} << (32 - prefix_bits)) - 1);
}

// The mask of the bits right of a prefix of 0 to 64 bits.
uint64_t hostBits64(unsigned prefix_bits) noexcept {
  return prefix_bits == 0 ? UINT64_MAX : (prefix_bits == 64 ? 0 : (uint64_t{1} << (64 - prefix_bits)) - 1);
}

Key128 v6Last(Key128 first, unsigned prefix_bits) noexcept {
  return {first.high | hostBits64(std::min(prefix_bits, 64U)),
          first.low | hostBits64(prefix_bits > 64 ? prefix_bits - 64 : 0)};
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

}  // namespace

template <class Key>
void Segments<Key>::add(Key begin, uint32_t value) {
  if (!begins_.empty() && begins_.back() == begin) {
    begins_.pop_back();
    values_.pop_back();
  }
  if (!values_.empty() && values_.back() == value) return;  // goes on as before
  begins_.push_back(begin);
  values_.push_back(value);
}

template <class Key>
void Segments<Key>::build(std::vector<Network> networks, uint32_t none) {
  // Outer ones before what lies in them, equal ones in their order.
  std::stable_sort(networks.begin(), networks.end(), [](const Network& a, const Network& b) {
    return a.first < b.first || (a.first == b.first && b.last < a.last);
  });
  std::vector<const Network*> open;  // those around the current place
  const auto close = [&] {
    const std::optional<Key> after = next(open.back()->last);
    open.pop_back();
    if (after) add(*after, open.empty() ? none : open.back()->value);
  };
  for (const Network& network : networks) {
    while (!open.empty() && open.back()->last < network.first) close();
    if (!open.empty() && open.back()->first == network.first && open.back()->last == network.last) continue;
    open.push_back(&network);
    add(network.first, network.value);
  }
  while (!open.empty()) close();
  begins_.shrink_to_fit();
  values_.shrink_to_fit();
  samples_.reserve(begins_.size() / kStride);
  for (size_t i = kStride - 1; i < begins_.size(); i += kStride) samples_.push_back(begins_[i]);
}

template <class Key>
uint32_t Segments<Key>::at(Key key, uint32_t none) const noexcept {
  const size_t skip = countNotAbove(samples_.data(), samples_.size(), key) * kStride;
  const size_t count =
      skip + countNotAbove(begins_.data() + skip, std::min(kStride, begins_.size() - skip), key);
  return count == 0 ? none : values_[count - 1];
}

template class Segments<uint32_t>;
template class Segments<Key128>;

void CidrTable::build(const std::vector<Cidr>& networks, bool as_one) {
  std::vector<Segments<uint32_t>::Network> v4;
  std::vector<Segments<Key128>::Network> v6;
  for (size_t i = 0; i < networks.size(); ++i) {
    const Cidr& network = networks[i];
    const uint32_t value = as_one ? 0 : static_cast<uint32_t>(i);
    if (network.family == AF_INET) {
      const uint32_t first = v4Key(network.ip);
      v4.push_back({first, v4Last(first, network.prefix_bits), value});
    } else if (network.family == AF_INET6) {
      const Key128 first = v6Key(network.ip);
      v6.push_back({first, v6Last(first, network.prefix_bits), value});
    } else {
      uint32_t& named = network.family == AF_UNIX ? unix_ : all_;
      if (named == kNone) named = value;
    }
  }
  v4_.build(std::move(v4), kNone);
  v6_.build(std::move(v6), kNone);
}

uint32_t CidrTable::find(const PeerAddr& peer) const noexcept {
  uint32_t value = kNone;
  switch (peer.family) {
    case AF_INET:
      value = v4_.at(v4Key(peer.ip), kNone);
      break;
    case AF_INET6:
      value = v6_.at(v6Key(peer.ip), kNone);
      break;
    case AF_UNIX:
      value = unix_;
      break;
    default:
      break;
  }
  return value == kNone ? all_ : value;
}

}  // namespace internal

Result<CidrSet> CidrSet::parse(const std::vector<std::string>& entries) {
  std::vector<Cidr> networks;
  networks.reserve(entries.size());
  for (const std::string& entry : entries) {
    Result<Cidr> network = Cidr::parse(entry);
    if (!network.ok()) return network.status();
    networks.push_back(*network);
  }
  return CidrSet(networks);
}

}  // namespace roost::net
