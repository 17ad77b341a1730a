#include "modules/connection_limit/connection_limit.h"

#include <string_view>
#include <utility>

#include "http/limits/zones.h"
#include "modules/connection_limit/count_filter.h"

namespace roost::embedded {
extern const std::string_view connection_limit_schema;
}

namespace roost::modules::connection_limit {
namespace {

uint32_t asU32(config::Node node) noexcept {
  return static_cast<uint32_t>(node.asInt());
}

Result<std::shared_ptr<Zone>> makeZone(uint64_t max_keys) {
  auto table = CountTable::create(max_keys);
  if (!table.ok()) return table.status();
  return std::make_shared<Zone>(Zone{SipKey::random(), std::move(table).value()});
}

class Limits final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override {
    return {"connection_limit", embedded::connection_limit_schema, false, true};
  }
  Status start(const module::StartContext&) override { return {}; }

  Result<module::RouteParts> build(config::Node options, const module::RouteContext& context) override {
    FilterOptions filter;
    filter.max = asU32(options["max"]);
    filter.retry_after_s = asU32(options["retry_after_s"]);
    filter.status = static_cast<int>(options["status"].asInt());
    filter.dry_run = options["dry_run"].asBool();
    auto key = http::LimitKey::compile(options["key"].asString(), asU32(options["ipv6_prefix"]),
                                       context.param_names);
    if (!key.ok()) return Status::error("key: " + key.status().message());
    const auto max_keys = static_cast<uint64_t>(options["max_keys"].asInt());
    auto zone = zones_.find(options["zone"].asString(), max_keys, context.root.identity(), &makeZone);
    if (!zone.ok()) return zone.status();
    module::RouteParts parts;
    parts.request_filters.push_back(
        std::make_shared<CountFilter>(std::move(zone).value(), std::move(key).value(), filter));
    return parts;
  }

 private:
  http::Zones<Zone, uint64_t> zones_;
};

}  // namespace

std::unique_ptr<module::Module> makeConnectionLimit() {
  return std::make_unique<Limits>();
}

}  // namespace roost::modules::connection_limit
