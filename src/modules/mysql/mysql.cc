#include "modules/mysql/mysql.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "modules/mysql/query_config.h"
#include "modules/mysql/query_handler.h"
#include "modules/mysql/rest_config.h"
#include "modules/mysql/rest_handler.h"
#include "modules/mysql/runtime.h"

namespace roost::embedded {
extern const std::string_view mysql_rest_schema;
extern const std::string_view mysql_query_schema;
}  // namespace roost::embedded

namespace roost::modules::mysql {
namespace {

// What the modules of this folder have in common. The Runtime hears of everything once, whoever tells it.
class MysqlModule : public module::Module {
 public:
  MysqlModule(std::string_view key, std::string_view schema, std::shared_ptr<Runtime> runtime)
      : key_(key), schema_(schema), runtime_(std::move(runtime)) {}

  config::SchemaFragment schema() const noexcept override { return {key_, schema_, true}; }
  bool usesDatabase() const noexcept override { return used_; }
  Status start(const module::StartContext& context) override { return runtime_->start(context); }
  void onLoopStart(http::LoopContext& context) noexcept override { runtime_->onLoopStart(context); }
  void onLoopStop(http::LoopContext& context) noexcept override { runtime_->onLoopStop(context); }
  void onReload() noexcept override { runtime_->reload(); }
  void stop() noexcept override { runtime_->stop(); }

 protected:
  Runtime& runtime() noexcept {
    used_ = true;
    return *runtime_;
  }

 private:
  const std::string key_;
  const std::string_view schema_;
  const std::shared_ptr<Runtime> runtime_;
  bool used_ = false;
};

class MysqlRest final : public MysqlModule {
 public:
  explicit MysqlRest(std::shared_ptr<Runtime> runtime)
      : MysqlModule("mysql_rest", embedded::mysql_rest_schema, std::move(runtime)) {}

  bool usesPush() const noexcept override { return publishes_; }
  Result<module::RouteParts> build(config::Node node, const module::RouteContext& context) override {
    if (!context.isLiteral() || context.path.empty() || context.path.back() != '/')
      return Status::error("the route's path is to be a plain one that ends in a slash: \"/data/\"");
    Result<RestRouteConfig> config = RestRouteConfig::fromConfig(node, std::string(context.path));
    if (!config.ok()) return config.status();
    const auto& tables = config->tables->tables;
    const auto publishes = [](const tables::TableConfig& table) { return !table.publish.empty(); };
    publishes_ = publishes_ || std::any_of(tables.begin(), tables.end(), publishes);
    auto route = std::make_shared<RestRoute>(std::move(config).value());
    runtime().addRoute(route);
    module::RouteParts parts;
    parts.handler = std::make_unique<RestHandler>(route, std::string(context.path), runtime());
    return parts;
  }

 private:
  bool publishes_ = false;
};

class MysqlQuery final : public MysqlModule {
 public:
  explicit MysqlQuery(std::shared_ptr<Runtime> runtime)
      : MysqlModule("mysql_query", embedded::mysql_query_schema, std::move(runtime)) {}

  Result<module::RouteParts> build(config::Node node, const module::RouteContext& context) override {
    Result<QueryRouteConfig> config = QueryRouteConfig::fromConfig(node, context.param_names);
    if (!config.ok()) return config.status();
    auto route = std::make_shared<QueryRoute>(std::move(config).value(), std::string(context.path));
    runtime().whenStarted([route](size_t loop_count) { route->setLoops(loop_count); });
    module::RouteParts parts;
    parts.handler = std::make_unique<QueryHandler>(std::move(route), runtime());
    return parts;
  }
};

}  // namespace

std::vector<std::unique_ptr<module::Module>> makeMysql() {
  const auto runtime = std::make_shared<Runtime>();
  std::vector<std::unique_ptr<module::Module>> modules;
  modules.push_back(std::make_unique<MysqlRest>(runtime));
  modules.push_back(std::make_unique<MysqlQuery>(runtime));
  return modules;
}

}  // namespace roost::modules::mysql
