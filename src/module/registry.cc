#include "module/registry.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace roost::module {

Result<RouteParts> Module::build(config::Node, const RouteContext&) {
  return Status::error("this key is not for routes");
}

Result<std::unique_ptr<ListenerService>> Module::buildListener(config::Node, const ListenerContext&) {
  return Status::error("this key is not for listeners");
}

Registry::Registry(std::vector<std::unique_ptr<Module>> modules) {
  entries_.reserve(modules.size());
  for (std::unique_ptr<Module>& module : modules) {
    assert(module != nullptr);
    config::SchemaFragment schema = module->schema();
    entries_.push_back({std::move(schema), std::move(module)});
  }
}

Registry::~Registry() {
  stop();
}

Module* Registry::find(std::string_view key) const noexcept {
  for (const Entry& entry : entries_) {
    if (entry.schema.key == key) return entry.module.get();
  }
  return nullptr;
}

Result<config::Schema> Registry::schema() const {
  std::vector<config::SchemaFragment> fragments;
  fragments.reserve(entries_.size());
  for (const Entry& entry : entries_) fragments.push_back(entry.schema);
  return config::Schema::assemble(config::coreSchemaText(), fragments);
}

bool Registry::usesPush() const noexcept {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return entry.module->usesPush(); });
}

bool Registry::usesDatabase() const noexcept {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return entry.module->usesDatabase(); });
}

Status Registry::start(const StartContext& context) {
  while (started_ < entries_.size()) {
    const Status status = entries_[started_].module->start(context);
    if (!status.ok()) {
      stop();
      return status;
    }
    ++started_;
  }
  return {};
}

void Registry::stop() noexcept {
  while (started_ > 0) entries_[--started_].module->stop();
}

void Registry::onReload() noexcept {
  for (size_t i = 0; i < started_; ++i) entries_[i].module->onReload();
}

void Registry::onLoopStart(http::LoopContext& context) noexcept {
  for (const Entry& entry : entries_) entry.module->onLoopStart(context);
}

void Registry::onLoopStop(http::LoopContext& context) noexcept {
  for (size_t i = entries_.size(); i-- > 0;) entries_[i].module->onLoopStop(context);
}

}  // namespace roost::module
