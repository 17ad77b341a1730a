#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http/handler.h"
#include "modules/mysql/query_arguments.h"
#include "modules/mysql/query_cache.h"
#include "modules/mysql/query_config.h"
#include "modules/mysql/runtime.h"

namespace roost::modules::mysql {

// A route's statements, and the answers to them that each loop keeps. Made by the main thread; kept by the
// route and by the requests that are under way.
class QueryRoute {
 public:
  // `path`: as the configuration has it.
  QueryRoute(QueryRouteConfig config, std::string path)
      : config_(std::move(config)), path_(std::move(path)), arguments_(config_) {}

  const QueryRouteConfig& config() const noexcept { return config_; }
  const std::string& path() const noexcept { return path_; }
  const QueryArguments& arguments() const noexcept { return arguments_; }
  void setLoops(size_t count) { caches_ = std::vector<OfLoop>(count); }  // before the loops run
  QueryCache& cache(uint32_t loop_index) noexcept { return caches_[loop_index].cache; }  // that loop's thread

 private:
  struct alignas(64) OfLoop {
    QueryCache cache;
  };
  const QueryRouteConfig config_;
  const std::string path_;
  const QueryArguments arguments_;
  std::vector<OfLoop> caches_;
};

// Executes a route's statements with what requests say. Immutable; any loop's thread.
class QueryHandler final : public http::Handler {
 public:
  // `runtime` outlives the loops.
  QueryHandler(std::shared_ptr<QueryRoute> route, Runtime& runtime)
      : route_(std::move(route)), runtime_(runtime) {}

  void handle(http::Exchange& exchange) const noexcept override;

 private:
  const std::shared_ptr<QueryRoute> route_;
  Runtime& runtime_;
};

}  // namespace roost::modules::mysql
