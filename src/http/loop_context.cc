#include "http/loop_context.h"

#include <algorithm>
#include <cstring>
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

// Eight hexadecimal digits, all at once: a request that is logged has an id, and a digit at a time took 20
// ns.
void putHex(char* to, uint32_t value) noexcept {
  char digits[8];
  uint64_t v = 0;
  for (int i = 0; i < 4; ++i)
    v |= uint64_t{value >> (24 - 8 * i) & 0xff} << (16 * i);  // a byte in every second
  v = ((v >> 4) | (v << 8)) & 0x0f0f0f0f0f0f0f0f;  // a digit's value in each, the first in the lowest
  const uint64_t letters = ((v + 0x0606060606060606) >> 4) & 0x0101010101010101;
  v += 0x3030303030303030 + letters * ('a' - '0' - 10);
  for (int i = 0; i < 8; ++i) digits[i] = static_cast<char>(v >> (8 * i));
  std::memcpy(to, digits, sizeof digits);
}

}  // namespace

void LoopContext::nextRequestId(std::array<char, 32>& out) noexcept {
  const uint64_t second = scrambled(request_id_base_ + ++last_request_);
  std::memcpy(out.data(), request_id_prefix_.data(), request_id_prefix_.size());
  putHex(out.data() + 16, static_cast<uint32_t>(second >> 32));
  putHex(out.data() + 24, static_cast<uint32_t>(second));
}

LoopContext::LoopContext(net::IoContext& io, event::TaskPool& tasks) noexcept
    : io_(io), tasks_(tasks), request_id_base_(randomWord()), date_(io.loop()) {
  putHex(request_id_prefix_.data(), static_cast<uint32_t>(request_id_base_ >> 32));
  putHex(request_id_prefix_.data() + 8, static_cast<uint32_t>(request_id_base_));
}

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
