#include "modules/mysql/runtime.h"

#include <string>

#include "event/loop.h"
#include "log/log.h"
#include "metrics/registry.h"
#include "module/module.h"
#include "tables/db_problem.h"

namespace roost::modules::mysql {
namespace {

using ExposureRef = std::shared_ptr<const tables::Exposure>;

// The same object, counted by a counter of its own.
ExposureRef countedAnew(const ExposureRef& exposure) {
  auto holder = std::make_shared<ExposureRef>(exposure);
  const tables::Exposure* const shown = exposure.get();
  return {holder, shown};
}

constexpr uint32_t kMsPerS = 1000;

}  // namespace

Runtime::~Runtime() {
  stop();
}

void Runtime::addRoute(std::shared_ptr<RestRoute> route) {
  routes_.push_back(std::move(route));
}

Status Runtime::start(const module::StartContext& context) {
  if (database_ != nullptr || context.database == nullptr) return {};
  database_ = context.database;
  hub_ = context.hub;
  loops_.resize(context.loop_count);
  makeBudget(context);
  for (const auto& started : started_) started(context.loop_count);
  if (routes_.empty()) return {};
  for (const auto& route : routes_) route->loops_ = std::vector<RestRoute::OfLoop>(context.loop_count);
  const db::Options& options = database_->options();
  tables::KeeperOptions keeper;
  keeper.database = options.database;
  keeper.time_zone = options.time_zone;
  keeper.poll_ms = static_cast<uint32_t>(context.config["mysql"]["schema_poll_s"].asInt()) * kMsPerS;
  keeper_ = std::make_unique<tables::CatalogKeeper>(
      std::move(keeper), tables::CatalogKeeper::openPrimary(options, database_->spares()), *this);
  keeper_->start();
  return {};
}

void Runtime::makeBudget(const module::StartContext& context) {
  metrics::Registry& metrics = *context.metrics;
  bodies_ = std::make_shared<tables::BodyBudget>(
      static_cast<size_t>(context.config["mysql"]["max_body_memory"].asInt()),
      metrics.gauge({"roost_mysql_body_bytes", "Memory of bodies that wait for the database.", "bytes"}),
      metrics.counter({"roost_mysql_bodies_refused_total",
                       "Requests refused: bodies took all the memory they may.", ""}));
}

void Runtime::stop() noexcept {
  if (keeper_ != nullptr) keeper_->stop();
  keeper_.reset();
  database_ = nullptr;
  hub_ = nullptr;
}

void Runtime::reload() noexcept {
  if (keeper_ != nullptr) keeper_->reload();
}

void Runtime::onSchemaChanged() noexcept {
  if (keeper_ != nullptr) keeper_->look();
}

tables::Problem Runtime::schemaProblem() const {
  const std::lock_guard lock(mutex_);
  if (is_unreadable_) return tables::schemaProblemOf(unreadable_);
  return {503, "schema_unavailable", "the schema has not been read yet: the server has just started", {}, {}};
}

void Runtime::onUnreadable(const db::Error& error) noexcept {
  const std::lock_guard lock(mutex_);
  unreadable_ = error;
  is_unreadable_ = true;
}

void Runtime::onCatalog(const std::shared_ptr<const tables::Catalog>& catalog) noexcept {
  for (const auto& route : routes_) {
    std::vector<std::string> complaints;
    ExposureRef exposure = tables::expose(catalog, route->config().tables, complaints);
    for (const std::string& complaint : complaints) LOG_WARN("mysql_rest: {}", complaint);
    std::shared_ptr<const Description> description;
    if (route->config().openapi)
      description = std::make_shared<const Description>(describe(*exposure, route->config()));
    const std::lock_guard lock(mutex_);
    route->newest_ = exposure;
    route->newest_description_ = description;
    for (event::Loop* loop : loops_) {
      if (loop == nullptr) continue;
      loop->post(event::makeTask(
          [route, index = loop->index(), exposure = countedAnew(exposure), description]() mutable {
            route->loops_[index].exposure = std::move(exposure);
            route->loops_[index].description = std::move(description);
          }));
    }
  }
}

void Runtime::onLoopStart(http::LoopContext& context) noexcept {
  if (database_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  loops_[context.index()] = &context.loop();
  for (const auto& route : routes_) {
    if (route->newest_ == nullptr) continue;
    route->loops_[context.index()].exposure = countedAnew(route->newest_);
    route->loops_[context.index()].description = route->newest_description_;
  }
}

void Runtime::onLoopStop(http::LoopContext& context) noexcept {
  if (database_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  loops_[context.index()] = nullptr;
}

}  // namespace roost::modules::mysql
