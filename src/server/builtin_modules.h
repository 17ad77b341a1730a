#pragma once

#include <memory>
#include <vector>

#include "module/module.h"

namespace roost::server {

// A new object of every module that is part of this program, in the order of their schemas.
std::vector<std::unique_ptr<module::Module>> makeBuiltinModules();

}  // namespace roost::server
