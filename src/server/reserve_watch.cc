#include "server/reserve_watch.h"

#include <chrono>

#include "base/memory.h"
#include "log/log.h"
#include "server/heap.h"

namespace roost::server {

void ReserveWatch::onTimer() noexcept {
  if (memory::reserveInUse()) {
    if (!told_) {
      LOG_ERROR(
          "the system gives no more memory: the reserve is in use, new connections and requests are refused; "
          "raise "
          "the limit (ulimit -v, vm.overcommit_memory), or lower overload.max_memory_bytes below it");
    }
    told_ = true;
    heap::trim();
    memory::refillReserve();
  }
  if (told_ && !memory::reserveInUse()) {
    LOG_WARN("there is memory again: the reserve is whole, everything is let in");
    told_ = false;
  }
  loop_.armIn(*this, std::chrono::milliseconds(kStepMs));
}

}  // namespace roost::server
