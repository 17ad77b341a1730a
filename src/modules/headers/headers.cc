#include "modules/headers/headers.h"

#include <string>
#include <utility>

#include "modules/headers/field_edits.h"

namespace roost::embedded {
extern const std::string_view headers_schema;
}

namespace roost::modules::headers {
namespace {

// Edits whose values are the same for every request: made once for answers that are kept ready.
class FixedEdits final : public http::HeadFilter {
 public:
  explicit FixedEdits(std::vector<EditRule> rules) : rules_(std::move(rules)) {}
  void onHead(std::string_view path, http::ResponseHead& head) const noexcept override {
    applyEdits(rules_, path, nullptr, head);
  }

 private:
  const std::vector<EditRule> rules_;
};

class EditsByRequest final : public http::ResponseFilter {
 public:
  explicit EditsByRequest(std::vector<EditRule> rules) : rules_(std::move(rules)) {}
  void onHead(http::Exchange& exchange, http::ResponseHead& head) const noexcept override {
    applyEdits(rules_, exchange.path(), &exchange, head);
  }

 private:
  const std::vector<EditRule> rules_;
};

class Headers final : public module::Module {
 public:
  config::SchemaFragment schema() const noexcept override {
    return {"headers", embedded::headers_schema, false, true};
  }
  Status start(const module::StartContext&) override { return {}; }
  Result<module::RouteParts> build(config::Node node, const module::RouteContext& context) override;
};

Result<module::RouteParts> Headers::build(config::Node node, const module::RouteContext& context) {
  const std::vector<std::string>& names = context.param_names;
  std::vector<EditRule> rules;
  Result<std::vector<FieldEdit>> everywhere = readEdits(node, names);
  if (!everywhere.ok()) return everywhere.status();
  rules.push_back({{}, {}, std::move(*everywhere)});
  const config::Node list = node["rules"];
  for (size_t i = 0; i < list.size(); ++i) {
    const config::Node item = list.at(i);
    Result<std::vector<FieldEdit>> edits = readEdits(item, names);
    if (!edits.ok()) return Status::error("rules[" + std::to_string(i) + "]: " + edits.status().message());
    EditRule rule;
    rule.statuses = module::StatusSet::of(item["status"]);
    for (size_t j = 0; j < item["paths"].size(); ++j) rule.paths.push_back(item["paths"].at(j).asString());
    rule.edits = std::move(*edits);
    rules.push_back(std::move(rule));
  }
  std::vector<EditRule> by_request = takeEditsByRequest(rules);
  module::RouteParts parts;
  if (!rules.empty()) parts.head_filters.push_back(std::make_shared<FixedEdits>(std::move(rules)));
  if (!by_request.empty()) {
    parts.response_filters.push_back(std::make_shared<EditsByRequest>(std::move(by_request)));
  }
  return parts;
}

}  // namespace

std::unique_ptr<module::Module> makeHeaders() {
  return std::make_unique<Headers>();
}

}  // namespace roost::modules::headers
