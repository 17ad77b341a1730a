#include "modules/push/runtime.h"

#include <utility>

#include "module/module.h"
#include "modules/push/subscribe.h"

namespace roost::modules::push {

Status Runtime::whenStarted(Started fn) {
  started_.push_back(std::move(fn));
  return metrics_ != nullptr ? started_.back()(*metrics_, loop_count_) : Status();
}

Status Runtime::start(const module::StartContext& context) {
  if (metrics_ != nullptr) return {};
  hub_ = context.hub;
  metrics_ = context.metrics;
  loop_count_ = context.loop_count;
  const int64_t per_address = context.config["push"]["max_subscribers_per_address"].asInt();
  if (per_address > 0) places_ = makeAddressPlaces(static_cast<uint32_t>(per_address));
  for (const Started& fn : started_) {
    Status status = fn(*metrics_, loop_count_);
    if (!status.ok()) return status;
  }
  return {};
}

void Runtime::stop() noexcept {
  hub_ = nullptr;
  metrics_ = nullptr;
}

}  // namespace roost::modules::push
