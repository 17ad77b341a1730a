#pragma once

#include <memory>
#include <vector>

#include "db/cap.h"
#include "db/loop_pool.h"
#include "metrics/registry.h"

namespace roost::db {

// The Database over any WireFactory.
class PooledDatabase final : public Database {
 public:
  PooledDatabase(const Options& options, Driver driver, uint32_t loop_count,
                 std::unique_ptr<WireFactory> factory, metrics::Registry* metrics,
                 std::shared_ptr<SpareSessions> spares = nullptr);
  ~PooledDatabase() override;

  void startLoop(event::Loop& loop) noexcept override;
  void stopLoop(event::Loop& loop) noexcept override;
  Pool& pool(uint32_t loop_index) noexcept override { return *pools_[loop_index]; }
  Numbers numbers() const noexcept override;
  const Options& options() const noexcept override { return options_; }
  Driver driver() const noexcept override { return driver_; }
  std::shared_ptr<SpareSessions> spares() const noexcept override { return spares_; }
  void stop() noexcept override { factory_->stop(); }

 private:
  const Options options_;
  const Driver driver_;
  metrics::Registry own_metrics_;  // where nobody has given one
  Cap cap_;
  const std::shared_ptr<SpareSessions> spares_;
  const std::unique_ptr<WireFactory> factory_;
  std::vector<std::unique_ptr<LoopPool>> pools_;
};

}  // namespace roost::db
