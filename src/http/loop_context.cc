#include "http/loop_context.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/hex.h"
#include "base/random.h"
#include "log/log.h"

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

void LoopContext::nextRequestId(std::array<char, 32>& out) noexcept {
  const uint64_t second = scrambled(request_id_base_ + ++last_request_);
  std::memcpy(out.data(), request_id_prefix_.data(), request_id_prefix_.size());
  putHex16(out.data() + 16, second);
}

LoopContext::LoopContext(net::IoContext& io, event::TaskPool& tasks) noexcept
    : io_(io), tasks_(tasks), request_id_base_(randomWord()), date_(io.loop()) {
  putHex16(request_id_prefix_.data(), request_id_base_);
}

LoopContext::~LoopContext() = default;

void LoopContext::noteNoMemory() const noexcept {
  if (counters_ != nullptr) counters_->no_memory.add();
  LOG_EVERY_SECOND(ERROR,
                   "no memory for a request: it is refused; raise the process's limit (ulimit -v), or lower "
                   "what routes let clients send");
}

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
