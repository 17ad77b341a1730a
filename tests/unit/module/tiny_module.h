// A module for tests: answers nothing of its own, notes what is asked of it, and refuses when told to.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "module/module.h"

namespace roost::module::test {

using Notes = std::vector<std::string>;

class TinyHandler final : public http::Handler {
 public:
  void handle(http::Exchange&) const noexcept override {}
};

class TinyModule final : public Module {
 public:
  static constexpr const char* kSchema = R"({"type": "object", "additionalProperties": false,
    "description": "For tests.", "properties": {
      "refuse": {"type": "string", "maxLength": 99, "default": "", "description": "Refuse with this."}}})";

  TinyModule(std::string key, Notes& notes, bool is_handler = true)
      : key_(std::move(key)), notes_(notes), is_handler_(is_handler) {}

  config::SchemaFragment schema() const noexcept override { return {key_, kSchema, is_handler_}; }
  Status start(const StartContext& context) override {
    notes_.push_back(key_ + " start " + std::to_string(context.loop_count));
    return fails_to_start ? Status::error(key_ + " cannot start") : Status{};
  }
  Result<RouteParts> build(config::Node options, const RouteContext& context) override {
    notes_.push_back(key_ + " build " + std::string(context.path));
    const std::string& refuse = options["refuse"].asString();
    if (!refuse.empty()) return Status::error(refuse);
    RouteParts parts;
    if (is_handler_) parts.handler = std::make_unique<TinyHandler>();
    return parts;
  }
  bool usesDatabase() const noexcept override { return uses_database; }
  void onReload() noexcept override { notes_.push_back(key_ + " reload"); }
  void stop() noexcept override { notes_.push_back(key_ + " stop"); }

  bool fails_to_start = false;
  bool uses_database = false;

 private:
  std::string key_;
  Notes& notes_;
  bool is_handler_;
};

}  // namespace roost::module::test
