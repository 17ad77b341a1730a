#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::ws_echo {

// The module behind "ws_echo" in a route: a WebSocket that sends back every message as it came.
std::unique_ptr<module::Module> makeWsEcho();

}  // namespace roost::modules::ws_echo
