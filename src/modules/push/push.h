#pragma once

#include <memory>
#include <vector>

#include "module/module.h"

namespace roost::modules::push {

// The modules behind "push_publish", "push_subscribe" and "push_pubsub" in a route: what goes into a channel
// of the hub, what comes out of it, and both under one address. They share what they know of the server.
std::vector<std::unique_ptr<module::Module>> makePush();

}  // namespace roost::modules::push
