#pragma once

#include <cstdint>
#include <memory>

#include "base/count_table.h"
#include "base/sip_hash.h"
#include "http/limits/limit_key.h"

namespace roost::modules::push {

// How many subscribers each client address has, over all routes and loops. Any thread.
class AddressPlaces : public std::enable_shared_from_this<AddressPlaces> {
 public:
  // nullptr where `max` is 0 or memory is out.
  static std::shared_ptr<AddressPlaces> make(uint32_t max);

  // Takes a place for the client of this exchange until that is over, answer or upgraded connection and all.
  // False: its address has as many as it may. REQUIRES: not parked.
  bool take(http::Exchange& exchange);

 private:
  class Taken;
  AddressPlaces(uint32_t max, std::unique_ptr<CountTable> table, http::LimitKey key) noexcept
      : max_(max), secret_(SipKey::random()), table_(std::move(table)), key_(std::move(key)) {}
  const uint32_t max_;
  const SipKey secret_;
  const std::unique_ptr<CountTable> table_;
  const http::LimitKey key_;
};

}  // namespace roost::modules::push
