#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::access {

// The module behind "access" in a route, a site or `http`: who may ask at all, by address.
std::unique_ptr<module::Module> makeAccess();

}  // namespace roost::modules::access
