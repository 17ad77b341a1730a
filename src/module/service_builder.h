#pragma once

#include <memory>
#include <vector>

#include "config/node.h"
#include "http/service.h"
#include "module/registry.h"

namespace roost::module {

// Either a Service and no errors, or at least one error and no Service.
struct ServiceResult {
  std::shared_ptr<const http::Service> service;
  std::vector<config::Diagnostic> errors;

  bool ok() const noexcept { return service != nullptr; }
};

// Turns the `http` part of a loaded configuration into what answers requests. Reports everything that is
// wrong at once, each at its place: a host that is none or is named twice, a path that no request can have or
// is routed twice, whatever a module refuses. Hosts are lower-cased; a route whose path ends in '/' answers
// everything below it, any other that path alone.
//
// `root` is that of a configuration loaded with registry.schema(); modules may keep Nodes of it. Main thread,
// at start-up, when a configuration is tested, and at every reload; modules need not have been started.
ServiceResult buildService(config::Node root, const Registry& registry);

}  // namespace roost::module
