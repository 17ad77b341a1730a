#include <fmt/format.h>

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "config/schema_impl.h"

namespace roost::config {
namespace {

// The library names a place as "<root>", "[key]", "[3]"; a key may hold anything, so the steps are taken in
// the tree.
const Value& valueAt(const Value& root, const std::vector<std::string>& context) {
  const Value* value = &root;
  for (size_t i = 1; i < context.size(); ++i) {
    const std::string& step = context[i];
    const std::string name = step.size() >= 2 && step.front() == '[' ? step.substr(1, step.size() - 2) : step;
    const Value* next = nullptr;
    if (value->is(Kind::kObject)) next = value->find(name);
    if (value->is(Kind::kArray)) {
      for (size_t j = 0; j < value->children.size(); ++j) {
        if (std::to_string(j) == name) next = &value->children[j];
      }
    }
    if (next == nullptr) break;
    value = next;
  }
  return *value;
}

}  // namespace

struct Validator::Impl {
  valijson::Schema schema;
};

Validator::Validator(const nlohmann::json& schema) : impl_(std::make_unique<Impl>()) {
  valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(schema), impl_->schema);
}

Validator::~Validator() = default;

void Validator::validate(const Value& tree, Errors& errors) const {
  const nlohmann::json json = toJson(tree);
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(impl_->schema, valijson::adapters::NlohmannJsonAdapter(json), &results)) return;
  for (const auto& error : results) {
    errors.add(valueAt(tree, error.context).at, fmt::format("against the schema: {}", error.description));
  }
  if (!errors.any()) errors.add(tree.at, "against the schema");
}

}  // namespace roost::config
