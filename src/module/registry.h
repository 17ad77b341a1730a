#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "config/schema.h"
#include "http/loop_context.h"
#include "module/module.h"

namespace roost::module {

// The modules of this process, in the order they were named. Made on the main thread from an explicit list
// (server/ builtin_modules.cc); it owns them and outlives every loop and every Service built with it. The
// onLoop calls come on each loop's own thread, all others on the main thread.
class Registry {
 public:
  // REQUIRES: no nullptr among them.
  explicit Registry(std::vector<std::unique_ptr<Module>> modules);
  ~Registry();  // stop()
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // The module behind a key; nullptr when there is none.
  Module* find(std::string_view key) const noexcept;
  size_t size() const noexcept { return entries_.size(); }
  // In their order, which is the one in which their filters see requests. REQUIRES: index < size().
  const std::string& key(size_t index) const noexcept { return entries_[index].schema.key; }
  bool isListener(size_t index) const noexcept { return entries_[index].schema.is_listener; }
  Module& module(size_t index) const noexcept { return *entries_[index].module; }

  // The schema of the whole configuration: the core's and every module's. Errors: see
  // config::Schema::assemble.
  Result<config::Schema> schema() const;

  bool usesPush() const noexcept;  // any of them
  bool usesDatabase() const noexcept;

  // Starts the modules in order. After an error those that did start have been stopped again.
  Status start(const StartContext& context);
  // Stops what has been started, in reverse order. Idempotent.
  void stop() noexcept;

  void onReload() noexcept;
  void onLoopStart(http::LoopContext& context) noexcept;
  void onLoopStop(http::LoopContext& context) noexcept;  // in reverse order

 private:
  struct Entry {
    config::SchemaFragment schema;
    std::unique_ptr<Module> module;
  };
  std::vector<Entry> entries_;
  size_t started_ = 0;
};

}  // namespace roost::module
