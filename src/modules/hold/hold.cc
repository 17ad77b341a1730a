#include "modules/hold/hold.h"

#include <fmt/format.h>

#include <utility>

#include "modules/hold/hold_handler.h"

namespace roost::embedded {
extern const std::string_view hold_schema;
}

namespace roost::modules::hold {
namespace {

class Hold final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override { return {"hold", embedded::hold_schema, true}; }
  Status start(const module::StartContext&) override { return {}; }
  Result<module::RouteParts> build(config::Node node, const module::RouteContext&) override {
    HoldOptions options;
    options.min_ms = static_cast<uint32_t>(node["min_ms"].asInt());
    options.max_ms = static_cast<uint32_t>(node["max_ms"].asInt());
    if (options.min_ms > options.max_ms) {
      return Status::error(
          fmt::format("\"min_ms\" ({}) is more than \"max_ms\" ({})", options.min_ms, options.max_ms));
    }
    if (node["query_key"].isString()) options.query_key = node["query_key"].asString();
    options.body = BufferRef::copyOf(node["body"].asString());
    module::RouteParts parts;
    parts.handler = std::make_unique<HoldHandler>(std::move(options));
    return parts;
  }
};

}  // namespace

std::unique_ptr<module::Module> makeHold() {
  return std::make_unique<Hold>();
}

}  // namespace roost::modules::hold
