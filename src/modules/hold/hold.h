#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::hold {

// The module behind "hold" in a route: keeps a request for some time and then answers 200.
std::unique_ptr<module::Module> makeHold();

}  // namespace roost::modules::hold
