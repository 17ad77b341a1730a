#include "http/loop_context.h"

#include <algorithm>
#include <random>
#include <utility>

namespace roost::http {

ExchangeTable::Name ExchangeTable::add(Exchange& exchange) {
  if (free_ == kNone) {
    entries_.push_back({nullptr, 0, kNone});
    free_ = static_cast<uint32_t>(entries_.size() - 1);
  }
  const uint32_t slot = free_;
  Entry& entry = entries_[slot];
  free_ = entry.next_free;
  entry.exchange = &exchange;
  return {slot, entry.generation};
}

void ExchangeTable::remove(uint32_t slot) noexcept {
  Entry& entry = entries_[slot];
  entry.exchange = nullptr;
  ++entry.generation;
  entry.next_free = free_;
  free_ = slot;
}

Exchange* ExchangeTable::find(Name name) const noexcept {
  if (name.slot >= entries_.size() || entries_[name.slot].generation != name.generation) return nullptr;
  return entries_[name.slot].exchange;
}

namespace {

uint64_t randomWord() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

// A bijection that leaves no pattern of its argument to be seen (splitmix64's).
uint64_t scrambled(uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

void LoopContext::nextRequestId(std::array<char, 32>& out) noexcept {
  constexpr char kDigits[] = "0123456789abcdef";
  const uint64_t words[] = {request_id_base_, scrambled(request_id_base_ + ++last_request_)};
  char* at = out.data();
  for (const uint64_t word : words) {
    for (int shift = 60; shift >= 0; shift -= 4) *at++ = kDigits[(word >> shift) & 15];
  }
}

LoopContext::LoopContext(net::IoContext& io, event::TaskPool& tasks) noexcept
    : io_(io), tasks_(tasks), request_id_base_(randomWord()), date_(io.loop()) {}

LoopContext::~LoopContext() = default;

void LoopContext::setService(std::shared_ptr<const Service> service) {
  if (pin_ != nullptr && pin_->exchanges > 0) retired_.push_back(std::move(pin_));
  pin_ = std::make_unique<ServicePin>(std::move(service));
}

void LoopContext::dropRetired(ServicePin& pin) noexcept {
  const auto found =
      std::find_if(retired_.begin(), retired_.end(),
                   [&](const std::unique_ptr<ServicePin>& held) { return held.get() == &pin; });
  if (found == retired_.end()) return;
  // A handler of this very Service may be what has just answered.
  loop().destroyLater(event::makeTask([gone = std::move(*found)] {}));
  retired_.erase(found);
}

}  // namespace roost::http
