#include "db/database.h"

#include <utility>

#include "db/spare_sessions.h"

namespace roost::db {

PooledDatabase::PooledDatabase(const Options& options, Driver driver, uint32_t loop_count,
                               std::unique_ptr<WireFactory> factory, metrics::Registry* metrics,
                               std::shared_ptr<SpareSessions> spares)
    : options_(options),
      driver_(driver),
      cap_(options.max_connections, options.max_waiting, loop_count),
      spares_(std::move(spares)),
      factory_(std::move(factory)) {
  metrics::Registry& registry = metrics != nullptr ? *metrics : own_metrics_;
  for (uint32_t i = 0; i < loop_count; ++i)
    pools_.push_back(std::make_unique<LoopPool>(options_, cap_, *factory_, registry, i));
}

PooledDatabase::~PooledDatabase() {
  factory_->stop();
}

void PooledDatabase::startLoop(event::Loop& loop) noexcept {
  pools_[loop.index()]->start(loop);
}

void PooledDatabase::stopLoop(event::Loop& loop) noexcept {
  factory_->forget(loop);
  pools_[loop.index()]->stop();
}

Numbers PooledDatabase::numbers() const noexcept {
  Numbers numbers;
  for (const auto& pool : pools_) pool->counters().addTo(numbers);
  return numbers;
}

Result<std::unique_ptr<Database>> Database::create(const Options& options, uint32_t loop_count,
                                                   metrics::Registry* metrics) {
  Driver driver = options.driver;
  if (driver == Driver::kAuto) driver = hasLoopDriver() ? Driver::kLoop : Driver::kThreads;
  if (driver == Driver::kLoop && !hasLoopDriver())
    return Status::error("this build's MySQL client library has no non-blocking interface");
  auto spares = std::make_shared<SpareSessions>();
  std::unique_ptr<WireFactory> factory = makeWireFactory(options, driver, spares);
  if (factory == nullptr) return Status::error("the threads of the MySQL client could not be started");
  return std::unique_ptr<Database>(std::make_unique<PooledDatabase>(
      options, driver, loop_count, std::move(factory), metrics, std::move(spares)));
}

}  // namespace roost::db
