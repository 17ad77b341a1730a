#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/status.h"
#include "http/loop_context.h"
#include "push/hub.h"

namespace roost::metrics {
class Registry;
}
namespace roost::module {
struct StartContext;
}

namespace roost::modules::push {

class AddressPlaces;

// The running server, as far as routes that are built before it starts need it. Shared by
// the modules of this folder and their routes; outlives the loops. Main thread, but for shard().
class Runtime {
 public:
  // Calls `fn` when the server starts, before its loops run: there routes get their counters. At once where
  // it runs already. The server does not start after an error. `fn` is kept, and what it holds.
  using Started = std::function<Status(metrics::Registry& metrics, size_t loop_count)>;
  Status whenStarted(Started fn);

  Status start(const module::StartContext& context);  // does it once
  void stop() noexcept;
  void forget() noexcept { started_.clear(); }  // nothing starts any more

  // On the context's own thread, while the server runs.
  ::roost::push::Shard& shard(const http::LoopContext& context) const noexcept {
    return hub_->shard(context.index());
  }
  // While the server runs. The places are those of max_subscribers_per_address, nullptr without.
  ::roost::push::Hub& hub() const noexcept { return *hub_; }
  const std::shared_ptr<AddressPlaces>& places() const noexcept { return places_; }

 private:
  ::roost::push::Hub* hub_ = nullptr;
  metrics::Registry* metrics_ = nullptr;
  std::shared_ptr<AddressPlaces> places_;
  size_t loop_count_ = 0;
  std::vector<Started> started_;
};

}  // namespace roost::modules::push
