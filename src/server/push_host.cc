#include "server/push_host.h"

#include <utility>

#include "event/loop.h"

namespace roost::server {

PushHost::PushHost(const push::HubOptions& options, uint32_t loop_count, Sys& sys)
    : sys_(sys), loops_(loop_count), hub_(options, loop_count, *this) {}

void PushHost::post(uint32_t shard, std::unique_ptr<event::Task> task) noexcept {
  loops_[shard]->post(std::move(task));
}

int64_t PushHost::nowNs() const noexcept {
  return sys_.monotonicNs();
}

int64_t PushHost::unixSeconds() const noexcept {
  return sys_.realtimeNs() / 1'000'000'000;
}

}  // namespace roost::server
