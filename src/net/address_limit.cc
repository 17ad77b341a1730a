#include "net/address_limit.h"

namespace roost::net {

Result<std::shared_ptr<AddressLimit>> AddressLimit::create(Options options) {
  auto table = CountTable::create(options.max_addresses);
  if (!table.ok()) return table.status();
  return std::shared_ptr<AddressLimit>(new AddressLimit(std::move(options), std::move(table).value()));
}

AddressLimit::Entry AddressLimit::enter(const PeerAddr& peer) noexcept {
  if (peer.family != AF_INET && peer.family != AF_INET6) return {true, 0};
  if (options_.exempt.contains(peer)) return {true, 0};
  const uint64_t found = hash_(peer);
  const uint64_t hash = found != 0 ? found : 1;
  switch (table_->enter(hash, options_.max)) {
    case CountTable::Entry::kRefused:
      return {false, 0};
    case CountTable::Entry::kUncounted:
      return {true, 0};
    case CountTable::Entry::kCounted:
      break;
  }
  return {true, hash};
}

}  // namespace roost::net
