#include "modules/compress/compress.h"

#include <utility>

#include "modules/compress/policy.h"

namespace roost::embedded {
extern const std::string_view compress_schema;
}

namespace roost::modules::compress {
namespace {

class Compress final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override {
    return {"compress", embedded::compress_schema, false, true};
  }
  Status start(const module::StartContext&) override { return {}; }
  Result<module::RouteParts> build(config::Node node, const module::RouteContext&) override {
    Options options;
    for (size_t i = 0; i < node["encodings"].size(); ++i)
      options.order.add(http::codingByName(node["encodings"].at(i).asString()));
    for (size_t i = 0; i < node["types"].size(); ++i) options.types.push_back(node["types"].at(i).asString());
    options.min_bytes = static_cast<uint64_t>(node["min_bytes"].asInt());
    options.max_kept_bytes = static_cast<uint64_t>(node["max_kept_bytes"].asInt());
    options.max_streams = static_cast<size_t>(node["max_streams"].asInt());
    for (const http::Coding coding : http::kCodings) {
      options.levels[static_cast<size_t>(coding)] =
          static_cast<int>(node["levels"][http::codingName(coding)].asInt());
    }
    module::RouteParts parts;
    parts.compression = std::make_shared<Policy>(options);
    return parts;
  }
};

}  // namespace

std::unique_ptr<module::Module> makeCompress() {
  return std::make_unique<Compress>();
}

}  // namespace roost::modules::compress
