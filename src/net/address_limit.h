#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/count_table.h"
#include "base/status.h"
#include "net/address_hash.h"
#include "net/cidr_map.h"

namespace roost::net {

// How many connections an address may have, over all loops. Made before the loops, outlives them; any thread.
class AddressLimit {
 public:
  struct Options {
    uint32_t max = 0;
    unsigned ipv6_prefix_bits = AddressHash::kUsualPrefixBits;
    uint64_t max_addresses = 1'000'000;  // told apart at a time, 32 bytes each; more are not counted
    CidrSet exempt;
  };
  // REQUIRES: 1 <= max <= CountTable::kMost. Errors: no memory.
  static Result<std::shared_ptr<AddressLimit>> create(Options options);

  struct Entry {
    bool admitted;
    uint64_t hash;  // 0: not counted; otherwise leave() takes it
  };
  // Exempt addresses and Unix sockets are not counted.
  Entry enter(const PeerAddr& peer) noexcept;
  void leave(uint64_t hash) noexcept { table_->leave(hash); }
  uint32_t max() const noexcept { return options_.max; }

 private:
  AddressLimit(Options options, std::unique_ptr<CountTable> table)
      : options_(std::move(options)),
        hash_(SipKey::random(), options_.ipv6_prefix_bits),
        table_(std::move(table)) {}

  const Options options_;
  const AddressHash hash_;
  const std::unique_ptr<CountTable> table_;
};

}  // namespace roost::net
