#include "modules/mysql/write_run.h"

#include <utility>

#include "db/pool.h"

namespace roost::modules::mysql {

void LeaveRun::operator()(WriteRun* run) const noexcept {
  run->leave();
}

WriteRun::WriteRun(const WriteSite& site, WritePlan plan, OperationsDone& done)
    : exposure_(site.exposure),
      tags_(std::move(plan.tags)),
      methods_(std::move(plan.methods)),
      lease_(std::move(plan.lease)),
      shard_(site.shard),
      waits_(&done),
      runner_(std::move(plan.operations), plan.rolls_back, *this, plan.most_bytes) {}

void WriteRun::start(const WriteSite& site, WritePlan plan, OperationsDone& done, WriteRunPtr& run) noexcept {
  run.reset(new WriteRun(site, std::move(plan), done));
  site.pool->request(run->runner_);
}

void WriteRun::leave() noexcept {
  if (ended_ || !runner_.leave()) {
    delete this;
    return;
  }
  waits_ = nullptr;
}

void WriteRun::onOperationsDone() noexcept {
  ended_ = true;
  for (size_t i = 0; i < methods_.size() && !runner_.rollsBack(); ++i) {
    tables::Operation& operation = *runner_.operations()[i];
    if (operation.isWrite()) publishWrite(shard_, operation.table(), methods_[i], operation.result());
  }
  if (waits_ == nullptr) return leave();
  waits_->onOperationsDone();
}

void WriteRun::onOperationFailed(size_t index, const tables::Problem& problem,
                                 uint32_t retry_after_s) noexcept {
  ended_ = true;
  if (waits_ == nullptr) return leave();
  waits_->onOperationFailed(index, problem, retry_after_s);
}

}  // namespace roost::modules::mysql
