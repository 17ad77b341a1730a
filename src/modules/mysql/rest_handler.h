#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "http/handler.h"
#include "modules/mysql/runtime.h"

namespace roost::modules::mysql {

// Answers below a route's path: finds the table and what may be done with it, and hands the request on to
// whoever reads or writes. Immutable; any loop's thread.
class RestHandler final : public http::Handler {
 public:
  // `base` is the route's path, "/data/". `runtime` outlives the loops.
  RestHandler(std::shared_ptr<const RestRoute> route, std::string base, Runtime& runtime)
      : route_(std::move(route)), base_(std::move(base)), runtime_(runtime) {}

  void handle(http::Exchange& exchange) const noexcept override;

 private:
  void handleTable(http::Exchange& exchange, std::shared_ptr<const tables::Exposure> exposure,
                   const tables::ExposedTable& table) const noexcept;
  void handleBatch(http::Exchange& exchange, std::shared_ptr<const tables::Exposure> exposure) const noexcept;
  // What the configuration alone says; the schema is not known then.
  void explain(http::Exchange& exchange) const;
  std::string_view nameIn(
      const http::Exchange& exchange) const noexcept;  // the table's, or what stands there
  WriteSite writeSite(http::Exchange& exchange, std::shared_ptr<const tables::Exposure> exposure) const;

  const std::shared_ptr<const RestRoute> route_;
  const std::string base_;
  Runtime& runtime_;
};

}  // namespace roost::modules::mysql
