#include "modules/push/subscribe_places.h"

#include <algorithm>
#include <utility>

#include "http/exchange.h"
#include "log/log.h"
#include "modules/push/subscribe.h"

namespace roost::modules::push {
namespace {

constexpr uint64_t kMostAddresses = 1 << 20;
constexpr unsigned kIpv6Bits = 64;

}  // namespace

// One place that is taken.
class AddressPlaces::Taken final : public http::Attachment {
 public:
  Taken(std::shared_ptr<AddressPlaces> places, uint64_t hash) noexcept
      : places_(std::move(places)), hash_(hash) {}
  ~Taken() override { places_->table_->leave(hash_); }

 private:
  const std::shared_ptr<AddressPlaces> places_;
  const uint64_t hash_;
};

std::shared_ptr<AddressPlaces> AddressPlaces::make(uint32_t max) {
  if (max == 0) return nullptr;
  auto table = CountTable::create(kMostAddresses);
  auto key = http::LimitKey::compile("{client}", kIpv6Bits);
  if (!table.ok() || !key.ok()) return nullptr;
  max = std::min(max, CountTable::kMost);
  return std::shared_ptr<AddressPlaces>(
      new AddressPlaces(max, std::move(table).value(), std::move(key).value()));
}

std::shared_ptr<AddressPlaces> makeAddressPlaces(uint32_t max_per_address) {
  return AddressPlaces::make(max_per_address);
}

bool AddressPlaces::take(http::Exchange& exchange) {
  uint64_t hash = 0;
  if (!key_.hash(exchange, secret_, hash)) return true;
  switch (table_->enter(hash, max_)) {
    case CountTable::Entry::kRefused:
      LOG_EVERY_SECOND(WARN, "{}: beyond {} subscribers of one address", exchange.client().toString(), max_);
      return false;
    case CountTable::Entry::kUncounted:
      break;
    case CountTable::Entry::kCounted:
      exchange.attach(std::make_unique<Taken>(shared_from_this(), hash));
      break;
  }
  return true;
}

}  // namespace roost::modules::push
