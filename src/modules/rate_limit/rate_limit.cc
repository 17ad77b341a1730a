#include "modules/rate_limit/rate_limit.h"

#include <string_view>
#include <utility>

#include "http/limits/zones.h"
#include "modules/rate_limit/rate_filter.h"

namespace roost::embedded {
extern const std::string_view rate_limit_schema;
}

namespace roost::modules::rate_limit {
namespace {

uint32_t asU32(config::Node node) noexcept {
  return static_cast<uint32_t>(node.asInt());
}

struct ZoneOptions {
  RateLimit limit;
  uint64_t max_keys = 0;

  friend bool operator==(const ZoneOptions& a, const ZoneOptions& b) noexcept {
    return a.limit == b.limit && a.max_keys == b.max_keys;
  }
};

Result<std::shared_ptr<Zone>> makeZone(const ZoneOptions& options) {
  auto table = RateTable::create(options.limit, options.max_keys);
  if (!table.ok()) return table.status();
  return std::make_shared<Zone>(Zone{SipKey::random(), std::move(table).value()});
}

class Limits final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override {
    return {"rate_limit", embedded::rate_limit_schema, false, true};
  }
  Status start(const module::StartContext&) override { return {}; }

  Result<module::RouteParts> build(config::Node options, const module::RouteContext& context) override {
    ZoneOptions zone_options;
    zone_options.limit.requests = asU32(options["requests"]);
    zone_options.limit.per_s = asU32(options["per_s"]);
    const config::Node burst = options["burst"];
    zone_options.limit.burst = burst.isNull() ? zone_options.limit.requests : asU32(burst);
    zone_options.max_keys = static_cast<uint64_t>(options["max_keys"].asInt());
    FilterOptions filter;
    filter.delay_after = asU32(options["delay_after"]);
    if (filter.delay_after > zone_options.limit.burst) {
      return Status::error("\"delay_after\" is beyond the burst of " +
                           std::to_string(zone_options.limit.burst) + ": nobody would ever wait");
    }
    filter.status = static_cast<int>(options["status"].asInt());
    filter.dry_run = options["dry_run"].asBool();
    auto key = http::LimitKey::compile(options["key"].asString(), asU32(options["ipv6_prefix"]),
                                       context.param_names);
    if (!key.ok()) return Status::error("key: " + key.status().message());
    auto zone = zones_.find(options["zone"].asString(), zone_options, context.root.identity(), &makeZone);
    if (!zone.ok()) return zone.status();
    module::RouteParts parts;
    parts.request_filters.push_back(
        std::make_shared<RateFilter>(std::move(zone).value(), std::move(key).value(), filter));
    return parts;
  }

 private:
  http::Zones<Zone, ZoneOptions> zones_;
};

}  // namespace

std::unique_ptr<module::Module> makeRateLimit() {
  return std::make_unique<Limits>();
}

}  // namespace roost::modules::rate_limit
