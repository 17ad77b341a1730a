#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "db/error.h"
#include "db/pool.h"
#include "http/loop_context.h"
#include "modules/mysql/describe_reply.h"
#include "modules/mysql/rest_config.h"
#include "modules/mysql/write_handler.h"
#include "tables/body_budget.h"
#include "tables/catalog_keeper.h"
#include "tables/exposure.h"
#include "tables/problem.h"

namespace roost::module {
struct StartContext;
}
namespace roost::push {
class Hub;
}

namespace roost::modules::mysql {

// What one route shows, as each loop sees it: of its own, so that requests of different loops count
// references in different places. Made by the main thread, filled by the Runtime.
class RestRoute {
 public:
  explicit RestRoute(RestRouteConfig config) : config_(std::move(config)) {}

  const RestRouteConfig& config() const noexcept { return config_; }
  // The loop's own thread. nullptr: the schema is not known yet, or the route does not describe itself.
  const Description* description(uint32_t loop_index) const noexcept {
    return loop_index < loops_.size() ? loops_[loop_index].description.get() : nullptr;
  }
  // The loop's own thread. nullptr: the schema is not known yet.
  const std::shared_ptr<const tables::Exposure>& exposure(uint32_t loop_index) const noexcept {
    return loop_index < loops_.size() ? loops_[loop_index].exposure : none_;
  }

 private:
  friend class Runtime;
  struct alignas(64) OfLoop {
    std::shared_ptr<const tables::Exposure> exposure;
    std::shared_ptr<const Description> description;
  };

  const RestRouteConfig config_;
  const std::shared_ptr<const tables::Exposure> none_;
  std::vector<OfLoop> loops_;                       // sized before the loops run
  std::shared_ptr<const tables::Exposure> newest_;  // of all loops; guarded by Runtime::mutex_
  std::shared_ptr<const Description> newest_description_;
};

// The running server, as far as the modules of this folder need it: the pools, the hub, and the schema, which
// a thread of the keeper reads and this one hands on to the loops. Outlives the loops. Main thread, unless it
// says otherwise.
class Runtime final : public SchemaAlarm, public tables::CatalogListener {
 public:
  Runtime() = default;
  ~Runtime();

  void addRoute(std::shared_ptr<RestRoute> route);
  // Calls `fn` when the server starts, before its loops run. For routes that need no schema.
  void whenStarted(std::function<void(size_t loop_count)> fn) { started_.push_back(std::move(fn)); }

  Status start(const module::StartContext& context);  // does it once
  void stop() noexcept;
  void reload() noexcept;  // looks at the schema, changed or not
  // On the loop's own thread.
  void onLoopStart(http::LoopContext& context) noexcept;
  void onLoopStop(http::LoopContext& context) noexcept;

  // Any thread, while the server runs; so are those below.
  db::Pool& pool(uint32_t loop_index) const noexcept { return database_->pool(loop_index); }
  const std::shared_ptr<tables::BodyBudget>& bodies() const noexcept { return bodies_; }
  std::string_view databaseName() const noexcept { return database_->options().database; }
  ::roost::push::Hub* hub() const noexcept { return hub_; }  // nullptr: no route publishes
  void onSchemaChanged() noexcept override;
  // What a request is told while there is no schema.
  tables::Problem schemaProblem() const;

 private:
  void makeBudget(const module::StartContext& context);
  // The keeper's thread.
  void onCatalog(const std::shared_ptr<const tables::Catalog>& catalog) noexcept override;
  void onUnreadable(const db::Error& error) noexcept override;

  db::Database* database_ = nullptr;
  ::roost::push::Hub* hub_ = nullptr;
  std::shared_ptr<tables::BodyBudget> bodies_;  // of all routes
  std::unique_ptr<tables::CatalogKeeper> keeper_;
  std::vector<std::function<void(size_t)>> started_;
  std::vector<std::shared_ptr<RestRoute>> routes_;  // all of them before the server starts
  mutable std::mutex mutex_;
  std::vector<event::Loop*> loops_;  // by index; nullptr: does not run. Guarded by mutex_
  db::Error unreadable_;             // why there is no schema; guarded by mutex_
  bool is_unreadable_ = false;       // guarded by mutex_
};

}  // namespace roost::modules::mysql
