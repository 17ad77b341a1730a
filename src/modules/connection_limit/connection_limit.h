#pragma once

#include <memory>

#include "module/module.h"

namespace roost::modules::connection_limit {

// "connection_limit" in a route, a site or `http`: so many requests of one client under way at a time.
std::unique_ptr<module::Module> makeConnectionLimit();

}  // namespace roost::modules::connection_limit
